//! `deploy-check`: all that would make a deployment to AWS fail, not work or lose something, found before `sam deploy`.

use crate::account::Account;
use crate::project::Project;
use crate::tools;
use anyhow::{Context, Result, bail};
use deployment::finding::{Finding, Severity};
use deployment::samconfig::Settings;
use deployment::template::{Parameters, Template};
use deployment::{check, quotas, updates};
use std::fs;

/// What `deploy-check` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Environment of samconfig.toml, as `sam deploy` has it
    #[arg(long, value_name = "NAME", default_value = "default")]
    config_env: String,
    /// Parameters in place of those of samconfig.toml, such as `Environment=small`
    #[arg(long, value_name = "NAME=VALUE", num_args = 1..)]
    parameter_overrides: Option<Vec<String>>,
    /// Ask nothing of AWS: neither quotas nor what is deployed
    #[arg(long)]
    offline: bool,
}

/// The command. Fails if there is an error among the findings.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let read = |name: &str| fs::read_to_string(project.root.join(name)).with_context(|| format!("cannot read {name}"));
    let template = Template::parse(&read("template.yaml")?)?;
    let mut settings = Settings::read(&read("samconfig.toml")?, &options.config_env)?;
    if let Some(overrides) = &options.parameter_overrides {
        settings.parameters = overrides.iter().map(|pair| parameter(pair)).collect::<Result<_>>()?;
    }
    settings.region = settings.region.or_else(region);
    let mut found = check::template(&template, &settings)?;
    found.extend(check::binaries(&template, &settings.parameters, &project.root));
    if options.offline {
        println!("NOT CHECKED: the account's quotas, and what an update would lose (--offline)");
    } else {
        found.extend(of_account(project, &template, &settings)?);
    }
    conclude(&found)
}

fn parameter(pair: &str) -> Result<(String, String)> {
    let (name, value) = pair.split_once('=').with_context(|| format!("{pair} is no NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}

fn region() -> Option<String> {
    ["AWS_REGION", "AWS_DEFAULT_REGION"].into_iter().find_map(|name| std::env::var(name).ok())
}

/// What the account says, if it can be reached.
fn of_account(project: &Project, template: &Template, settings: &Settings) -> Result<Vec<Finding>> {
    if let Ok(endpoint) = std::env::var("AWS_ENDPOINT_URL") {
        println!("NOT CHECKED: the account's quotas, and what an update would lose: {endpoint} is not AWS");
        return Ok(Vec::new());
    }
    let tools = tools::ensure(project)?;
    let account = Account { project, tools: &tools, emulator: None };
    match account.standing(settings.stack.as_deref().unwrap_or_default()) {
        Ok(standing) => {
            let at_once = quotas::mappings_at_once(template, &settings.parameters)?;
            let mut found = quotas::findings(at_once, standing.quota);
            found.extend(losses(template, &standing.parameters, &settings.parameters));
            Ok(found)
        }
        Err(error) => {
            println!("NOT CHECKED: the account's quotas, and what an update would lose: {error:#}");
            Ok(Vec::new())
        }
    }
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
