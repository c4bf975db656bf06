//! Settings of a deployment, and the place where each parameter is set.

use crate::template::{Parameters, Template};

/// Source of the parameters of a deployment. SAM takes one list or the other, never both.
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
    /// Region; `None` leaves it to the shell.
    pub region: Option<String>,
    /// Parameters that the deployment sets.
    pub parameters: Parameters,
    /// Source of `parameters`.
    pub source: Source,
    /// Parameters of the running stack; empty for a first deployment.
    pub running: Parameters,
}

impl Settings {
    /// Parameters of the stack after the deployment. SAM keeps the running value of a parameter that is not set.
    pub fn effective(&self, template: &Template) -> Parameters {
        let declared = |name: &str| template.section("Parameters").any(|(known, _)| known == name);
        let kept = self.running.iter().filter(|(name, _)| declared(name));
        kept.chain(&self.parameters).map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The place where a parameter has its value.
    pub fn origin(&self, name: &str) -> &'static str {
        if self.parameters.contains_key(name) {
            self.source.name()
        } else if self.running.contains_key(name) {
            "the running stack"
        } else {
            "template.yaml"
        }
    }

    /// The place where a parameter has its value, with its name.
    pub fn place(&self, name: &str) -> String {
        format!("{}: {name}", self.origin(name))
    }

    /// Advice to change a parameter where it is set.
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
