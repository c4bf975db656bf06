//! Settings of API Gateway that CloudFormation does not type-check.

use deployment::template::Parameters;
use serde_json::Value;

use super::template;

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
