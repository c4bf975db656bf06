//! Settings of a deployment, and the source of each parameter.

use crate::template::{Parameters, Template};

/// Source of the parameters that a deployment sets. SAM uses one source, never both.
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
    /// Region; `None` means the shell's region.
    pub region: Option<String>,
    /// Parameters that the deployment sets.
    pub parameters: Parameters,
    /// Source of `parameters`.
    pub source: Source,
    /// Parameters of the deployed stack; empty for a first deployment.
    pub deployed: Parameters,
}

impl Settings {
    /// Returns the parameters of the stack after the deployment. If a parameter is not set, SAM keeps its deployed
    /// value.
    pub fn effective(&self, template: &Template) -> Parameters {
        let declared = |name: &str| template.section("Parameters").any(|(declared, _)| declared == name);
        let kept = self.deployed.iter().filter(|(name, _)| declared(name));
        kept.chain(&self.parameters).map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Returns the source of a parameter's value.
    pub fn origin(&self, name: &str) -> &'static str {
        if self.parameters.contains_key(name) {
            self.source.name()
        } else if self.deployed.contains_key(name) {
            "the deployed stack"
        } else {
            "template.yaml"
        }
    }

    /// Returns the source of a parameter's value, followed by the parameter's name.
    pub fn location(&self, name: &str) -> String {
        format!("{}: {name}", self.origin(name))
    }

    /// Returns the advice to change a parameter at its source.
    pub fn change(&self, name: &str) -> String {
        let source = if self.parameters.contains_key(name) { self.source } else { Source::default() };
        format!("change {name} in {}", source.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Parameters {
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    #[test]
    fn deployed_values_are_kept_unless_they_are_set() -> anyhow::Result<()> {
        let template = Template::parse("Parameters: { Access: {}, Size: {} }")?;
        let deployed = pairs([("Access", "oidc"), ("Size", "small"), ("Gone", "1")]);
        let settings = Settings { parameters: pairs([("Size", "large")]), deployed, ..Settings::default() };
        assert_eq!(settings.effective(&template), pairs([("Access", "oidc"), ("Size", "large")]));
        Ok(())
    }

    #[test]
    fn the_location_of_a_parameter_is_its_source() {
        let deployed = pairs([("Access", "oidc"), ("Size", "small")]);
        let mut settings = Settings { parameters: pairs([("Size", "large")]), deployed, ..Settings::default() };
        assert_eq!(settings.location("Size"), "samconfig.toml: Size");
        settings.source = Source::CommandLine;
        assert_eq!(settings.location("Size"), "--parameter-overrides: Size");
        assert_eq!(settings.change("Size"), "change Size in --parameter-overrides");
        assert_eq!(settings.location("Access"), "the deployed stack: Access");
        assert_eq!(settings.change("Access"), "change Access in samconfig.toml");
        assert_eq!(settings.location("Other"), "template.yaml: Other");
    }
}
