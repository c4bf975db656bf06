//! Tests the checks of `longshore deploy-check` that need an account, against a stack on an emulator.

use anyhow::{Result, ensure};
use clap::{Args, Command, FromArgMatches};
use local_cloud::project::Project;
use local_cloud::stack::NAME;
use longshore_cli::deploy_check::{self, Asked, Options};

/// Runs the checks against the stack, which was deployed with the `local` settings of samconfig.toml.
pub(crate) fn run(project: &Project, endpoint: &str) -> Result<()> {
    let ask = |stack: &str, overrides: &[&str]| -> Result<Asked> {
        let root = project.root.display();
        let (template, config) = (format!("{root}/template.yaml"), format!("{root}/samconfig.toml"));
        let files = ["deploy-check", "--template", &template, "--config", &config];
        let account = ["--endpoint", endpoint, "--stack-name", stack, "--parameter-overrides"];
        let command = Options::augment_args(Command::new("deploy-check"));
        let matches = command.try_get_matches_from([&files[..], &account, overrides].concat())?;
        let asked = deploy_check::asked(&Options::from_arg_matches(&matches)?)?;
        ensure!(asked.not_checked.is_empty(), "not checked: {:?}", asked.not_checked);
        Ok(asked)
    };
    let places = |asked: &Asked| asked.found.iter().map(|finding| finding.place.clone()).collect::<Vec<_>>();
    let losing = ["Environment=small", "Access=open", "OperatorGroup=others"];
    let absent = ask("no-such-stack", &losing)?;
    ensure!(places(&absent).is_empty(), "a stack that is not there: {:?}", absent.found);
    let losing = ask(NAME, &losing)?;
    ensure!(places(&losing) == ["Access", "OperatorGroup"], "what an update loses: {:?}", losing.found);
    let same = ask(NAME, &["Environment=small"])?;
    ensure!(places(&same).is_empty(), "an update that changes nothing: {:?}", same.found);
    Ok(())
}
