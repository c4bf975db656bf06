//! `openapi`: generates the API's document, and the page made from it, from the code.
//!
//! A change that breaks clients is refused unless the workspace's version permits it; the crate `breaking` finds such
//! changes. CI checks every two consecutive versions of the document in the history in the same way.

mod document;
mod history;
mod page;

use anyhow::{Context, Result, bail, ensure};
use document::{DOCUMENT, parse, refuse_breaking};
use local_cloud::cargo;
use local_cloud::project::Project;
use std::fs;

/// The page within the checkout, also served.
const PAGE: &str = "docs/api/page.html";

/// Options of `openapi`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Write nothing; fail if the document differs from the code, or if any version of it in the history broke
    /// clients
    #[arg(long)]
    check: bool,
}

/// Runs the command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let made = generate(project)?;
    let place = project.root.join(DOCUMENT);
    let committed = fs::read_to_string(&place).unwrap_or_default();
    if options.check {
        ensure!(made == committed, "{DOCUMENT} is not what the code says: run `cargo xtask openapi`");
        return history::check(project, DOCUMENT);
    }
    if !committed.is_empty() {
        refuse_breaking(&parse(&committed)?, &parse(&made)?)?;
    }
    fs::write(&place, &made).with_context(|| format!("cannot write {DOCUMENT}"))?;
    fs::write(project.root.join(PAGE), page::page(&parse(&made)?)).with_context(|| format!("cannot write {PAGE}"))?;
    println!("{DOCUMENT} and {PAGE} are what the code says");
    Ok(())
}

/// Generates the document from the functions' descriptions.
fn generate(project: &Project) -> Result<String> {
    let mut cargo = cargo::command(project);
    let output = cargo.args(["run", "--quiet", "--package", "jobs-api", "--example", "openapi"]).output()?;
    if !output.status.success() {
        bail!("the document cannot be made:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).context("the document is no text")
}
