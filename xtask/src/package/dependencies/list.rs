//! The list of the dependencies of all functions.

use std::fs;

use anyhow::{Context, Result};
use local_cloud::project::Project;

use super::{crates, document, npm};
use crate::package::{Architecture, build};

/// The function that contains the page, and with it the npm packages.
const PAGE: &str = "web";

/// Returns the list of dependencies of these functions, as JSON.
pub(in crate::package) fn list(project: &Project, functions: &[String], architecture: Architecture) -> Result<String> {
    let read = |name: &str| fs::read_to_string(project.root.join(name)).with_context(|| format!("cannot read {name}"));
    let metadata = crates::metadata(project, architecture)?;
    let mut components = crates::components(&metadata, &read("Cargo.lock")?, functions)?;
    let packages = npm::components(&read("web/package-lock.json")?)?;
    if let Some(page) = components.iter_mut().find(|component| component.name == PAGE) {
        page.depends_on.extend(packages.iter().map(|package| package.reference.clone()));
    }
    components.extend(packages);
    components.sort_by(|one, other| one.reference.cmp(&other.reference));
    document::write(&components, architecture, build::commit(project).as_deref())
}
