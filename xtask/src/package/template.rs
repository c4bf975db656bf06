//! Template and settings of a package: those of the checkout, with the ZIP files beside them as code of the functions,
//! and with one architecture.

use anyhow::{Result, ensure};

use super::Architecture;

/// The template's comment on the code of the functions.
const COMMENT: &str = "\
# Build with `cargo lambda build` first: every CodeUri is its output, so `sam build` is not needed.
";

/// The comment of a package.
const PACKAGED_COMMENT: &str = "\
# Every CodeUri is a ZIP file of this package, which `sam deploy` uploads: nothing has to be built.
";

/// Returns the template of a package of these functions.
///
/// # Errors
/// If the template has another form than expected.
pub(super) fn template(source: &str, functions: &[String], architecture: Architecture) -> Result<String> {
    ensure!(!source.contains("BuildMethod"), "a function has a BuildMethod, with which SAM would build it");
    let mut text = replace_once(source, COMMENT, PACKAGED_COMMENT)?;
    for function in functions {
        text = replace_once(&text, &code_uri(function), &format!("      CodeUri: {function}.zip\n"))?;
    }
    ensure!(!text.contains("CodeUri: target/"), "the code of a function is not in the package");
    replace_once(&text, &parameter("arm64", "[arm64, x86_64]"), &one_architecture(architecture))
}

fn code_uri(function: &str) -> String {
    format!("      CodeUri: target/lambda/{function}/\n")
}

fn one_architecture(architecture: Architecture) -> String {
    let name = architecture.name();
    parameter(name, &format!("[{name}]"))
}

fn parameter(default: &str, allowed: &str) -> String {
    format!("  Architecture:\n    Type: String\n    Default: {default}\n    AllowedValues: {allowed}\n")
}

/// Returns the settings of `sam deploy` with this architecture.
pub(super) fn samconfig(source: &str, architecture: Architecture) -> String {
    let with_architecture = |line: &str| {
        if !line.starts_with("parameter_overrides") {
            return line.to_owned();
        }
        let text = |architecture: Architecture| format!("Architecture={}", architecture.name());
        let own = text(architecture);
        Architecture::ALL.into_iter().fold(line.to_owned(), |line, other| line.replace(&text(other), &own))
    };
    source.split_inclusive('\n').map(with_architecture).collect()
}

fn replace_once(text: &str, from: &str, to: &str) -> Result<String> {
    let count = text.matches(from).count();
    ensure!(count == 1, "the template has {count} times, not once: {from}");
    Ok(text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use deployment::settings::Settings;
    use deployment::yaml;
    use local_cloud::functions;
    use local_cloud::project::Project;
    use serde_json::{Map, Value, json};

    use super::*;

    const TEMPLATE: &str = include_str!("../../../template.yaml");
    const SAMCONFIG: &str = include_str!("../../../samconfig.toml");

    /// The differences between two values, by JSON pointer.
    fn differences(place: &str, from: &Value, to: &Value) -> BTreeMap<String, [Value; 2]> {
        match (from, to) {
            (Value::Object(from), Value::Object(to)) => {
                let names = from.keys().chain(to.keys().filter(|name| !from.contains_key(*name)));
                let of = |object: &Map<String, Value>, name: &str| object.get(name).cloned().unwrap_or_default();
                names.flat_map(|name| differences(&format!("{place}/{name}"), &of(from, name), &of(to, name))).collect()
            }
            _ if from == to => BTreeMap::new(),
            _ => BTreeMap::from([(place.to_owned(), [from.clone(), to.clone()])]),
        }
    }

    #[test]
    fn a_packaged_template_differs_in_the_code_and_the_architecture_only() -> Result<()> {
        let names = functions::names(&Project::find()?)?;
        let source = yaml::parse(TEMPLATE)?;
        for architecture in Architecture::ALL {
            let name = architecture.name();
            let packaged = yaml::parse(&template(TEMPLATE, &names, architecture)?)?;
            let mut found = differences("", &source, &packaged);
            let allowed = found.remove("/Parameters/Architecture/AllowedValues");
            assert_eq!(allowed, Some([json!(["arm64", "x86_64"]), json!([name])]));
            let default = found.remove("/Parameters/Architecture/Default");
            assert_eq!(default, (name != "arm64").then(|| [json!("arm64"), json!(name)]));
            let mut code: Vec<_> = found.values().cloned().collect();
            code.sort_by_key(|[from, _]| from.to_string());
            let uris = names.iter().map(|name| [json!(format!("target/lambda/{name}/")), json!(format!("{name}.zip"))]);
            assert_eq!(code, uris.collect::<Vec<_>>());
            assert!(found.keys().all(|place| place.ends_with("/Properties/CodeUri")), "{:?}", found.keys());
        }
        Ok(())
    }

    #[test]
    fn a_template_without_a_function_of_the_package_is_refused() -> Result<()> {
        let names = functions::names(&Project::find()?)?;
        let more = [&names[..], &["other".to_owned()]].concat();
        assert!(template(TEMPLATE, &more, Architecture::Arm64).is_err());
        assert!(template(TEMPLATE, &names[1..], Architecture::Arm64).is_err(), "the code of a function is missing");
        let with_build = format!("{TEMPLATE}# BuildMethod: rust-cargolambda\n");
        assert!(template(&with_build, &names, Architecture::Arm64).is_err());
        Ok(())
    }

    #[test]
    fn the_settings_differ_in_the_architecture_only() -> Result<()> {
        for architecture in Architecture::ALL {
            let text = samconfig(SAMCONFIG, architecture);
            for environment in ["default", "production", "local"] {
                let expected = Settings::read(SAMCONFIG, environment)?;
                let mut settings = Settings::read(&text, environment)?;
                let original = expected.parameters["Architecture"].clone();
                let name = settings.parameters.insert("Architecture".to_owned(), original);
                assert_eq!(name.as_deref(), Some(architecture.name()), "{environment}");
                assert_eq!(settings, expected, "{environment}");
            }
        }
        Ok(())
    }
}
