//! Resource usage of the functions, from the last log line of each invocation, which is read from CloudWatch Logs after
//! the job.

use anyhow::Result;
use local_cloud::cloud::Cloud;
use local_cloud::state::State;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Number of attempts of AWS calls by service and operation, such as `DynamoDB.UpdateItem`.
pub(crate) type Calls = BTreeMap<String, u64>;

/// Time between two reads of a log, because the last functions write their lines after the job has ended.
const READ_INTERVAL: Duration = Duration::from_millis(300);

/// Maximum number of reads of a function's log.
const MAX_READS: usize = 20;

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

/// Resource usage of all invocations of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) invocations: u64,
    /// Time of the handler and of the initialization of new processes. Both are charged.
    pub(crate) duration_ms: f64,
    /// Peak memory of the largest process.
    pub(crate) max_rss_kib: u64,
    pub(crate) calls: Calls,
}

impl Usage {
    pub(crate) fn all_calls(&self) -> u64 {
        self.calls.values().sum()
    }
}

/// Usage by function.
pub(crate) type ByFunction = BTreeMap<String, Usage>;

/// The functions' logs since a start time.
pub(crate) struct Logs<'a> {
    cloud: Cloud,
    state: &'a State,
    from_ms: u64,
}

impl<'a> Logs<'a> {
    /// Starts now: later reads return the events after this call.
    pub(crate) fn from_now(state: &'a State) -> Result<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        Ok(Self { cloud: Cloud::new(&state.emulator_url)?, state, from_ms: now.as_millis().try_into()? })
    }

    /// Waits until the logs are complete. Returns the usage of these functions.
    pub(crate) fn usage<'f>(&self, functions: impl IntoIterator<Item = &'f String>) -> Result<ByFunction> {
        let mut usage_by_function = ByFunction::new();
        for function in functions {
            let group = format!("/aws/lambda/{}", self.state.physical_name(function)?);
            let (mut usage, mut reads) = (self.read(&group)?, 1);
            loop {
                sleep(READ_INTERVAL);
                let latest = self.read(&group)?;
                reads += 1;
                if latest.invocations == usage.invocations || reads == MAX_READS {
                    break;
                }
                usage = latest;
            }
            if usage.invocations > 0 {
                usage_by_function.insert(function.clone(), usage);
            }
        }
        Ok(usage_by_function)
    }

    /// Sums the lines of a log group. If the group does not exist, the function has never run.
    fn read(&self, group: &str) -> Result<Usage> {
        let mut usage = Usage::default();
        let events = match self.cloud.logs_since(group, self.from_ms) {
            Err(error) if format!("{error:#}").contains("ResourceNotFoundException") => Vec::new(),
            events => events?,
        };
        for line in events.iter().filter_map(|event| serde_json::from_str(event).ok()) {
            usage.add(line);
        }
        Ok(usage)
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
    use serde_json::json;

    #[test]
    fn the_usage_is_the_sum_of_the_lines() -> Result<()> {
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
