//! Tests the checks of `longshore deploy-check` that need an account, with a stack on an emulator.

use anyhow::{Result, ensure};
use clap::{Args, Command, FromArgMatches};
use local_cloud::project::Project;
use local_cloud::stack::NAME;
use longshore_cli::deploy_check::{self, AccountReport, Options};

/// Runs the checks against the stack, which was deployed with the `local` settings of samconfig.toml.
pub(crate) fn run(project: &Project, endpoint: &str) -> Result<()> {
    let check = |stack: &str, overrides: &[&str]| -> Result<AccountReport> {
        let root = project.root.display();
        let (template, config) = (format!("{root}/template.yaml"), format!("{root}/samconfig.toml"));
        let files = ["deploy-check", "--template", &template, "--config", &config];
        let account = ["--endpoint", endpoint, "--stack-name", stack, "--parameter-overrides"];
        let command = Options::augment_args(Command::new("deploy-check"));
        let matches = command.try_get_matches_from([&files[..], &account, overrides].concat())?;
        let report = deploy_check::check_account(&Options::from_arg_matches(&matches)?)?;
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
