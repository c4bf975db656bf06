//! API Gateway settings that CloudFormation does not type-check.

use deployment::template::Parameters;
use serde_json::Value;

use super::template;

/// CloudFormation passes `RouteSettings` on unchanged: a reference to a parameter, which is a string, stays a string.
#[test]
fn settings_of_routes_are_literal_numbers() {
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

/// `Fn::Select` on an empty split fails at creation, and thus breaks every open deployment.
#[test]
fn an_open_deployment_splits_no_empty_list() {
    let template = template();
    for access in ["open", "cognito", "oidc"] {
        let given = Parameters::from([("Access".to_owned(), access.to_owned())]);
        for section in ["Resources", "Outputs"] {
            for (name, resource) in template.section(section) {
                let is_made =
                    resource["Condition"].as_str().is_none_or(|it| template.condition(it, &given) != Some(false));
                let resolved = template.resolve(resource, &given);
                assert!(!is_made || access == "oidc" || !splits_nothing(&resolved), "{access}: {name}: {resolved}");
            }
        }
    }
}

fn splits_nothing(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(splits_nothing),
        Value::Object(object) => {
            object.get("Fn::Split").is_some_and(|split| split[1] == "") || object.values().any(splits_nothing)
        }
        _ => false,
    }
}
