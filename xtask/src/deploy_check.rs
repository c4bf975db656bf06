//! `deploy-check`: all that would make a deployment to AWS fail, not work or lose something, found before `sam deploy`.

use crate::account::Account;
use crate::project::Project;
use crate::tools;
use anyhow::{Context, Result, bail, ensure};
use deployment::finding::{Finding, Severity};
use deployment::samconfig::Settings;
use deployment::template::{Parameters, Template};
use deployment::{check, quotas, updates};
use std::fs;

const QUOTA: &str = "the account's quotas";
const LOSSES: &str = "what an update would lose";

/// What `deploy-check` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Environment of samconfig.toml, as `sam deploy` has it
    #[arg(long, value_name = "NAME", default_value = "default")]
    config_env: String,
    /// Parameters in place of those of samconfig.toml, such as `Environment=small`
    #[arg(long, value_name = "NAME=VALUE", num_args = 1..)]
    parameter_overrides: Option<Vec<String>>,
    /// Name of the stack, instead of the one in samconfig.toml
    #[arg(long, value_name = "NAME")]
    stack_name: Option<String>,
    /// URL of an emulator that has the stack and is asked instead of AWS
    #[arg(long, value_name = "URL", conflicts_with = "offline")]
    endpoint: Option<String>,
    /// Ask nothing of AWS: neither quotas nor what is deployed
    #[arg(long)]
    offline: bool,
}

/// The command. Fails if there is an error among the findings.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let (template, settings) = told(project, options)?;
    let mut found = check::template(&template, &settings)?;
    found.extend(check::binaries(&template, &settings.parameters, &project.root));
    if options.offline {
        println!("NOT CHECKED: {QUOTA} and {LOSSES}: --offline");
    } else {
        let asked = of_account(project, options.endpoint.clone().or_else(elsewhere), &template, &settings)?;
        asked.not_checked.iter().for_each(|what| println!("NOT CHECKED: {what}"));
        found.extend(asked.found);
    }
    conclude(&found)
}

/// Checks the account's part against a stack on an emulator, deployed with the settings `local` of samconfig.toml.
pub(crate) fn try_on(project: &Project, endpoint: &str) -> Result<()> {
    let told = |overrides: &[&str]| {
        let parameter_overrides = Some(overrides.iter().map(|pair| (*pair).to_owned()).collect());
        let stack_name = Some(crate::stack::NAME.to_owned());
        let endpoint = Some(endpoint.to_owned());
        let options =
            Options { config_env: "default".to_owned(), parameter_overrides, stack_name, endpoint, offline: false };
        let (template, settings) = told(project, &options)?;
        of_account(project, options.endpoint, &template, &settings)
    };
    let places = |asked: &Asked| asked.found.iter().map(|finding| finding.place.clone()).collect::<Vec<_>>();
    let losing = told(&["Environment=small", "Access=open", "OperatorGroup=others"])?;
    ensure!(places(&losing) == ["Access", "OperatorGroup"], "what an update loses: {:?}", losing.found);
    let same = told(&["Environment=small"])?;
    ensure!(places(&same).is_empty(), "an update that changes nothing: {:?}", same.found);
    for asked in [losing, same] {
        ensure!(asked.not_checked.is_empty(), "not checked: {:?}", asked.not_checked);
    }
    Ok(())
}

/// Returns what would be deployed: the template and the settings of `sam deploy`.
fn told(project: &Project, options: &Options) -> Result<(Template, Settings)> {
    let read = |name: &str| fs::read_to_string(project.root.join(name)).with_context(|| format!("cannot read {name}"));
    let template = Template::parse(&read("template.yaml")?)?;
    let mut settings = Settings::read(&read("samconfig.toml")?, &options.config_env)?;
    if let Some(overrides) = &options.parameter_overrides {
        settings.parameters = overrides.iter().map(|pair| parameter(pair)).collect::<Result<_>>()?;
    }
    settings.region = settings.region.or_else(region);
    settings.stack = options.stack_name.clone().or(settings.stack);
    Ok((template, settings))
}

fn parameter(pair: &str) -> Result<(String, String)> {
    let (name, value) = pair.split_once('=').with_context(|| format!("{pair} is no NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}

fn region() -> Option<String> {
    ["AWS_REGION", "AWS_DEFAULT_REGION"].into_iter().find_map(|name| std::env::var(name).ok())
}

/// The endpoint of an emulator that the shell's environment names.
fn elsewhere() -> Option<String> {
    std::env::var("AWS_ENDPOINT_URL").ok().filter(|url| !url.is_empty())
}

/// Answers of an account.
struct Asked {
    found: Vec<Finding>,
    /// Questions without an answer, each with the reason.
    not_checked: Vec<String>,
}

/// Asks AWS, or the emulator at `endpoint`.
fn of_account(project: &Project, endpoint: Option<String>, template: &Template, settings: &Settings) -> Result<Asked> {
    let tools = tools::ensure(project)?;
    let account = Account { project, tools: &tools, emulator: endpoint.as_deref() };
    let (mut found, mut not_checked) = (Vec::new(), Vec::new());
    match account.standing(settings.stack.as_deref().unwrap_or_default()) {
        Ok(standing) => {
            let at_once = quotas::mappings_at_once(template, &settings.parameters)?;
            match standing.quota {
                Ok(quota) => found.extend(quotas::findings(at_once, quota)),
                Err(error) => not_checked.push(format!("{QUOTA}: {error}")),
            }
            match standing.parameters {
                Ok(before) => found.extend(losses(template, &before, &settings.parameters)),
                Err(error) => not_checked.push(format!("{LOSSES}: {error}")),
            }
        }
        Err(error) => not_checked.push(format!("{QUOTA} and {LOSSES}: {error:#}")),
    }
    Ok(Asked { found, not_checked })
}

/// SAM keeps the value that a parameter has on the stack unless it is told another one.
fn losses(template: &Template, before: &Parameters, told: &Parameters) -> Vec<Finding> {
    let mut after = before.clone();
    after.extend(told.clone());
    updates::findings(template, before, &after)
}

fn conclude(found: &[Finding]) -> Result<()> {
    for finding in found {
        println!("{finding}");
    }
    let errors = found.iter().filter(|finding| finding.severity == Severity::Error).count();
    if errors > 0 {
        bail!("not ready to deploy: {errors} errors, {} warnings", found.len() - errors);
    }
    println!("Ready to deploy: no error, {} warnings.", found.len());
    Ok(())
}
