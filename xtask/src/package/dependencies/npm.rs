//! The npm packages that the page contains, by its lock file.

use anyhow::{Context, Result, bail};
use data_encoding::{BASE64, HEXLOWER};
use serde_json::Value;

use super::{Component, Kind};

/// Folder of installed packages, as part of a path in the lock file.
const FOLDER: &str = "node_modules/";

/// Returns the packages of the lock file that are not for development only.
pub(super) fn components(lock: &str) -> Result<Vec<Component>> {
    let lock: Value = serde_json::from_str(lock).context("package-lock.json is not valid JSON")?;
    let packages = lock["packages"].as_object().context("package-lock.json has no packages")?;
    let is_shipped = |entry: &Value| entry["link"] != true && entry["dev"] != true;
    let shipped = packages.iter().filter(|(path, entry)| path.contains(FOLDER) && is_shipped(entry));
    shipped.map(|(path, entry)| component(path, entry)).collect()
}

fn component(path: &str, entry: &Value) -> Result<Component> {
    let name = path.rsplit_once(FOLDER).map_or(path, |(_, name)| name);
    let version = entry["version"].as_str().with_context(|| format!("{name} has no version"))?;
    let integrity = entry["integrity"].as_str().with_context(|| format!("{name} has no integrity"))?;
    let Some(("sha512", hash)) = integrity.split_once('-') else {
        bail!("{name} has an integrity of another kind: {integrity}");
    };
    let hash = BASE64.decode(hash.as_bytes()).with_context(|| format!("{name} has an unreadable integrity"))?;
    Ok(Component {
        // The @ of a scope is escaped, that of the version is not.
        reference: format!("pkg:npm/{}@{version}", name.replace('@', "%40")),
        kind: Kind::Registry,
        name: name.to_owned(),
        version: version.to_owned(),
        license: entry["license"].as_str().map(str::to_owned),
        hash: Some(("SHA-512", HEXLOWER.encode(&hash))),
        depends_on: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = include_str!("../../../../web/package-lock.json");

    #[test]
    fn the_page_has_its_packages_and_none_of_the_tools() -> Result<()> {
        let components = components(LOCK)?;
        let names: Vec<_> = components.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["@preact/signals", "@preact/signals-core", "jwt-decode", "oidc-client-ts", "preact"]);
        let signals = &components[0];
        assert_eq!(signals.reference, format!("pkg:npm/%40preact/signals@{}", signals.version));
        assert!(components.iter().all(|package| package.license.is_some()));
        assert!(components.iter().all(|package| package.hash.as_ref().is_some_and(|(_, hash)| hash.len() == 128)));
        Ok(())
    }
}
