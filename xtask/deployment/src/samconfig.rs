//! What `sam deploy` is told by samconfig.toml.

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::template::Parameters;

/// Settings of one environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Name of the stack.
    pub stack: Option<String>,
    /// Region, if it is not the shell's to say.
    pub region: Option<String>,
    /// Parameters in place of the template's defaults.
    pub parameters: Parameters,
}

impl Settings {
    /// Reads an environment; what it leaves out is said by `default`, as SAM has it only within the same section.
    ///
    /// # Errors
    /// If the file is no TOML, or has no such environment.
    pub fn read(text: &str, environment: &str) -> Result<Self> {
        let table: Table = text.parse().context("samconfig.toml is no TOML")?;
        let found =
            table.get(environment).with_context(|| format!("samconfig.toml has no environment {environment}"))?;
        let said = |name: &str| {
            let of = |command: &str| found.get(command)?.get("parameters")?.get(name);
            of("deploy").or_else(|| of("global"))
        };
        let text = |name: &str| said(name).and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            stack: text("stack_name"),
            region: text("region"),
            parameters: said("parameter_overrides").map(overrides).unwrap_or_default(),
        })
    }
}

/// `"A=1 B='2 3'"`, or a list of such.
fn overrides(value: &Value) -> Parameters {
    let texts = match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(text) => words(text),
        _ => Vec::new(),
    };
    let pairs = texts.iter().filter_map(|word| word.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.trim_matches(['"', '\'']).to_owned())).collect()
}

/// Words, of which a quoted part may hold spaces.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for c in text.chars() {
        match (c, quote) {
            (' ' | '\n', None) => words.push(String::new()),
            ('"' | '\'', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            _ => words.last_mut().into_iter().for_each(|word| word.push(c)),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stack_and_parameters_of_an_environment_are_read() -> Result<()> {
        let text = "[a.global.parameters]\nstack_name = \"one\"\n[a.deploy.parameters]\n\
                    parameter_overrides = \"Environment=small OidcScope='openid email' Access=\\\"open\\\"\"\n";
        let settings = Settings::read(text, "a")?;
        assert_eq!(settings.stack.as_deref(), Some("one"));
        let pairs = [("Access", "open"), ("Environment", "small"), ("OidcScope", "openid email")];
        assert_eq!(settings.parameters, pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        assert!(Settings::read(text, "b").is_err());
        Ok(())
    }
}
