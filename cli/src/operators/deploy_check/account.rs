//! The state of an AWS account or an emulator, and the checks that need it.

use anyhow::Result;
use deployment::check::{AccountCheck, SkippedCheck};
use deployment::finding::Finding;
use deployment::indexes::{self, TableIndexes};
use deployment::quotas::{self, Quota};
use deployment::settings::Settings;
use deployment::template::{Parameters, Template};
use deployment::{parameters, updates};

use crate::aws::inventory::{self, Inventory};
use crate::aws::session::{self, Session};
use crate::aws::tables;

const ENVIRONMENT: &str = "Environment";

/// The state of an account. `None` means not queried; `Err` has the reason why a query failed.
pub(super) struct Account {
    quota: Option<Result<Quota, String>>,
    /// Parameters of the stack; the inner `None` means that the stack does not exist.
    stack: Option<Result<Option<Parameters>, String>>,
    /// Indexes of the stack's tables; none if the stack does not exist.
    indexes: Option<Result<TableIndexes, String>>,
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
        Self { quota: None, stack: None, indexes: None }
    }

    /// Returns an account of which no query succeeds, for this reason.
    fn unknown(reason: &str) -> Self {
        let reason = || reason.to_owned();
        Self { quota: Some(Err(reason())), stack: Some(Err(reason())), indexes: Some(Err(reason())) }
    }

    /// Queries AWS, or the emulator at `endpoint`. The queries are independent: one can fail, because it is not
    /// permitted or the emulator does not support it, and the other succeed.
    pub(super) fn query(endpoint: Option<&str>, stack: Option<&str>) -> Self {
        let session = match Session::open(endpoint) {
            Ok(session) => session,
            Err(error) => return Self::unknown(&reason(error)),
        };
        let quota = session.block_on(session::concurrent_executions(session.config()));
        let deployed = |stack: Option<Inventory>| stack.filter(Inventory::is_deployed).map(|stack| stack.parameters);
        let parameters = match stack {
            Some(name) => session.block_on(inventory::describe(session.config(), name)).map(deployed).map_err(reason),
            None => Err("the stack has no name".to_owned()),
        };
        let indexes = match (stack, &parameters) {
            (Some(name), Ok(Some(_))) => session.block_on(tables::indexes(session.config(), name)).map_err(reason),
            (_, Ok(_)) => Ok(TableIndexes::new()),
            (_, Err(cause)) => Err(cause.clone()),
        };
        Self { quota: Some(quota.map_err(reason)), stack: Some(parameters), indexes: Some(indexes) }
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
        match &self.indexes {
            Some(Ok(deployed)) => report.findings.extend(indexes::findings(template, settings, deployed)),
            Some(Err(reason)) => skip(AccountCheck::Indexes, Some(reason.clone())),
            None => skip(AccountCheck::Indexes, None),
        }
        Ok(report)
    }
}

fn reason(error: anyhow::Error) -> String {
    format!("{error:#}")
}

#[cfg(test)]
mod tests {
    use deployment::finding::Severity;

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
  Jobs:
    Type: AWS::DynamoDB::Table
    Properties: { GlobalSecondaryIndexes: [{ IndexName: day }, { IndexName: due }] }
";

    fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Parameters {
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    fn check(account: &Account, parameters: Parameters) -> Result<AccountReport> {
        let deployed = account.stack_parameters().cloned().unwrap_or_default();
        account.check(&Template::parse(TEMPLATE)?, &Settings { parameters, deployed, ..Settings::default() })
    }

    fn first_deployment(quota: u64) -> Account {
        let quota = Quota::without_reservations(quota);
        Account { quota: Some(Ok(quota)), stack: Some(Ok(None)), indexes: Some(Ok(TableIndexes::new())) }
    }

    /// Returns an account whose stack has these parameters, and a table with these indexes.
    fn deployed_stack(quota: u64, parameters: Parameters, indexes: &[&str]) -> Account {
        let indexes = indexes.iter().map(|name| (*name).to_owned()).collect();
        let indexes = TableIndexes::from([("Jobs".to_owned(), indexes)]);
        Account { stack: Some(Ok(Some(parameters))), indexes: Some(Ok(indexes)), ..first_deployment(quota) }
    }

    #[test]
    fn a_check_is_skipped_if_its_query_failed_or_was_not_made() -> Result<()> {
        let skipped = |reason: Option<&str>| {
            [AccountCheck::Quota, AccountCheck::DataLoss, AccountCheck::Indexes]
                .map(|check| SkippedCheck { check, reason: reason.map(str::to_owned) })
        };
        let unknown = Account::unknown("no credentials");
        assert_eq!(check(&unknown, Parameters::new())?.skipped, skipped(Some("no credentials")));
        assert_eq!(check(&Account::offline(), Parameters::new())?.skipped, skipped(None));
        Ok(())
    }

    #[test]
    fn the_quota_is_not_checked_for_an_unknown_environment() -> Result<()> {
        let account = first_deployment(10);
        let report = check(&account, pairs([("Environment", "smal")]))?;
        let reason = Some("Environment is not allowed".to_owned());
        assert_eq!(report.skipped, [SkippedCheck { check: AccountCheck::Quota, reason }]);
        Ok(())
    }

    #[test]
    fn quota_and_data_loss_are_checked_with_the_values_that_the_stack_keeps() -> Result<()> {
        let deployed = pairs([("Environment", "small"), ("RetentionDays", "14")]);
        let account = deployed_stack(1000, deployed, &["day", "due"]);
        let report = check(&account, pairs([("RetentionDays", "7")]))?;
        let locations: Vec<_> = report.findings.iter().map(|finding| finding.location.as_str()).collect();
        assert_eq!(locations, ["RetentionDays"]);
        assert!(report.skipped.is_empty() && !account.is_first_deployment());
        let first = first_deployment(10);
        assert!(first.is_first_deployment());
        assert_eq!(check(&first, pairs([("RetentionDays", "7")]))?.findings[0].location, "account");
        Ok(())
    }

    #[test]
    fn an_update_that_adds_two_indexes_is_an_error_and_a_first_deployment_with_both_is_none() -> Result<()> {
        let rows = [
            (first_deployment(1000), 0),
            (deployed_stack(1000, Parameters::new(), &["due"]), 0),
            (deployed_stack(1000, Parameters::new(), &[]), 1),
        ];
        for (account, expected) in rows {
            let findings = check(&account, Parameters::new())?.findings;
            let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
            assert_eq!(errors.map(|finding| finding.location.as_str()).collect::<Vec<_>>(), vec!["Jobs"; expected]);
        }
        Ok(())
    }

    #[test]
    fn what_other_functions_have_reserved_is_not_available_to_the_stack() -> Result<()> {
        let quota = Some(Ok(Quota { total: 1000, unreserved: 200 }));
        let report = check(&Account { quota, ..first_deployment(0) }, Parameters::new())?;
        assert_eq!((report.findings.len(), report.findings[0].severity), (1, Severity::Error));
        Ok(())
    }
}
