//! Resource usage of the functions, from the last log line of each invocation, read from CloudWatch Logs after the
//! job.

use crate::state::State;
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Attempts at AWS calls by service and operation, such as `DynamoDB.UpdateItem`.
pub(super) type Calls = BTreeMap<String, u64>;

/// Pause between two reads of the logs: after a job has ended, its last functions still write their lines.
const QUIET: Duration = Duration::from_millis(300);

/// Maximum number of reads of a function's log until nothing is added any more.
const LOOKS: usize = 20;

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "invocation.duration_ms")]
    duration_ms: f64,
    #[serde(rename = "invocation.init_ms", default)]
    init_ms: f64,
    #[serde(rename = "invocation.max_rss_kib")]
    max_rss_kib: Option<u64>,
    #[serde(rename = "invocation.calls")]
    calls: Calls,
}

/// All invocations of one function.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage {
    pub(super) invocations: u64,
    /// Handler time plus the initialization of new processes; both are billed.
    pub(super) duration_ms: f64,
    /// Peak memory of the largest process.
    pub(super) max_rss_kib: u64,
    pub(super) calls: Calls,
}

impl Usage {
    pub(super) fn all_calls(&self) -> u64 {
        self.calls.values().sum()
    }
}

/// Usage by function.
pub(super) type ByFunction = BTreeMap<String, Usage>;

/// The functions' logs from a start time on.
pub(super) struct Logs<'a> {
    state: &'a State,
    from_ms: u64,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Page {
    events: Vec<Event>,
    next_token: Option<String>,
}

#[derive(Deserialize)]
struct Event {
    message: String,
}

impl<'a> Logs<'a> {
    /// Reads all log events from now on.
    pub(super) fn from_now(state: &'a State) -> Result<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        Ok(Self { state, from_ms: now.as_millis().try_into()? })
    }

    /// Waits until nothing more is written, then sums the usage of these functions.
    pub(super) fn usage<'f>(&self, functions: impl IntoIterator<Item = &'f String>) -> Result<ByFunction> {
        let mut all = ByFunction::new();
        for function in functions {
            let group = format!("/aws/lambda/{}", self.state.physical_name(function)?);
            let (mut usage, mut looks) = (self.read(&group)?, 1);
            loop {
                sleep(QUIET);
                let again = self.read(&group)?;
                looks += 1;
                if again.invocations == usage.invocations || looks == LOOKS {
                    break;
                }
                usage = again;
            }
            if usage.invocations > 0 {
                all.insert(function.clone(), usage);
            }
        }
        Ok(all)
    }

    /// Reads all pages of FilterLogEvents. A missing log group means that the function has never run.
    fn read(&self, group: &str) -> Result<Usage> {
        let (mut usage, mut token) = (Usage::default(), None);
        loop {
            let mut request = json!({ "logGroupName": group, "startTime": self.from_ms });
            if let Some(token) = token {
                request["nextToken"] = token;
            }
            let page = self.page(&request)?;
            for event in page.events {
                if let Ok(line) = serde_json::from_str(&event.message) {
                    usage.add(line);
                }
            }
            token = page.next_token.map(serde_json::Value::String);
            if token.is_none() {
                return Ok(usage);
            }
        }
    }

    fn page(&self, request: &serde_json::Value) -> Result<Page> {
        let config = ureq::Agent::config_builder().proxy(None).http_status_as_error(false).build();
        let mut answer = ureq::Agent::new_with_config(config)
            .post(format!("{}/", self.state.emulator_url))
            .header("X-Amz-Target", "Logs_20140328.FilterLogEvents")
            .header("Content-Type", "application/x-amz-json-1.1")
            .send(request.to_string())
            .context("reading logs got no answer")?;
        let text = answer.body_mut().with_config().limit(u64::MAX).read_to_string()?;
        serde_json::from_str(&text).with_context(|| format!("cannot make sense of {text}"))
    }
}

impl Usage {
    fn add(&mut self, line: Line) {
        self.invocations += 1;
        self.duration_ms += line.duration_ms + line.init_ms;
        self.max_rss_kib = self.max_rss_kib.max(line.max_rss_kib.unwrap_or(0));
        for (call, count) in line.calls {
            *self.calls.entry(call).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_add_up() -> Result<()> {
        let line = json!({
            "invocation.calls": { "S3.GetObject": 2 }, "invocation.duration_ms": 2.5, "invocation.init_ms": 1.5,
            "invocation.max_rss_kib": 9, "message": "invocation ended"
        });
        let mut usage = Usage::default();
        usage.add(serde_json::from_value(line.clone())?);
        usage.add(serde_json::from_value(line)?);
        assert_eq!((usage.invocations, usage.all_calls(), usage.max_rss_kib), (2, 4, 9));
        assert!((usage.duration_ms - 8.0).abs() < 1e-9);
        assert!(serde_json::from_str::<Line>("START RequestId: 1").is_err());
        Ok(())
    }
}
