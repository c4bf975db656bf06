//! `test`: every test there is, after setting up what the tests on the emulator need.
//!
//! The tests start emulators of their own; only those of the page in a browser use the stack of `up`. They find the tools and
//! the function binaries by environment variables, so that plain `cargo test` can say what is missing.

use crate::project::Project;
use crate::{cargo, functions, guard, page, state, tools, up};
use anyhow::{Context, Result, bail};
use std::process::{Command, Stdio};

/// What `test` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Run the flows against the AWS emulator at this URL in place of starting one
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// Write expected files anew from what the tests find
    #[arg(long)]
    update: bool,
    /// Only tests with one of these in their names; after `--`, options for the test runner
    #[arg(value_name = "FILTER", allow_hyphen_values = true, trailing_var_arg = true)]
    rest: Vec<String>,
}

/// The command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let tools = tools::ensure(project)?;
    functions::build_all(project)?;
    if options.rest.is_empty() {
        // Rather now than after all other tests.
        page::check_browser(project)?;
    }
    // The stories of faults put this one in place of the functions that know job types.
    cargo::build_binaries(project, &["probe".to_owned()])?;
    let configure = |cargo: &mut Command| {
        cargo.env("LONGSHORE_VENV", &tools.venv).env("LONGSHORE_FUNCTIONS_DIR", project.functions_dir());
        if let Some(url) = &options.endpoint {
            cargo.env("LONGSHORE_ENDPOINT", url.trim_end_matches('/'));
        }
        if options.update {
            cargo.env("LONGSHORE_UPDATE", "1");
        }
    };
    let mut tests = cargo::command(project);
    if has_nextest(project) {
        // One process per test is nextest's way; the tests on the emulator share their stacks, and so one process. A few that
        // are named start one each.
        tests.args(["nextest", "run", "--workspace"]);
        if options.rest.is_empty() {
            tests.args(["-E", "not binary(flows) and not binary(proof)"]);
        }
        tests.args(&options.rest);
    } else {
        tests.args(["test", "--workspace", "--lib", "--bins", "--tests"]).args(&options.rest);
    }
    configure(&mut tests);
    check(&mut tests)?;
    if has_nextest(project) && options.rest.is_empty() {
        let mut flows = cargo::command(project);
        flows.args(["test", "--package", "longshore-tests", "--test", "flows", "--test", "proof"]);
        // They mostly wait: for visibility timeouts and back-offs.
        flows.args(["--", "--test-threads", "8"]);
        configure(&mut flows);
        check(&mut flows)?;
    }
    // Runners of tests leave the examples in the documentation out, or run them last: they are cheap, but build slowly.
    if options.rest.is_empty() {
        let mut docs = cargo::command(project);
        docs.args(["test", "--workspace", "--doc"]);
        configure(&mut docs);
        check(&mut docs)?;
        page_in_a_browser(project)?;
    }
    Ok(())
}

/// Tests of the client and of the page's parts, then of the page in a browser against the stack of `up`, which is taken down
/// again if it was not there before.
fn page_in_a_browser(project: &Project) -> Result<()> {
    page::test(project, "client", "test")?;
    page::test(project, "client", "test:browser")?;
    page::test(project, "page", "test")?;
    let guard = if state::read(project)?.is_up() { None } else { Some(guard::post(project)?) };
    up::bring_up(project, &up::Options::default())?;
    let tested = page::test(project, "page", "test:browser");
    drop(guard);
    tested
}

fn has_nextest(project: &Project) -> bool {
    let mut cargo = cargo::command(project);
    cargo.args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    cargo.status().is_ok_and(|status| status.success())
}

fn check(command: &mut Command) -> Result<()> {
    if !command.status().context("cannot run cargo")?.success() {
        bail!("tests failed: see above");
    }
    Ok(())
}
