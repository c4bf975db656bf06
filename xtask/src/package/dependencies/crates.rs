//! The crates that the functions contain, by `cargo metadata`.
//!
//! Dependencies of tests and of build scripts are left out: they are not in the binaries. Features are those of the
//! whole workspace, so an optional dependency that only a development tool enables can be in the list.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use local_cloud::cargo;
use local_cloud::project::Project;
use serde_json::Value;
use toml::Table;

use super::{Component, Kind};
use crate::package::Architecture;

/// Returns cargo's description of the workspace and its dependencies for a target.
pub(super) fn metadata(project: &Project, architecture: Architecture) -> Result<Value> {
    let mut cargo = cargo::command(project);
    cargo.args(["metadata", "--locked", "--format-version", "1", "--filter-platform", architecture.target()]);
    let output = cargo.output().context("cannot run cargo")?;
    ensure!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Returns the functions and all crates that they contain.
pub(super) fn components(metadata: &Value, lock: &str, functions: &[String]) -> Result<Vec<Component>> {
    let checksums = checksums(lock)?;
    let by_id = |list: &Value| -> Result<BTreeMap<String, Value>> {
        let list = list.as_array().context("cargo metadata has another form")?;
        list.iter().map(|entry| Ok((text(entry, "id")?.to_owned(), entry.clone()))).collect()
    };
    let (packages, nodes) = (by_id(&metadata["packages"])?, by_id(&metadata["resolve"]["nodes"])?);
    let roots = packages.iter().filter(|(_, package)| {
        is_own(package) && functions.iter().any(|function| package["name"] == function.as_str())
    });
    let mut left: Vec<&String> = roots.map(|(id, _)| id).collect();
    ensure!(left.len() == functions.len(), "cargo metadata has not every function");
    let (mut seen, mut components) = (BTreeSet::new(), Vec::new());
    while let Some(id) = left.pop() {
        if !seen.insert(id) {
            continue;
        }
        let package = packages.get(id).with_context(|| format!("cargo metadata has no package {id}"))?;
        let node = nodes.get(id).with_context(|| format!("cargo metadata does not resolve {id}"))?;
        let linked = linked(node)?;
        let mut component = component(package, &checksums)?;
        if is_own(package) && functions.contains(&component.name) {
            component.kind = Kind::Function;
        }
        for dependency in &linked {
            let (id, package) = packages.get_key_value(dependency).context("a dependency has no package")?;
            component.depends_on.push(reference(package)?);
            left.push(id);
        }
        component.depends_on.sort();
        components.push(component);
    }
    Ok(components)
}

/// Returns true for a package of this repository.
fn is_own(package: &Value) -> bool {
    package["source"].is_null()
}

/// Returns the ids of the packages that a package links, without those of its tests and its build script.
fn linked(node: &Value) -> Result<Vec<String>> {
    let is_linked = |dependency: &&Value| {
        let mut kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
        kinds.any(|kind| kind["kind"].is_null())
    };
    let dependencies = node["deps"].as_array().context("cargo metadata has a package without dependencies")?;
    dependencies.iter().filter(is_linked).map(|dependency| Ok(text(dependency, "pkg")?.to_owned())).collect()
}

fn component(package: &Value, checksums: &BTreeMap<(String, String), String>) -> Result<Component> {
    let (name, version) = (text(package, "name")?.to_owned(), text(package, "version")?.to_owned());
    let checksum = checksums.get(&(name.clone(), version.clone()));
    Ok(Component {
        reference: reference(package)?,
        kind: if is_own(package) { Kind::Own } else { Kind::Registry },
        // Older crates separate alternatives by a slash.
        license: package["license"].as_str().map(|license| license.replace(" / ", "/").replace('/', " OR ")),
        hash: checksum.map(|checksum| ("SHA-256", checksum.clone())),
        depends_on: Vec::new(),
        name,
        version,
    })
}

/// Returns the package URL of a crate of the registry, and the name and version of one of this repository.
fn reference(package: &Value) -> Result<String> {
    let (name, version) = (text(package, "name")?, text(package, "version")?);
    Ok(if is_own(package) { format!("{name}@{version}") } else { format!("pkg:cargo/{name}@{version}") })
}

/// Returns the checksums of Cargo.lock by name and version.
fn checksums(lock: &str) -> Result<BTreeMap<(String, String), String>> {
    let lock: Table = lock.parse().context("Cargo.lock is not valid TOML")?;
    let packages = lock.get("package").and_then(toml::Value::as_array).context("Cargo.lock has no packages")?;
    let checksum = |package: &toml::Value| {
        let text = |name: &str| Some(package.get(name)?.as_str()?.to_owned());
        Some(((text("name")?, text("version")?), text("checksum")?))
    };
    Ok(packages.iter().filter_map(checksum).collect())
}

fn text<'a>(value: &'a Value, name: &str) -> Result<&'a str> {
    value[name].as_str().with_context(|| format!("cargo metadata has an entry without {name}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LOCK: &str = "[[package]]\nname = \"serde\"\nversion = \"1.0.1\"\nchecksum = \"00ff\"\n\n\
                        [[package]]\nname = \"web\"\nversion = \"0.6.0\"\n";

    fn metadata() -> Value {
        let package = |id: &str, name: &str, version: &str, source: Option<&str>| json!({ "id": id, "name": name, "version": version, "source": source, "license": "MIT/Apache-2.0" });
        let dependency = |id: &str, kinds: &[Option<&str>]| {
            let kinds: Vec<_> = kinds.iter().map(|kind| json!({ "kind": kind, "target": null })).collect();
            json!({ "name": id, "pkg": id, "dep_kinds": kinds })
        };
        let web = [
            dependency("domain", &[None]),
            dependency("tempfile", &[Some("dev")]),
            dependency("cc", &[Some("build")]),
            dependency("serde", &[Some("dev"), None]),
        ];
        let domain = vec![dependency("serde", &[None])];
        let nodes = [("web", web.to_vec()), ("domain", domain), ("serde", Vec::new())];
        json!({
            "packages": [
                package("web", "web", "0.6.0", None),
                package("domain", "domain", "0.6.0", None),
                package("serde", "serde", "1.0.1", Some("registry")),
                package("tempfile", "tempfile", "3.0.0", Some("registry")),
                package("cc", "cc", "1.0.0", Some("registry")),
            ],
            "resolve": { "nodes": nodes.map(|(id, deps)| json!({ "id": id, "deps": deps })) },
        })
    }

    #[test]
    fn a_function_has_the_crates_that_it_links_and_no_others() -> Result<()> {
        let mut components = components(&metadata(), LOCK, &["web".to_owned()])?;
        components.sort_by(|one, other| one.reference.cmp(&other.reference));
        let summary: Vec<_> = components.iter().map(|one| (one.reference.as_str(), one.kind)).collect();
        let expected =
            [("domain@0.6.0", Kind::Own), ("pkg:cargo/serde@1.0.1", Kind::Registry), ("web@0.6.0", Kind::Function)];
        assert_eq!(summary, expected);
        let [domain, serde, web] = &components[..] else { panic!("{components:?}") };
        assert_eq!(web.depends_on, ["domain@0.6.0", "pkg:cargo/serde@1.0.1"]);
        assert_eq!(domain.depends_on, ["pkg:cargo/serde@1.0.1"]);
        assert_eq!(serde.hash, Some(("SHA-256", "00ff".to_owned())));
        assert_eq!((&domain.hash, serde.license.as_deref()), (&None, Some("MIT OR Apache-2.0")));
        Ok(())
    }

    #[test]
    fn a_function_that_cargo_does_not_know_is_an_error() {
        assert!(components(&metadata(), LOCK, &["web".to_owned(), "other".to_owned()]).is_err());
    }
}
