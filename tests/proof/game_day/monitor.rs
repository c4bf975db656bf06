//! The sweeper's minutes, and the part of CloudWatch: the metrics that it makes of the functions' logs, of the queues
//! and of the calls of the API, and the alarms of the template over them.
//!
//! A minute passes as a second: the sweeper runs each second, and the periods of alarms are divided by 60.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deployment::template::{Parameters, Template};
use longshore_domain::timestamp::Timestamp;
use longshore_tests::harness::stack::Stack;

use super::TEMPLATE;
use super::cloudwatch::{CloudWatch, of_api, of_queue};
use super::control::Control;
use super::expectations::Signal;

/// A minute.
const MINUTE: Duration = Duration::from_secs(1);

/// Pause between two observations: there is one in each minute.
const PAUSE: Duration = Duration::from_millis(600);

/// Age in milliseconds from which on log events are complete.
const LOG_LAG_MS: i64 = 500;

/// Age in milliseconds from which on samples are complete.
const LAG_MS: i64 = 2_000;

/// Dead-letter queues: output, and id in the template.
const DEAD_LETTERS: [(&str, &str); 3] = [
    ("CreateJobDlqUrl", "CreateJobDeadLetters"),
    ("ChunkDlqUrl", "ChunkDeadLetters"),
    ("CompleteJobDlqUrl", "CompleteJobDeadLetters"),
];

/// Metrics of queues: visible and hidden messages.
const DEPTHS: [&str; 2] = ["ApproximateNumberOfMessagesVisible", "ApproximateNumberOfMessagesNotVisible"];

/// The monitor of a stack.
pub(super) struct Monitor<'a> {
    stack: &'a Stack,
    cloudwatch: Mutex<CloudWatch>,
    /// Metrics of log filters, by the id of the function.
    filters: BTreeMap<String, String>,
    read_until_ms: AtomicI64,
    invalid_lines: Mutex<Vec<String>>,
    is_over: AtomicBool,
}

impl<'a> Monitor<'a> {
    /// The monitor of a stack with these parameters.
    pub(super) fn new(stack: &'a Stack, parameters: &[(&str, &str)], control: &Control) -> Result<Self> {
        let mut all = Parameters::from([("Environment".to_owned(), "local".to_owned())]);
        all.extend(parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        Ok(Self {
            stack,
            cloudwatch: Mutex::new(CloudWatch::new(&all, control)?),
            filters: filters(&Template::parse(TEMPLATE)?)?,
            read_until_ms: AtomicI64::new(Timestamp::now().0),
            invalid_lines: Mutex::default(),
            is_over: AtomicBool::new(false),
        })
    }

    /// Returns a value that ends [`Self::sweep`] and [`Self::observe`] when it is dropped.
    pub(super) fn end_when_dropped(&self) -> End<'_> {
        End(&self.is_over)
    }

    /// Runs the sweeper each minute, while its schedule is enabled.
    pub(super) fn sweep(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            // A sweep can fail because of a fault; the next one follows.
            if self.stack.is_scheduled().is_ok_and(|is_scheduled| is_scheduled) {
                drop(self.stack.sweep());
            }
            thread::sleep(MINUTE);
        }
    }

    /// Reads logs and queues.
    pub(super) fn observe(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            if let Err(error) = self.collect() {
                eprintln!("the monitor does not see everything: {error:#}");
            }
            thread::sleep(PAUSE);
        }
    }

    fn collect(&self) -> Result<()> {
        let until_ms = Timestamp::now().0 - LOG_LAG_MS;
        let from_ms = self.read_until_ms.load(Ordering::Relaxed);
        let logs = self.stack.events_of_functions(from_ms, until_ms)?;
        self.read_until_ms.store(until_ms, Ordering::Relaxed);
        for (function, events) in &logs {
            let filter = self.filters.get(function).map(String::as_str);
            if let Err(error) = self.cloudwatch().samples.add_log(function, filter, events) {
                self.invalid_lines().push(format!("{error:#}"));
            }
        }
        for (output, id) in DEAD_LETTERS {
            let depth = self.stack.depth(output)?;
            for (name, messages) in DEPTHS.into_iter().zip(depth) {
                self.cloudwatch().samples.add(of_queue(name, id), Timestamp::now().0, messages as f64);
            }
        }
        Ok(())
    }

    /// Counts a call of the API; `None` is one without a response.
    pub(super) fn count_call(&self, status: Option<u16>) {
        let (now_ms, is_error) = (Timestamp::now().0, status.is_none_or(|status| status >= 500));
        let mut cloudwatch = self.cloudwatch();
        cloudwatch.samples.add(of_api("Count"), now_ms, 1.0);
        cloudwatch.samples.add(of_api("5xx"), now_ms, if is_error { 1.0 } else { 0.0 });
    }

    /// Passes the cloudwatch and the time until which its samples are complete.
    pub(super) fn with_cloudwatch<T>(&self, look: impl FnOnce(&CloudWatch, i64) -> T) -> T {
        look(&self.cloudwatch(), Timestamp::now().0 - LAG_MS)
    }

    /// Returns true if the signal is there.
    pub(super) fn sees(&self, signal: Signal) -> bool {
        self.with_cloudwatch(|cloudwatch, at_ms| signal.is_on(cloudwatch, at_ms))
    }

    /// Returns true if no alarm is raised.
    pub(super) fn is_quiet(&self) -> bool {
        self.raised().is_empty()
    }

    fn raised(&self) -> Vec<String> {
        self.with_cloudwatch(|cloudwatch, at_ms| {
            cloudwatch.raised(at_ms).into_iter().map(|rule| rule.id.clone()).collect()
        })
    }

    /// Sets the alarms of the stack to the states that CloudWatch would give them.
    pub(super) fn present(&self) -> Result<()> {
        let raised = self.raised();
        let deployed: Vec<_> =
            self.with_cloudwatch(|cloudwatch, _| cloudwatch.deployed().map(|rule| rule.id.clone()).collect());
        for id in deployed {
            self.stack.set_alarm(&id, if raised.contains(&id) { "ALARM" } else { "OK" })?;
        }
        Ok(())
    }

    /// Lists the alarms that are raised, and the calls of the API in the last hour, for an error.
    pub(super) fn describe(&self) -> String {
        let raised = self.raised();
        let raised = if raised.is_empty() { "none".to_owned() } else { raised.join(", ") };
        let calls = self.with_cloudwatch(|cloudwatch, at_ms| cloudwatch.calls(12, at_ms));
        let calls: Vec<_> = calls.iter().map(|[errors, calls]| format!("{errors} of {calls}")).collect();
        format!("raised alarms: {raised}; failed calls in each five minutes, the newest first: {}", calls.join(", "))
    }

    /// Lines in the embedded metric format of which CloudWatch would make no metrics.
    pub(super) fn invalid_lines(&self) -> MutexGuard<'_, Vec<String>> {
        self.invalid_lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cloudwatch(&self) -> MutexGuard<'_, CloudWatch> {
        self.cloudwatch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the threads of a monitor when it is dropped, also by a panic.
pub(super) struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The metrics of the log filters of a template, by the id of the function. Each counts records at level ERROR.
fn filters(template: &Template) -> Result<BTreeMap<String, String>> {
    let filters = template.of_type("AWS::Logs::MetricFilter").map(|(id, filter)| {
        ensure!(filter["FilterPattern"] == "{ $.level = \"ERROR\" }", "the pattern of {id} is not evaluated");
        let group = filter["LogGroupName"]["Ref"].as_str().and_then(|group| group.strip_suffix("Logs"));
        let name = filter["MetricTransformations"][0]["MetricName"].as_str();
        let (group, name) = group.zip(name).with_context(|| format!("{id} has no log group or no metric"))?;
        Ok((group.to_owned(), name.to_owned()))
    });
    filters.collect()
}

#[test]
fn the_filters_of_the_template_belong_to_functions() {
    let filters = Template::parse(TEMPLATE).and_then(|template| filters(&template));
    let filters = filters.unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(filters.get("Sweep").map(String::as_str), Some("SweepFailures"));
    assert_eq!(filters.get("JobsApi").map(String::as_str), Some("ServerErrors"));
}
