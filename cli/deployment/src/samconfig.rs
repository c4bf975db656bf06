//! Reads the settings of `sam deploy` from samconfig.toml.

use anyhow::{Context, Result, bail};
use toml::{Table, Value};

use crate::overrides;
use crate::settings::Settings;
use crate::template::Parameters;

impl Settings {
    /// Reads an environment. As in SAM, `deploy` takes precedence over `global`, and other environments are ignored.
    ///
    /// # Errors
    /// If the file is not valid TOML, has no such environment, or has parameters that are not `NAME=VALUE`.
    pub fn read(text: &str, environment: &str) -> Result<Self> {
        let table: Table = text.parse().context("samconfig.toml is not valid TOML")?;
        let section =
            table.get(environment).with_context(|| format!("samconfig.toml has no environment {environment}"))?;
        let setting = |name: &str| {
            let for_command = |command: &str| section.get(command)?.get("parameters")?.get(name);
            for_command("deploy").or_else(|| for_command("global"))
        };
        let text = |name: &str| setting(name).and_then(Value::as_str).map(str::to_owned);
        let parameters = setting("parameter_overrides").map(parameters).transpose();
        Ok(Self {
            stack: text("stack_name"),
            region: text("region"),
            parameters: parameters.context("samconfig.toml: parameter_overrides")?.unwrap_or_default(),
            ..Self::default()
        })
    }
}

/// Parses `"A=1 B='2 3'"`, a table of names and values, or a list of either.
fn parameters(value: &Value) -> Result<Parameters> {
    match value {
        Value::String(text) => overrides::parse([text]),
        Value::Array(items) => items.iter().try_fold(Parameters::new(), |mut merged, item| {
            merged.extend(parameters(item)?);
            Ok(merged)
        }),
        Value::Table(pairs) => pairs.iter().map(|(name, value)| Ok((name.clone(), plain(value)?))).collect(),
        other => bail!("expected a string, a list or a table, not a {}", other.type_str()),
    }
}

fn plain(value: &Value) -> Result<String> {
    Ok(match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        other => bail!("the value of a parameter cannot be a {}", other.type_str()),
    })
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

    #[test]
    fn a_list_or_a_table_of_parameters_equals_the_same_string() -> Result<()> {
        let read =
            |value: &str| Settings::read(&format!("[a.deploy.parameters]\nparameter_overrides = {value}\n"), "a");
        let string = read("'Environment=small RetentionDays=7'")?;
        assert_eq!(read("['Environment=small', 'RetentionDays=7']")?, string);
        assert_eq!(read("{ Environment = 'small', RetentionDays = 7 }")?, string);
        assert!(read("'Environment'").is_err());
        Ok(())
    }
}
