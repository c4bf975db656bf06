//! Options and output of `deploy-check`.

use anyhow::{Context, Result, bail};
use deployment::check::{self, Verdict};
use deployment::overrides;
use deployment::settings::{Settings, Source};
use deployment::template::Template;

use super::account::{Account, AccountReport};
use super::handlers;
use super::inputs::Inputs;

/// Options of `deploy-check`.
#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 ready to deploy, even with warnings, 1 an error was found or a file cannot be read, \
2 wrong usage. A check that cannot query AWS, for example without credentials, counts as a warning. The last line \
lists the checks that were not made.

Permissions, all of them to read: cloudformation DescribeStacks and ListStackResources; dynamodb DescribeTable;
lambda GetAccountSettings."
)]
pub struct Options {
    #[command(flatten)]
    inputs: Inputs,
    /// Environment of samconfig.toml, as in `sam deploy`
    #[arg(long, value_name = "NAME", default_value = "default")]
    config_env: String,
    /// Parameters, such as `Environment=small`, instead of all parameters of samconfig.toml; several can be in one
    /// quoted argument
    #[arg(long, value_name = "NAME=VALUE", num_args = 1..)]
    parameter_overrides: Option<Vec<String>>,
    /// Name of the stack [default: stack_name of samconfig.toml]
    #[arg(long, value_name = "NAME")]
    stack_name: Option<String>,
    /// URL of an AWS emulator that has the stack, to query instead of AWS
    #[arg(long, value_name = "URL", conflicts_with = "offline")]
    endpoint: Option<String>,
    /// Skip the checks that need AWS: quotas, and changes of the deployed stack that lose data or that DynamoDB refuses
    #[arg(long)]
    offline: bool,
}

/// Runs the checks.
///
/// # Errors
/// If a finding is an error, or a file cannot be read.
pub fn run(options: &Options) -> Result<()> {
    let (template, mut settings) = read(options)?;
    let account = query(options, &template, &mut settings)?;
    let mut findings = check::template(&template, &settings)?;
    findings.extend(handlers::findings(&template, &settings));
    findings.extend(check::binaries(&template, &settings, |code_uri| options.inputs.code(code_uri)));
    findings.extend(account.findings);
    account.skipped.iter().for_each(|check| println!("{check}"));
    findings.iter().for_each(|finding| println!("{finding}"));
    let verdict = Verdict::new(&findings, &account.skipped);
    if !verdict.is_ready() {
        bail!("{verdict}");
    }
    println!("{verdict}.");
    Ok(())
}

/// Runs only the checks that need an account.
///
/// # Errors
/// If a file cannot be read.
pub fn check_account(options: &Options) -> Result<AccountReport> {
    let (template, mut settings) = read(options)?;
    query(options, &template, &mut settings)
}

/// Reads the template and the settings of `sam deploy`.
fn read(options: &Options) -> Result<(Template, Settings)> {
    let template = options.inputs.template()?;
    let mut settings = options.inputs.settings(&options.config_env)?;
    if let Some(texts) = &options.parameter_overrides {
        settings.parameters = overrides::parse(texts).context("--parameter-overrides")?;
        settings.source = Source::CommandLine;
    }
    settings.region = settings.region.or_else(region);
    settings.stack = options.stack_name.clone().or(settings.stack);
    Ok((template, settings))
}

/// Queries the account unless offline, and checks it. Adds the parameters of the deployed stack to the settings.
fn query(options: &Options, template: &Template, settings: &mut Settings) -> Result<AccountReport> {
    let endpoint = options.endpoint.clone().or_else(endpoint_from_environment);
    let stack = settings.stack.as_deref();
    let account = if options.offline { Account::offline() } else { Account::query(endpoint.as_deref(), stack) };
    if account.is_first_deployment() {
        println!("the stack {} does not exist: checking a first deployment", stack.unwrap_or_default());
    }
    settings.deployed = account.stack_parameters().cloned().unwrap_or_default();
    account.check(template, settings)
}

fn region() -> Option<String> {
    ["AWS_REGION", "AWS_DEFAULT_REGION"].into_iter().find_map(|name| std::env::var(name).ok())
}

/// Returns the endpoint of an emulator from the shell's environment.
fn endpoint_from_environment() -> Option<String> {
    std::env::var("AWS_ENDPOINT_URL").ok().filter(|url| !url.is_empty())
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, Parser};

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn one_quoted_argument_can_contain_several_parameters() -> Result<()> {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let (template, config) = (format!("{root}/template.yaml"), format!("{root}/samconfig.toml"));
        let files = ["deploy-check", "--offline", "--template", &template, "--config", &config];
        let overrides = ["--parameter-overrides", "Environment=small Access=open"];
        let (_, settings) = read(&Line::try_parse_from([&files[..], &overrides].concat())?.options)?;
        let names: Vec<_> = settings.parameters.keys().map(String::as_str).collect();
        assert_eq!((names.as_slice(), settings.source), (["Access", "Environment"].as_slice(), Source::CommandLine));
        Ok(())
    }

    #[test]
    fn the_help_has_every_exit_code() {
        let help = Options::augment_args(Command::new("deploy-check")).render_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for code in ["0 ready", "1 an error", "2 wrong usage"] {
            assert!(help.contains(code), "{code}: {help}");
        }
    }
}
