//! Release binaries, built as for AWS, but for this machine: the package of all functions, and the probe. cargo-lambda
//! sets flags that plain cargo does not set, such as the panic strategy.

use std::path::PathBuf;

use anyhow::Result;

use crate::package::{self, Architecture, Linker};
use local_cloud::functions;
use local_cloud::project::Project;

/// Package and binary of the probe.
const PROBE: &str = "probe";

/// The release that the part `release` runs.
pub(crate) struct Release {
    /// Path of the probe.
    pub(crate) probe: PathBuf,
    /// Folder of the package.
    pub(crate) package: PathBuf,
}

/// Builds the probe and all functions, checks them as `deploy-check` does, and writes the package.
pub(super) fn build(project: &Project) -> Result<Release> {
    let folder = project.home_dir().join("release");
    let mut names = functions::names(project)?;
    names.push(PROBE.to_owned());
    let mut binaries = package::build(project, &names, Architecture::host(), Linker::Host, &folder)?;
    binaries.remove(PROBE);
    let package = folder.join("package");
    package::write_folder(project, &binaries, Architecture::host(), &package)?;
    Ok(Release { probe: folder.join(PROBE).join("bootstrap"), package })
}
