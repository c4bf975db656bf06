//! Settings of a deployment, and the source of each parameter.

use crate::template::{Parameters, Template};

/// Source of a deployment's parameters. SAM uses one source, never both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// `parameter_overrides` of samconfig.toml.
    #[default]
    Samconfig,
    /// `--parameter-overrides`.
    CommandLine,
}

impl Source {
    fn name(self) -> &'static str {
        match self {
            Self::Samconfig => "samconfig.toml",
            Self::CommandLine => "--parameter-overrides",
        }
    }
}

/// Settings of one deployment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Name of the stack.
    pub stack: Option<String>,
    /// Region; `None` uses the shell's region.
    pub region: Option<String>,
    /// Parameters that the deployment sets.
    pub parameters: Parameters,
    /// Source of `parameters`.
    pub source: Source,
    /// Parameters of the running stack; empty for a first deployment.
    pub running: Parameters,
}

impl Settings {
    /// Returns the parameters of the stack after the deployment. SAM keeps the running value of a parameter that is
    /// not set.
    pub fn effective(&self, template: &Template) -> Parameters {
        let declared = |name: &str| template.section("Parameters").any(|(known, _)| known == name);
        let kept = self.running.iter().filter(|(name, _)| declared(name));
        kept.chain(&self.parameters).map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The source of a parameter's value.
    pub fn origin(&self, name: &str) -> &'static str {
        if self.parameters.contains_key(name) {
            self.source.name()
        } else if self.running.contains_key(name) {
            "the running stack"
        } else {
            "template.yaml"
        }
    }

    /// The source of a parameter's value, followed by the parameter's name.
    pub fn place(&self, name: &str) -> String {
        format!("{}: {name}", self.origin(name))
    }

    /// Advice to change a parameter at its source.
    pub fn change(&self, name: &str) -> String {
        let place = if self.parameters.contains_key(name) { self.source } else { Source::default() };
        format!("change {name} in {}", place.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Parameters {
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    #[test]
    fn values_of_the_running_stack_are_kept_unless_they_are_set() -> anyhow::Result<()> {
        let template = Template::parse("Parameters: { Access: {}, Size: {} }")?;
        let running = pairs([("Access", "oidc"), ("Size", "small"), ("Gone", "1")]);
        let settings = Settings { parameters: pairs([("Size", "large")]), running, ..Settings::default() };
        assert_eq!(settings.effective(&template), pairs([("Access", "oidc"), ("Size", "large")]));
        Ok(())
    }

    #[test]
    fn a_parameter_is_found_where_it_is_set() {
        let running = pairs([("Access", "oidc"), ("Size", "small")]);
        let mut settings = Settings { parameters: pairs([("Size", "large")]), running, ..Settings::default() };
        assert_eq!(settings.place("Size"), "samconfig.toml: Size");
        settings.source = Source::CommandLine;
        assert_eq!(settings.place("Size"), "--parameter-overrides: Size");
        assert_eq!(settings.change("Size"), "change Size in --parameter-overrides");
        assert_eq!(settings.place("Access"), "the running stack: Access");
        assert_eq!(settings.change("Access"), "change Access in samconfig.toml");
        assert_eq!(settings.place("Other"), "template.yaml: Other");
    }
}
