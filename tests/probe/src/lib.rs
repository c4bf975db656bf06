//! A job type whose rows say what should happen to them, so that a test can order any fault.

use std::time::Duration;

use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Rejection, TypeLimits};
use longshore_domain::job::Tolerance;

/// One row: what to do, how long it takes, and up to which round it is transient.
#[derive(serde::Deserialize)]
pub struct Row {
    action: Action,
    millis: Option<u64>,
    rounds: Option<u32>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Ok,
    Skip,
    Reject,
    /// `Retry` in the first `rounds` rounds, then ok.
    Retry,
    Fatal,
    /// The handler panics.
    Panic,
    /// The process dies.
    Abort,
}

/// What clients write as `options`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Options {
    max_failed: Option<u64>,
    max_failed_percent: Option<f64>,
}

/// The job type.
pub struct Probe;

impl JobType for Probe {
    const NAME: &'static str = "probe";
    const LIMITS: TypeLimits = TypeLimits { chunk_items: 50, batch_items: 10, item_retries: 2, ..TypeLimits::DEFAULT };
    type Options = Options;
    type Item = Row;

    fn tolerance(&self, options: &Options) -> Tolerance {
        Tolerance { max_failed: options.max_failed, max_failed_percent: options.max_failed_percent }
    }

    async fn process(&self, job: &JobContext, _: &Options, _: ItemKey, row: Row) -> Outcome {
        if let Some(millis) = row.millis {
            tokio::time::sleep(Duration::from_millis(millis)).await;
        }
        match row.action {
            Action::Ok => Outcome::Ok,
            Action::Skip => Outcome::Skip { reason: "asked to".into() },
            Action::Reject => Outcome::reject("asked_to", Some("action"), "the row asked to be rejected"),
            Action::Retry if job.round < row.rounds.unwrap_or(0) => Outcome::Retry { after: None, reason: "asked to".into() },
            Action::Retry => Outcome::Ok,
            Action::Fatal => Outcome::Fatal(Rejection::new("asked_to_stop", None, "the row asked the job to stop")),
            Action::Panic => die(),
            Action::Abort => std::process::abort(),
        }
    }
}

#[allow(clippy::panic, reason = "that is what the row asked for")]
fn die() -> Outcome {
    panic!("the row asked the handler to panic")
}
