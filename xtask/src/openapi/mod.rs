//! `openapi`: generates the API's document from the code, and a page from the document.
//!
//! A change that breaks clients is refused unless the workspace's version permits it. The crate `breaking` finds such
//! changes. In CI, the same check compares all consecutive versions of the document in the history.

mod curl;
mod document;
mod history;
mod page;
mod sections;
mod words;

use anyhow::{Context, Result, bail, ensure};
use document::{DOCUMENT, parse, refuse_breaking};
use local_cloud::cargo;
use local_cloud::project::Project;
use std::fs;
use std::process::Command;

/// Path of the page in the checkout. `jobs-api` serves it.
const PAGE: &str = "docs/api/page.html";

/// Options of `openapi`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Write nothing; fail if the document is not up to date, or if a version in the history breaks clients of the
    /// previous version
    #[arg(long)]
    check: bool,
}

/// Runs the command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let generated = generate(project)?;
    let path = project.root.join(DOCUMENT);
    let committed = fs::read_to_string(&path).unwrap_or_default();
    if options.check {
        ensure!(generated == committed, "{DOCUMENT} is not up to date: run `cargo xtask openapi`");
        return history::check(project, DOCUMENT);
    }
    if !committed.is_empty() {
        refuse_breaking(&parse(&committed)?, &parse(&generated)?)?;
    }
    fs::write(&path, &generated).with_context(|| format!("cannot write {DOCUMENT}"))?;
    fs::write(project.root.join(PAGE), page::page(&parse(&generated)?))
        .with_context(|| format!("cannot write {PAGE}"))?;
    println!("{DOCUMENT} and {PAGE} are up to date");
    Ok(())
}

/// Generates the document from the code.
fn generate(project: &Project) -> Result<String> {
    let output = Command::new(cargo::build_example(project, "openapi")?).output()?;
    if !output.status.success() {
        bail!("cannot generate the document:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).context("the document is not UTF-8")
}
