//! Package sizes, which affect cold starts.

use anyhow::{Context, Result, ensure};
use local_cloud::functions;
use local_cloud::project::Project;
use local_cloud::tools::Tools;
use std::fs;

/// Zips a file as SAM does, and prints the size of the archive.
const ZIP: &str = "import io, sys, zipfile
archive = io.BytesIO()
with zipfile.ZipFile(archive, 'w', zipfile.ZIP_DEFLATED) as file:
    file.write(sys.argv[1], 'bootstrap')
print(len(archive.getvalue()))";

/// Sizes of a function's binary and package, in bytes.
pub(crate) struct Size {
    pub(crate) function: String,
    pub(crate) bootstrap: u64,
    pub(crate) zipped: u64,
}

/// Measures all functions.
pub(crate) fn measure(project: &Project, tools: &Tools) -> Result<Vec<Size>> {
    let names = functions::names(project)?;
    names.into_iter().map(|function| size(project, tools, function)).collect()
}

fn size(project: &Project, tools: &Tools, function: String) -> Result<Size> {
    let path = project.bootstrap(&function);
    let bootstrap = fs::metadata(&path).with_context(|| format!("cannot read {}", path.display()))?.len();
    let output = tools.command("python").args(["-c", ZIP]).arg(&path).output()?;
    ensure!(output.status.success(), "cannot zip {}", path.display());
    let zipped = String::from_utf8(output.stdout)?.trim().parse()?;
    Ok(Size { function, bootstrap, zipped })
}
