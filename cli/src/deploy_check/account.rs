//! Queries of an AWS account or an emulator, and the checks that need them.

use anyhow::Result;
use deployment::finding::Finding;
use deployment::settings::Settings;
use deployment::template::{Parameters, Template};
use deployment::verdict::{AccountCheck, SkippedCheck};
use deployment::{parameters, quotas, updates};

use crate::aws::session::Session;
use crate::aws::stack;

const ENVIRONMENT: &str = "Environment";

/// The state of an account. `None` means not queried; `Err` has the reason why a query failed.
pub(super) struct Account {
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
    pub(super) fn offline() -> Self {
        Self { quota: None, stack: None }
    }

    /// Queries AWS, or the emulator at `endpoint`. The queries are independent: one can fail, because it is not
    /// permitted or the emulator does not support it, and the other succeed.
    pub(super) fn query(endpoint: Option<&str>, stack: Option<&str>) -> Self {
        let session = match Session::open(endpoint) {
            Ok(session) => session,
            Err(error) => {
                let reason = reason(error);
                return Self { quota: Some(Err(reason.clone())), stack: Some(Err(reason)) };
            }
        };
        let quota = session.block_on(stack::concurrent_executions(session.config()));
        let parameters = match stack {
            Some(name) => session.block_on(stack::parameters(session.config(), name)).map_err(reason),
            None => Err("the stack has no name".to_owned()),
        };
        Self { quota: Some(quota.map_err(reason)), stack: Some(parameters) }
    }

    /// Returns the parameters of the deployed stack, or `None` if it does not exist or the query failed.
    pub(super) fn stack_parameters(&self) -> Option<&Parameters> {
        self.stack.as_ref()?.as_ref().ok()?.as_ref()
    }

    /// Returns true if the stack does not exist.
    pub(super) fn is_first_deployment(&self) -> bool {
        matches!(self.stack, Some(Ok(None)))
    }

    /// Checks these settings. They include the parameters of the deployed stack.
    pub(super) fn check(&self, template: &Template, settings: &Settings) -> Result<AccountReport> {
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
    use super::*;

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
