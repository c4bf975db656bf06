//! The list in the form of CycloneDX.

use std::iter;

use anyhow::Result;
use serde_json::{Value, json};

use super::{Component, Kind};
use crate::package::Architecture;

/// Version of the specification.
const SPECIFICATION: &str = "1.6";

/// Reference of the package as a whole.
const ROOT: &str = "longshore";

/// Property with the commit.
const COMMIT: &str = "longshore:commit";

/// Writes the list of these components, which are sorted.
pub(super) fn write(components: &[Component], architecture: Architecture, commit: Option<&str>) -> Result<String> {
    let property = |name: &str, value: &str| json!({ "name": name, "value": value });
    let properties: Vec<_> = [property("longshore:architecture", architecture.name())]
        .into_iter()
        .chain(commit.map(|commit| property(COMMIT, commit)))
        .collect();
    let functions = components.iter().filter(|component| component.kind == Kind::Function);
    let root = json!({ "ref": ROOT, "dependsOn": functions.map(|function| &function.reference).collect::<Vec<_>>() });
    let edges = components.iter().map(|one| json!({ "ref": one.reference, "dependsOn": one.depends_on }));
    let dependencies: Vec<_> = iter::once(root).chain(edges).collect();
    let document = json!({
        "$schema": format!("http://cyclonedx.org/schema/bom-{SPECIFICATION}.schema.json"),
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": ROOT,
                "name": ROOT,
                "version": env!("CARGO_PKG_VERSION"),
                "licenses": [{ "expression": env!("CARGO_PKG_LICENSE") }],
            },
            "properties": properties,
        },
        "components": components.iter().map(component).collect::<Vec<_>>(),
        "dependencies": dependencies,
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Returns the commit of a list; `None` if the checkout was modified, or if this is not a list.
pub(in crate::package) fn commit_of(list: &[u8]) -> Option<String> {
    let document: Value = serde_json::from_slice(list).ok()?;
    let mut properties = document["metadata"]["properties"].as_array()?.iter();
    properties.find(|property| property["name"] == COMMIT)?["value"].as_str().map(str::to_owned)
}

fn component(component: &Component) -> Value {
    let Component { reference, kind, name, version, license, hash, .. } = component;
    let kind_name = if *kind == Kind::Function { "application" } else { "library" };
    let mut value = json!({ "type": kind_name, "bom-ref": reference, "name": name, "version": version });
    if *kind == Kind::Registry {
        value["purl"] = reference.as_str().into();
    }
    if let Some(license) = license {
        value["licenses"] = json!([{ "expression": license }]);
    }
    if let Some((algorithm, hash)) = hash {
        value["hashes"] = json!([{ "alg": algorithm, "content": hash }]);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependency(reference: &str, kind: Kind, depends_on: &[&str]) -> Component {
        Component {
            reference: reference.to_owned(),
            kind,
            name: "name".to_owned(),
            version: "1.0.0".to_owned(),
            license: Some("MIT".to_owned()),
            hash: (kind == Kind::Registry).then(|| ("SHA-256", "00".to_owned())),
            depends_on: depends_on.iter().map(|reference| (*reference).to_owned()).collect(),
        }
    }

    #[test]
    fn the_commit_of_a_list_can_be_read() -> Result<()> {
        for commit in [Some("abc"), None] {
            assert_eq!(commit_of(write(&[], Architecture::Arm64, commit)?.as_bytes()).as_deref(), commit);
        }
        assert_eq!(commit_of(b"{}"), None);
        Ok(())
    }

    #[test]
    fn every_reference_is_that_of_a_component() -> Result<()> {
        let web = dependency("web@1.0.0", Kind::Function, &["pkg:cargo/serde@1.0.0"]);
        let components = [dependency("pkg:cargo/serde@1.0.0", Kind::Registry, &[]), web];
        let text = write(&components, Architecture::Arm64, Some("abc"))?;
        assert_eq!(text, write(&components, Architecture::Arm64, Some("abc"))?);
        let document: Value = serde_json::from_str(&text)?;
        assert_eq!(document["components"][0]["purl"], "pkg:cargo/serde@1.0.0");
        assert_eq!(document["components"][1]["purl"], Value::Null);
        assert_eq!(document["dependencies"][0], json!({ "ref": "longshore", "dependsOn": ["web@1.0.0"] }));
        let list = |value: &Value, name: &str| -> Vec<Value> {
            value.as_array().into_iter().flatten().map(|entry| entry[name].clone()).collect()
        };
        let mut known = list(&document["components"], "bom-ref");
        known.push("longshore".into());
        for edge in document["dependencies"].as_array().into_iter().flatten() {
            assert!(known.contains(&edge["ref"]), "{edge}");
            assert!(edge["dependsOn"].as_array().into_iter().flatten().all(|on| known.contains(on)), "{edge}");
        }
        Ok(())
    }
}
