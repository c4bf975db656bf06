//! A probe row with its behavior, and the probe's job types, which differ in their limits and their input.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, abort, id};
use std::time::Duration;

use longshore::handler::{Input, ItemKey, JobContext, JobType, Outcome, Rejection, TypeLimits};
use longshore_domain::job::Tolerance;
use serde_json::Value;

/// A row: its behavior, its duration, the number of rounds in which it is transient, the file that records its calls,
/// and the size of its output.
#[derive(serde::Deserialize)]
pub struct Row {
    action: Action,
    millis: Option<u64>,
    rounds: Option<u32>,
    mark: Option<PathBuf>,
    output: Option<usize>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Ok,
    Skip,
    Reject,
    /// Rejected on the first call of this row, by the calls in `mark`; ok on later ones.
    Recover,
    /// `Retry` in the first `rounds` rounds, then ok.
    Retry,
    Fatal,
    /// The handler panics.
    Panic,
    /// The process aborts, on each call.
    Abort,
    /// The process is killed on the first call of this row, or on its first `rounds` calls, by the calls in `mark`; ok
    /// on later ones.
    Kill,
}

impl Row {
    /// Behaves as the row requests.
    async fn process(self, job: &JobContext, key: ItemKey) -> Outcome {
        if let Some(millis) = self.millis {
            tokio::time::sleep(Duration::from_millis(millis)).await;
        }
        let calls = self.record_call(key.number);
        match self.action {
            Action::Ok => Outcome::Ok(()),
            Action::Skip => Outcome::Skip { reason: "asked to".into() },
            Action::Reject => rejected(),
            Action::Recover if calls == Some(0) => rejected(),
            Action::Retry if job.round < self.rounds.unwrap_or(0) => {
                Outcome::Retry { after: None, reason: "asked to".into() }
            }
            Action::Retry => Outcome::Ok(()),
            Action::Fatal => Outcome::Fatal(Rejection::new("asked_to_stop", None, "the row asked the job to stop")),
            Action::Panic => panicking(),
            Action::Abort => abort(),
            Action::Kill if calls.is_some_and(|calls| calls < self.rounds.unwrap_or(1)) => killed(),
            Action::Kill | Action::Recover => Outcome::Ok(()),
        }
    }

    /// Behaves as the row requests, and records start and end in a file beside `mark`: `in`, `out`.
    async fn process_recorded(self, job: &JobContext, key: ItemKey) -> Outcome {
        let path = self.mark.as_ref().map(|mark| mark.with_extension("inside"));
        let record = |word| path.as_ref().is_none_or(|path| append(path, word));
        record("in");
        let outcome = self.process(job, key).await;
        record("out");
        outcome
    }

    /// Records the call in the row's file. Returns the number of earlier calls.
    fn record_call(&self, item: u64) -> Option<u32> {
        let path = self.mark.as_ref()?;
        let item = item.to_string();
        let recorded = std::fs::read_to_string(path).unwrap_or_default();
        let calls = recorded.lines().filter(|line| *line == item).count();
        append(path, &item).then(|| u32::try_from(calls).unwrap_or(u32::MAX))
    }
}

/// Appends a line in one write: the kernel appends it as a whole, even with concurrent writers.
fn append(path: &Path, line: &str) -> bool {
    let file = std::fs::File::options().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes())).is_ok()
}

fn rejected() -> Outcome {
    Outcome::reject("asked_to", Some("action"), "the row asked to be rejected")
}

#[allow(clippy::panic, reason = "the row requests a panic")]
fn panicking() -> Outcome {
    panic!("the row requests a panic")
}

/// Kills the process with SIGKILL, which no code can intercept.
fn killed() -> Outcome {
    let killed = Command::new("sh").args(["-c", "kill -9 \"$0\"", &id().to_string()]).status();
    tracing::error!(?killed, "this process should be dead");
    abort()
}

/// Options of the job, as clients send them.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Options {
    max_failed: Option<u64>,
    max_failed_percent: Option<f64>,
}

/// Small chunks, few retries.
const LIMITS: TypeLimits = TypeLimits { chunk_items: 50, batch_items: 10, item_retries: 2, ..TypeLimits::DEFAULT };

/// A job type that processes a file of rows.
pub struct Probe;

impl JobType for Probe {
    const NAME: &'static str = "probe";
    const LIMITS: TypeLimits = LIMITS;
    type Options = Options;
    type Item = Row;
    type Output = ();

    fn tolerance(&self, options: &Options) -> Tolerance {
        let (max_failed, max_failed_percent) = (options.max_failed, options.max_failed_percent);
        Tolerance { max_failed, max_failed_percent, ..Tolerance::default() }
    }

    async fn process(&self, job: &JobContext, _: &Options, key: ItemKey, row: Row) -> Outcome {
        row.process(job, key).await
    }
}

/// [`Probe`] with chunks of the default size, for many rows.
pub struct Bulk;

impl JobType for Bulk {
    const NAME: &'static str = "probe-bulk";
    type Options = Options;
    type Item = Row;
    type Output = ();

    async fn process(&self, job: &JobContext, _: &Options, key: ItemKey, row: Row) -> Outcome {
        row.process(job, key).await
    }
}

/// [`Probe`] with small chunks and a concurrency limit of two. Each row records the start and the end of its
/// processing.
pub struct Limited;

impl JobType for Limited {
    const NAME: &'static str = "probe-limited";
    const LIMITS: TypeLimits = TypeLimits { chunk_items: 5, chunks_at_once: Some(2), ..LIMITS };
    type Options = Options;
    type Item = Row;
    type Output = ();

    async fn process(&self, job: &JobContext, _: &Options, key: ItemKey, row: Row) -> Outcome {
        row.process_recorded(job, key).await
    }
}

/// [`Probe`] with a time limit of four seconds.
pub struct Brief;

impl JobType for Brief {
    const NAME: &'static str = "probe-brief";
    const LIMITS: TypeLimits = TypeLimits { job_time_limit_s: Some(4), ..LIMITS };
    type Options = Options;
    type Item = Row;
    type Output = ();

    async fn process(&self, job: &JobContext, _: &Options, key: ItemKey, row: Row) -> Outcome {
        row.process(job, key).await
    }
}

/// [`Probe`] with the number of the row as its output, followed by as many characters as the row requests.
pub struct WithOutput;

impl JobType for WithOutput {
    const NAME: &'static str = "probe-output";
    const LIMITS: TypeLimits = LIMITS;
    type Options = Options;
    type Item = Row;
    type Output = Value;

    async fn process(&self, job: &JobContext, _: &Options, key: ItemKey, row: Row) -> Outcome<Value> {
        let (number, more) = (key.number, row.output);
        let output = more.map_or(Value::from(number), |more| format!("{number}{}", "x".repeat(more)).into());
        row.process(job, key).await.and_then(|()| Ok(output))
    }
}

/// A job type without a file: the options are its one row.
pub struct Once;

impl JobType for Once {
    const NAME: &'static str = "probe-once";
    const INPUT: Input = Input::Options;
    const LIMITS: TypeLimits = LIMITS;
    type Options = Value;
    type Item = Row;
    type Output = ();

    async fn process(&self, job: &JobContext, _: &Value, key: ItemKey, row: Row) -> Outcome {
        row.process(job, key).await
    }
}
