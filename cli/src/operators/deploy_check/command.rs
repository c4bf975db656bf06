//! Options and output of `deploy-check`, queries of an AWS account or an emulator, and the checks that need them.

use anyhow::{Context, Result, bail};
use deployment::check::{self, AccountCheck, SkippedCheck, Verdict};
use deployment::finding::Finding;
use deployment::settings::{Settings, Source};
use deployment::template::{Parameters, Template};
use deployment::{overrides, parameters, quotas, updates};

use super::handlers;
use super::inputs::Inputs;
use crate::aws::inventory::{self, Inventory};
use crate::aws::session::{self, Session};

const ENVIRONMENT: &str = "Environment";

/// Options of `deploy-check`.
#[derive(clap::Args)]
#[command(
    after_help = "Exit code: 1 if there is an error, otherwise 0, even with warnings. A check that cannot query AWS, \
for example without credentials, counts as a warning. The last line lists the checks that were not made."
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
    /// Skip the checks that need AWS: quotas, and changes of deployed parameters that lose data
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

/// The state of an account. `None` means not queried; `Err` has the reason why a query failed.
struct Account {
    quota: Option<Result<u64, String>>,
    /// Parameters of the stack; the inner `None` means that the stack does not exist.
    stack: Option<Result<Option<Parameters>, String>>,
}

/// The findings of the checks that need an account, and the skipped checks.
pub struct AccountReport {
    /// Findings.
    pub findings: Vec<Finding>,
    /// Skipped checks.
    pub skipped: Vec<SkippedCheck>,
}

impl Account {
    /// Returns an account that is not queried, for `--offline`.
    fn offline() -> Self {
        Self { quota: None, stack: None }
    }

    /// Queries AWS, or the emulator at `endpoint`. The queries are independent: one can fail, because it is not
    /// permitted or the emulator does not support it, and the other succeed.
    fn query(endpoint: Option<&str>, stack: Option<&str>) -> Self {
        let session = match Session::open(endpoint) {
            Ok(session) => session,
            Err(error) => {
                let reason = reason(error);
                return Self { quota: Some(Err(reason.clone())), stack: Some(Err(reason)) };
            }
        };
        let quota = session.block_on(session::concurrent_executions(session.config()));
        let deployed = |stack: Option<Inventory>| stack.filter(Inventory::is_deployed).map(|stack| stack.parameters);
        let parameters = match stack {
            Some(name) => session.block_on(inventory::describe(session.config(), name)).map(deployed).map_err(reason),
            None => Err("the stack has no name".to_owned()),
        };
        Self { quota: Some(quota.map_err(reason)), stack: Some(parameters) }
    }

    /// Returns the parameters of the deployed stack, or `None` if it does not exist or the query failed.
    fn stack_parameters(&self) -> Option<&Parameters> {
        self.stack.as_ref()?.as_ref().ok()?.as_ref()
    }

    /// Returns true if the stack does not exist.
    fn is_first_deployment(&self) -> bool {
        matches!(self.stack, Some(Ok(None)))
    }

    /// Checks these settings. They include the parameters of the deployed stack.
    fn check(&self, template: &Template, settings: &Settings) -> Result<AccountReport> {
        let parameters = settings.effective(template);
        let mut report = AccountReport { findings: Vec::new(), skipped: Vec::new() };
        let mut skip = |check, reason| report.skipped.push(SkippedCheck { check, reason });
        match &self.quota {
            Some(Ok(quota)) if parameters::is_accepted(template, &parameters, ENVIRONMENT) => {
                let environment = template.parameter(ENVIRONMENT, &parameters).unwrap_or_default();
                let concurrency = quotas::mapping_concurrency(template, &parameters)?;
                report.findings.extend(quotas::findings(concurrency, *quota, &environment));
            }
            Some(Ok(_)) => skip(AccountCheck::Quota, Some(format!("{ENVIRONMENT} is not allowed"))),
            Some(Err(reason)) => skip(AccountCheck::Quota, Some(reason.clone())),
            None => skip(AccountCheck::Quota, None),
        }
        match &self.stack {
            Some(Ok(_)) => report.findings.extend(updates::findings(template, settings)),
            Some(Err(reason)) => skip(AccountCheck::DataLoss, Some(reason.clone())),
            None => skip(AccountCheck::DataLoss, None),
        }
        Ok(report)
    }
}

fn reason(error: anyhow::Error) -> String {
    format!("{error:#}")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

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

    const TEMPLATE: &str = "
Parameters:
  Environment: { Type: String, Default: production, AllowedValues: [production, small] }
  RetentionDays: { Type: Number, Default: 14 }
Mappings: { Concurrency: { production: { Chunks: 290 }, small: { Chunks: 10 } } }
Resources:
  Work:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        Chunks:
          Type: SQS
          Properties:
            ScalingConfig: { MaximumConcurrency: !FindInMap [Concurrency, !Ref Environment, Chunks] }
";

    fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Parameters {
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    fn check(account: &Account, parameters: Parameters) -> Result<AccountReport> {
        let deployed = account.stack_parameters().cloned().unwrap_or_default();
        account.check(&Template::parse(TEMPLATE)?, &Settings { parameters, deployed, ..Settings::default() })
    }

    #[test]
    fn a_check_is_skipped_if_its_query_failed_or_was_not_made() -> Result<()> {
        let reason = || "no credentials".to_owned();
        let account = Account { quota: Some(Err(reason())), stack: Some(Err(reason())) };
        let skipped = |reason: Option<&str>| {
            [AccountCheck::Quota, AccountCheck::DataLoss]
                .map(|check| SkippedCheck { check, reason: reason.map(str::to_owned) })
        };
        assert_eq!(check(&account, Parameters::new())?.skipped, skipped(Some("no credentials")));
        assert_eq!(check(&Account::offline(), Parameters::new())?.skipped, skipped(None));
        Ok(())
    }

    #[test]
    fn the_quota_is_not_checked_for_an_unknown_environment() -> Result<()> {
        let account = Account { quota: Some(Ok(10)), stack: Some(Ok(None)) };
        let report = check(&account, pairs([("Environment", "smal")]))?;
        let reason = Some("Environment is not allowed".to_owned());
        assert_eq!(report.skipped, [SkippedCheck { check: AccountCheck::Quota, reason }]);
        Ok(())
    }

    #[test]
    fn quota_and_data_loss_are_checked_with_the_values_that_the_stack_keeps() -> Result<()> {
        let deployed = pairs([("Environment", "small"), ("RetentionDays", "14")]);
        let account = Account { quota: Some(Ok(1000)), stack: Some(Ok(Some(deployed))) };
        let report = check(&account, pairs([("RetentionDays", "7")]))?;
        let locations: Vec<_> = report.findings.iter().map(|finding| finding.location.as_str()).collect();
        assert_eq!(locations, ["RetentionDays"]);
        assert!(report.skipped.is_empty() && !account.is_first_deployment());
        let first = Account { quota: Some(Ok(10)), stack: Some(Ok(None)) };
        assert!(first.is_first_deployment());
        assert_eq!(check(&first, pairs([("RetentionDays", "7")]))?.findings[0].location, "account");
        Ok(())
    }
}
