//! Checks parameter values against their declarations, as CloudFormation does.

use crate::evaluation::{pattern, refusal};
use crate::finding::Finding;
use crate::settings::Settings;
use crate::template::{Parameters, Template};

/// Lists the parameters that CloudFormation refuses, and those that the template does not declare.
pub fn findings(template: &Template, settings: &Settings) -> Vec<Finding> {
    let values = settings.effective(template);
    let unknown = settings.parameters.keys().filter(|name| template.declaration(name).is_null()).map(|name| {
        Finding::error(settings.location(name), "the template has no such parameter", format!("remove {name}"))
    });
    let refused = template.section("Parameters").filter_map(|(name, declaration)| {
        if let Some(Err(_)) = pattern(declaration) {
            let problem = "only CloudFormation can check its AllowedPattern";
            return Some(Finding::warning(settings.location(name), problem, "check the value manually"));
        }
        let problem = match template.parameter(name, &values) {
            Some(value) => refusal(declaration, &value)?,
            None => "it has no value and no default".to_owned(),
        };
        Some(Finding::error(settings.location(name), problem, settings.change(name)))
    });
    unknown.chain(refused).collect()
}

/// Returns true if the template has the parameter and CloudFormation accepts its value.
pub fn is_accepted(template: &Template, values: &Parameters, name: &str) -> bool {
    template.parameter(name, values).is_some_and(|value| refusal(template.declaration(name), &value).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_cannot_be_checked_is_a_warning() -> anyhow::Result<()> {
        let text = "Parameters: { Size: { Type: String, Default: a, AllowedPattern: '(?!b).*' } }";
        let found = findings(&Template::parse(text)?, &Settings::default());
        assert!(found.len() == 1 && found[0].severity == crate::finding::Severity::Warning, "{found:?}");
        Ok(())
    }

    #[test]
    fn a_parameter_without_a_value_or_default_is_refused() -> anyhow::Result<()> {
        let template = Template::parse("Parameters: { Size: { Type: String }, Other: { Type: String, Default: '' } }")?;
        let found = findings(&template, &Settings::default());
        assert!(found.len() == 1 && found[0].problem == "it has no value and no default", "{found:?}");
        Ok(())
    }
}
