//! Values that CloudFormation does not type-check: parameter defaults that must reach the functions unchanged, and
//! settings of API Gateway.

use deployment::template::Parameters;
use serde_json::Value;

use super::{TEMPLATE, template};

/// A YAML number of ten digits or more can be passed on as `5.36870912E9`, which no function can parse.
#[test]
fn default_numbers_of_ten_digits_or_more_are_quoted() {
    let unquoted: Vec<_> = template()
        .section("Parameters")
        .filter(|(_, parameter)| parameter["Default"].as_u64().is_some_and(|number| number >= 1_000_000_000))
        .map(|(name, _)| name.to_owned())
        .collect();
    assert_eq!(unquoted, [""; 0]);
}

/// ARNs have another partition in China and GovCloud.
#[test]
fn no_arn_contains_a_fixed_partition() {
    let lines: Vec<_> = TEMPLATE.lines().filter(|line| line.contains("arn:aws:")).collect();
    assert_eq!(lines, [""; 0]);
}

/// CloudFormation passes `RouteSettings` on unchanged: a parameter is a string, so a reference to it stays a string.
#[test]
fn the_limits_of_routes_are_literal_numbers() {
    let template = template();
    let stage = template.properties("ApiStage").unwrap();
    let settings = template.resolve(&stage["RouteSettings"], &Parameters::new());
    let settings = settings.as_object().unwrap();
    assert!(!settings.is_empty());
    for (route, setting) in settings {
        for name in ["ThrottlingRateLimit", "ThrottlingBurstLimit"] {
            assert!(setting[name].is_u64(), "{route}: {name} is {}", setting[name]);
        }
        assert!(!stage["RouteSettings"][route].to_string().contains("\"Ref\""), "{route} refers to a parameter");
    }
}

/// `Fn::Split` of an empty string fails at creation, which would break every open deployment.
#[test]
fn an_open_deployment_does_not_split_an_empty_string() {
    let template = template();
    for access in ["open", "cognito", "oidc"] {
        let values = Parameters::from([("Access".to_owned(), access.to_owned())]);
        for section in ["Resources", "Outputs"] {
            for (name, resource) in template.section(section) {
                let condition = resource["Condition"].as_str();
                let is_created =
                    condition.is_none_or(|condition| template.condition(condition, &values) != Some(false));
                let resolved = template.resolve(resource, &values);
                let is_valid = !is_created || access == "oidc" || !splits_empty_string(&resolved);
                assert!(is_valid, "{access}: {name}: {resolved}");
            }
        }
    }
}

fn splits_empty_string(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(splits_empty_string),
        Value::Object(object) => {
            object.get("Fn::Split").is_some_and(|split| split[1] == "") || object.values().any(splits_empty_string)
        }
        _ => false,
    }
}

#[test]
fn image_jobs_are_off_by_default() {
    let template = template();
    assert_eq!(template.declaration("ImageJobs")["Default"], "false");
    let conditional = ["ImageHandler", "ImageHandlerAlias", "ImageHandlerRole"];
    let found = template.section("Resources").filter(|(id, _)| conditional.contains(id));
    let conditions: Vec<_> = found.map(|(_, resource)| resource["Condition"].as_str()).collect();
    assert_eq!(conditions, [Some("ResizesImages"); 3]);
}
