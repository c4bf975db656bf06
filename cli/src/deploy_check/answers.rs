//! Queries of `deploy-check` to AWS or to an emulator.

use anyhow::Result;
use deployment::finding::Finding;
use deployment::settings::Settings;
use deployment::template::{Parameters, Template};
use deployment::verdict::{NotChecked, Part};
use deployment::{parameters, quotas, updates};

use crate::aws::session::Session;
use crate::aws::stack;

const ENVIRONMENT: &str = "Environment";

/// Answers of an account. `Err` is the reason of a failed query; `None` means not queried.
pub(super) struct Answers {
    quota: Option<Result<u64, String>>,
    /// Parameters of the stack; the inner `None` means that there is no such stack.
    stack: Option<Result<Option<Parameters>, String>>,
}

/// Findings that depend on the answers, and the checks that were skipped.
pub struct Asked {
    /// Findings in quota and running stack.
    pub found: Vec<Finding>,
    /// Checks without an answer.
    pub not_checked: Vec<NotChecked>,
}

impl Answers {
    /// No answers, for `--offline`.
    pub(super) fn none() -> Self {
        Self { quota: None, stack: None }
    }

    /// Queries AWS, or the emulator at `endpoint`. If one call is not permitted, or not supported by the emulator, the
    /// other still has an answer.
    pub(super) fn ask(endpoint: Option<&str>, stack: Option<&str>) -> Self {
        let session = match Session::open(endpoint) {
            Ok(session) => session,
            Err(error) => {
                let reason = reason(error);
                return Self { quota: Some(Err(reason.clone())), stack: Some(Err(reason)) };
            }
        };
        let quota = session.wait(stack::concurrent_executions(session.config()));
        let parameters = match stack {
            Some(name) => session.wait(stack::parameters(session.config(), name)).map_err(reason),
            None => Err("no stack is named".to_owned()),
        };
        Self { quota: Some(quota.map_err(reason)), stack: Some(parameters) }
    }

    /// Parameters of the running stack; `None` if there is no stack, or its existence is unknown.
    pub(super) fn running(&self) -> Option<&Parameters> {
        self.stack.as_ref()?.as_ref().ok()?.as_ref()
    }

    /// Returns true if the account has no stack of this name.
    pub(super) fn is_first_deployment(&self) -> bool {
        matches!(self.stack, Some(Ok(None)))
    }

    /// Checks these settings, which include the parameters of the running stack.
    pub(super) fn check(&self, template: &Template, settings: &Settings) -> Result<Asked> {
        let given = settings.effective(template);
        let mut asked = Asked { found: Vec::new(), not_checked: Vec::new() };
        let mut not_checked = |part, reason| asked.not_checked.push(NotChecked { part, reason });
        match &self.quota {
            Some(Ok(quota)) if parameters::is_accepted(template, &given, ENVIRONMENT) => {
                let environment = template.parameter(ENVIRONMENT, &given).unwrap_or_default();
                let at_once = quotas::mappings_at_once(template, &given)?;
                asked.found.extend(quotas::findings(at_once, *quota, &environment));
            }
            Some(Ok(_)) => not_checked(Part::Quota, Some(format!("{ENVIRONMENT} is not allowed"))),
            Some(Err(reason)) => not_checked(Part::Quota, Some(reason.clone())),
            None => not_checked(Part::Quota, None),
        }
        match &self.stack {
            Some(Ok(_)) => asked.found.extend(updates::findings(template, settings)),
            Some(Err(reason)) => not_checked(Part::Losses, Some(reason.clone())),
            None => not_checked(Part::Losses, None),
        }
        Ok(asked)
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

    fn check(answers: &Answers, parameters: Parameters) -> Result<Asked> {
        let running = answers.running().cloned().unwrap_or_default();
        answers.check(&Template::parse(TEMPLATE)?, &Settings { parameters, running, ..Settings::default() })
    }

    #[test]
    fn a_part_without_an_answer_is_not_checked() -> Result<()> {
        let reason = || "no credentials".to_owned();
        let answers = Answers { quota: Some(Err(reason())), stack: Some(Err(reason())) };
        let parts = |reason: Option<&str>| {
            [Part::Quota, Part::Losses].map(|part| NotChecked { part, reason: reason.map(str::to_owned) })
        };
        assert_eq!(check(&answers, Parameters::new())?.not_checked, parts(Some("no credentials")));
        assert_eq!(check(&Answers::none(), Parameters::new())?.not_checked, parts(None));
        Ok(())
    }

    #[test]
    fn no_quota_is_checked_for_an_environment_that_is_not_there() -> Result<()> {
        let answers = Answers { quota: Some(Ok(10)), stack: Some(Ok(None)) };
        let asked = check(&answers, pairs([("Environment", "smal")]))?;
        let reason = Some("Environment is not allowed".to_owned());
        assert_eq!(asked.not_checked, [NotChecked { part: Part::Quota, reason }]);
        Ok(())
    }

    #[test]
    fn quota_and_losses_are_checked_with_the_values_that_the_stack_keeps() -> Result<()> {
        let running = pairs([("Environment", "small"), ("RetentionDays", "14")]);
        let answers = Answers { quota: Some(Ok(1000)), stack: Some(Ok(Some(running))) };
        let asked = check(&answers, pairs([("RetentionDays", "7")]))?;
        assert_eq!(asked.found.iter().map(|finding| finding.place.as_str()).collect::<Vec<_>>(), ["RetentionDays"]);
        assert!(asked.not_checked.is_empty() && !answers.is_first_deployment());
        let first = Answers { quota: Some(Ok(10)), stack: Some(Ok(None)) };
        assert!(first.is_first_deployment());
        assert_eq!(check(&first, pairs([("RetentionDays", "7")]))?.found[0].place, "account");
        Ok(())
    }
}
