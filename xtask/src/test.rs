//! `test`: installs the tools and builds the functions that the tests need, then runs all tests.
//!
//! The tests start their own emulators; only the browser tests of the page use the stack of `up`. Environment variables
//! have the paths of the tools and the function binaries. Without them, plain `cargo test` reports what is missing.

use crate::up;
use anyhow::{Context, Result, bail, ensure};
use clap::{Args, FromArgMatches};
use local_cloud::functions;
use local_cloud::project::Project;
use local_cloud::stack::NAME;
use local_cloud::tools::Tools;
use local_cloud::{cargo, guard, npm, page, state, tools};
use longshore_cli::operators::deploy_check::{self, AccountReport};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Options of `test`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Run the flow tests against the AWS emulator at this URL instead of starting one
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// Replace expected files with the actual results
    #[arg(long)]
    update: bool,
    /// Run only tests whose names contain one of these; after `--`, options for the test runner
    #[arg(value_name = "FILTER", allow_hyphen_values = true, trailing_var_arg = true)]
    filters: Vec<String>,
}

/// Runs the command. It ends with a summary of the skipped and repeated tests, even after a failure.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let notes: PathBuf = match std::env::var_os(measurements::NOTES) {
        Some(path) => path.into(),
        None => {
            let path = project.state_dir()?.join("test-notes");
            fs::write(&path, "").with_context(|| format!("cannot write {}", path.display()))?;
            path
        }
    };
    let outcome = run_all(project, options, &notes);
    print!("{}", summary(&fs::read_to_string(&notes).unwrap_or_default()));
    outcome
}

/// Summarizes the notes: the number and names of the repeated and of the skipped tests.
fn summary(notes: &str) -> String {
    let section = |kind: &str| {
        let prefix = format!("{kind}\t");
        let tests: Vec<_> = notes.lines().filter_map(|line| line.strip_prefix(&prefix)).collect();
        let list: String = tests.iter().map(|test| format!("  {test}\n")).collect();
        format!("Tests that were {kind}: {}\n{list}", tests.len())
    };
    format!("\n{}{}", section("repeated"), section("skipped"))
}

fn run_all(project: &Project, options: &Options, notes: &Path) -> Result<()> {
    let tools = tools::ensure(project)?;
    functions::build_all(project)?;
    if options.filters.is_empty() {
        // Checked first, so that a missing browser is reported before the tests run.
        page::check_browser(project)?;
    }
    // The fault tests use the first binary instead of the functions that run job types; the second one is an example.
    cargo::build_binaries(project, &["probe".to_owned(), "webhook-receiver".to_owned()])?;
    npm::install(project, "examples/webhooks/node")?;
    let configure = |cargo: &mut Command| {
        cargo
            .env(measurements::NOTES, notes)
            .env("LONGSHORE_VENV", &tools.venv)
            .env("LONGSHORE_FUNCTIONS_DIR", project.functions_dir());
        if let Some(url) = &options.endpoint {
            cargo.env("LONGSHORE_ENDPOINT", url.trim_end_matches('/'));
        }
        if options.update {
            cargo.env("LONGSHORE_UPDATE", "1");
        }
    };
    let mut tests = cargo::command(project);
    if has_nextest(project) {
        // nextest runs each test in its own process. The tests of a suite on the emulator share emulators and stacks,
        // so each suite runs in one process below. A few tests, selected by name, can run in a process each.
        tests.args(["nextest", "run", "--workspace", "--no-fail-fast"]);
        if options.filters.is_empty() {
            tests.args(["-E", "not binary(conformance) and not binary(flows) and not binary(proof)"]);
        }
        tests.args(&options.filters);
    } else {
        tests.args(["test", "--workspace", "--lib", "--bins", "--tests"]).args(&options.filters);
    }
    configure(&mut tests);
    check(&mut tests)?;
    if has_nextest(project) && options.filters.is_empty() {
        let mut flows = cargo::command(project);
        // The workspace is selected, so that dependencies have the same features as in the build above.
        flows.args([
            "test",
            "--workspace",
            "--no-fail-fast",
            "--test",
            "conformance",
            "--test",
            "flows",
            "--test",
            "proof",
        ]);
        // These tests wait for visibility timeouts and backoffs. Two suites at the same time would not be faster on two
        // cores, and waits with a limit would end too early.
        flows.args(["--", "--test-threads", "6"]);
        configure(&mut flows);
        check(&mut flows)?;
    }
    // Doctests run last, because they are slow to build; nextest does not run them.
    if options.filters.is_empty() {
        let mut docs = cargo::command(project);
        docs.args(["test", "--workspace", "--doc"]);
        configure(&mut docs);
        check(&mut docs)?;
        run_handler_tests(project, &tools)?;
        run_stack_tests(project, notes)?;
    }
    Ok(())
}

/// Runs the tests of the examples of handlers in Python and Node, and of the Python client.
fn run_handler_tests(project: &Project, tools: &Tools) -> Result<()> {
    for folder in ["examples/handlers/python", "clients/python"] {
        let mut python = Command::new(tools.program("python"));
        python.args(["-m", "unittest", "--quiet"]).current_dir(project.root.join(folder));
        python.env("PYTHONDONTWRITEBYTECODE", "1");
        ensure!(python.status()?.success(), "a test in {folder} failed: see above");
    }
    let folder = "examples/handlers/node";
    npm::install(project, folder)?;
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=dot"]).current_dir(project.root.join(folder));
    ensure!(node.status().context("cannot run node")?.success(), "a test of the handlers in Node failed: see above");
    Ok(())
}

/// Runs the tests of the client and of the page's modules. Then runs a smoke test, and the browser tests beside the
/// commands of the guides, against the stack of `up`. Stops the stack if it was not running before.
fn run_stack_tests(project: &Project, notes: &Path) -> Result<()> {
    let test = |package, script| {
        let mut npm = page::script(project, package, script)?;
        npm.env(measurements::NOTES, notes);
        if !npm.status().context("cannot run npm, which is part of Node.js")?.success() {
            bail!("tests of web/{package} failed: see above");
        }
        Ok(())
    };
    test("client", "test")?;
    test("client", "test:browser")?;
    test("page", "test")?;
    let guard = if state::read(project)?.is_up() { None } else { Some(guard::post(project)?) };
    let state = up::bring_up(project, &up::Options::default())?;
    let guides = Guides::start(project)?;
    let outcome = check_account(project, &state.emulator_url)
        .and_then(|()| smoke(project, &state.emulator_url))
        .and_then(|()| test("page", "test:browser"))
        .and_then(|()| guides.end());
    drop(guard);
    outcome
}

/// The commands of the guides, which run beside the other tests of the stack.
struct Guides {
    process: Child,
    log: PathBuf,
}

impl Guides {
    /// Starts the commands, as a reader would run them.
    fn start(project: &Project) -> Result<Self> {
        let log = project.state_dir()?.join("guides.log");
        let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = Command::new(tools::ensure(project)?.program("python"));
        command.current_dir(&project.root).arg("docs/guides/run.py");
        cargo::remove_package_variables(&mut command);
        command.stderr(output.try_clone()?).stdout(output);
        Ok(Self { process: command.spawn().context("cannot run docs/guides/run.py")?, log })
    }

    /// Waits for their end, and prints their output.
    fn end(mut self) -> Result<()> {
        let status = self.process.wait()?;
        print!("{}", fs::read_to_string(&self.log)?);
        ensure!(status.success(), "a command of a guide failed: see above");
        Ok(())
    }
}

impl Drop for Guides {
    /// Stops them after a failure of another test.
    fn drop(&mut self) {
        // It fails if they have ended.
        drop(self.process.kill());
    }
}

/// Runs the operators' smoke test against the stack. As on AWS, it looks up the stack by name and creates a user.
fn smoke(project: &Project, endpoint: &str) -> Result<()> {
    let mut smoke = Command::new(std::env::current_exe()?);
    smoke.args(["longshore", "smoke", "--stack", NAME, "--endpoint", endpoint, "--yes"]).current_dir(&project.root);
    ensure!(smoke.status()?.success(), "the smoke test failed: see above");
    Ok(())
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

/// Tests the checks of `longshore deploy-check` that need an account: runs them against the stack, which was deployed
/// with the `local` settings of samconfig.toml.
fn check_account(project: &Project, endpoint: &str) -> Result<()> {
    let check = |stack: &str, overrides: &[&str]| -> Result<AccountReport> {
        let root = project.root.display();
        let (template, config) = (format!("{root}/template.yaml"), format!("{root}/samconfig.toml"));
        let files = ["deploy-check", "--template", &template, "--config", &config];
        let account = ["--endpoint", endpoint, "--stack-name", stack, "--parameter-overrides"];
        let command = deploy_check::Options::augment_args(clap::Command::new("deploy-check"));
        let matches = command.try_get_matches_from([&files[..], &account, overrides].concat())?;
        let report = deploy_check::check_account(&deploy_check::Options::from_arg_matches(&matches)?)?;
        ensure!(report.skipped.is_empty(), "skipped checks: {:?}", report.skipped);
        Ok(report)
    };
    let locations =
        |report: &AccountReport| report.findings.iter().map(|finding| finding.location.clone()).collect::<Vec<_>>();
    let lossy = ["Environment=small", "Access=open", "OperatorGroup=others"];
    let absent = check("no-such-stack", &lossy)?;
    ensure!(locations(&absent).is_empty(), "a stack that does not exist: {:?}", absent.findings);
    let update = check(NAME, &lossy)?;
    ensure!(locations(&update) == ["Access", "OperatorGroup"], "an update that loses data: {:?}", update.findings);
    let unchanged = check(NAME, &["Environment=small"])?;
    ensure!(locations(&unchanged).is_empty(), "an update that changes nothing: {:?}", unchanged.findings);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_and_repeated_tests_are_counted_and_named() {
        let notes = "skipped\tflows::a: no emulator\nrepeated\tpage: b\nskipped\tflows::c: no emulator\n";
        assert_eq!(
            summary(notes),
            "\nTests that were repeated: 1\n  page: b\nTests that were skipped: 2\n  flows::a: no emulator\n  flows::c: no emulator\n"
        );
    }
}
