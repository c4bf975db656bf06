//! Faults for one job on a stack that other tests use at the same time. Rules are added, never replaced, and each
//! rule matches the requests of its own job by their content.

use anyhow::{Context, Result, ensure};
use longshore_domain::ids::JobId;
use serde_json::{Value, json};

use super::faults::Faults;
use super::process::agent;

/// An active rule.
#[derive(Debug)]
pub struct Rule<'a> {
    faults: &'a Faults,
    id: u64,
}

impl Rule<'_> {
    /// Number of calls that the rule has matched.
    ///
    /// # Errors
    /// If the proxy does not answer.
    pub fn fired(&self) -> Result<u64> {
        let rules: Value =
            agent().get(format!("{}/_microburst/rules", self.faults.endpoint)).call()?.body_mut().read_json()?;
        let mut rules = rules.as_array().into_iter().flatten();
        let own = rules.find(|rule| rule["id"] == self.id).context("the rule is gone")?;
        own["fired_count"].as_u64().with_context(|| format!("the proxy does not count: {own}"))
    }
}

impl Faults {
    /// Adds a rule to the active ones.
    ///
    /// # Errors
    /// If the proxy refuses it.
    pub fn add(&self, rule: &Value) -> Result<Rule<'_>> {
        let mut answer = agent().patch(format!("{}/_microburst/rules", self.endpoint)).send_json([rule])?;
        let text = answer.body_mut().read_to_string()?;
        ensure!(answer.status().is_success(), "the fault proxy refused {rule}: {text}");
        let rules: Value = serde_json::from_str(&text)?;
        let id = rules[0]["id"].as_u64().with_context(|| format!("the new rule has no id: {text}"))?;
        Ok(Rule { faults: self, id })
    }

    /// Adds a rule: the next `times` commits of this job's chunks are executed, and their replies are lost.
    ///
    /// # Errors
    /// If the proxy refuses the rule.
    pub fn lose_commit_replies(&self, job: JobId, times: u32) -> Result<Rule<'_>> {
        let body = format!("Key.PK.S == 'JOB#{job}' && starts_with(Key.SK.S, 'GROUP#')");
        self.add(&json!({
            "service": "dynamodb", "operation": "UpdateItem", "body": body, "times": times,
            "response": { "abort_bytes": 0 },
        }))
    }

    /// Adds a rule for the next batch of chunk messages whose rows contain `marker`. `effect` has the rule's members.
    ///
    /// # Errors
    /// If the proxy refuses the rule.
    pub fn on_chunks_with(&self, marker: &str, effect: &Value) -> Result<Rule<'_>> {
        let mut rule = json!({
            "service": "sqs", "operation": "SendMessageBatch", "times": 1,
            "body": format!("contains(Entries[0].MessageBody, '{marker}')"),
        });
        if let (Some(rule), Some(effect)) = (rule.as_object_mut(), effect.as_object()) {
            rule.extend(effect.clone());
        }
        self.add(&rule)
    }
}
