//! A job type whose rows say what becomes of them, in chunks of three.

use std::cell::Cell;

use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Rejection, TypeLimits};
use longshore_domain::job::Tolerance;

use crate::stepwise::Step;

/// What a row can ask for; the last one stops the job.
pub(crate) const ACTIONS: [&str; 6] = ["ok", "skip", "reject", "retry", "never", "fatal"];

#[derive(serde::Deserialize)]
pub(crate) struct Options {
    max_failed: Option<u64>,
}

#[derive(serde::Deserialize)]
pub(crate) struct Row {
    action: String,
}

pub(crate) struct Simulated;

impl JobType for Simulated {
    const NAME: &'static str = "simulated";
    const LIMITS: TypeLimits = TypeLimits { chunk_items: 3, batch_items: 2, item_retries: 2, ..TypeLimits::DEFAULT };
    type Options = Options;
    type Item = Row;

    fn tolerance(&self, options: &Options) -> Tolerance {
        Tolerance { max_failed: options.max_failed, max_failed_percent: None }
    }

    async fn process(&self, job: &JobContext, _: &Options, _: ItemKey, row: Row) -> Outcome {
        match row.action.as_str() {
            "ok" => Outcome::Ok,
            "skip" => Outcome::Skip { reason: "asked to".into() },
            "retry" if job.round > 0 => Outcome::Ok,
            "retry" | "never" => Outcome::Retry { after: None, reason: "busy".into() },
            "fatal" => Outcome::Fatal(Rejection::new("fatal", None, "asked to")),
            _ => Outcome::reject("asked_to", Some("action"), "asked to"),
        }
    }
}

/// The same, of which only so many chunks may run at once. Each item takes a step, in which others may run.
pub(crate) struct Limited;

/// Chunks of [`Limited`] that may run at once.
pub(crate) const AT_ONCE: u32 = 2;

thread_local! {
    static RUNNING: Cell<u32> = const { Cell::new(0) };
    static MOST: Cell<u32> = const { Cell::new(0) };
}

/// The most items that were with the handler at once since this was last asked: one of each chunk that runs.
pub(crate) fn take_most_at_once() -> u32 {
    MOST.take()
}

/// Items that are with the handler.
pub(crate) fn running() -> u32 {
    RUNNING.get()
}

/// An item that is with the handler, until this is dropped: at its end, or with its worker.
struct Inside;

impl Inside {
    fn enter() -> Self {
        RUNNING.set(RUNNING.get() + 1);
        MOST.set(MOST.get().max(RUNNING.get()));
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        RUNNING.set(RUNNING.get() - 1);
    }
}

impl JobType for Limited {
    const NAME: &'static str = "limited";
    const LIMITS: TypeLimits = TypeLimits { chunks_at_once: Some(AT_ONCE), ..Simulated::LIMITS };
    type Options = Options;
    type Item = Row;

    fn tolerance(&self, options: &Options) -> Tolerance {
        Simulated.tolerance(options)
    }

    async fn process(&self, job: &JobContext, options: &Options, key: ItemKey, row: Row) -> Outcome {
        let _inside = Inside::enter();
        Step(false).await;
        Simulated.process(job, options, key, row).await
    }
}

/// A file of these rows.
pub(crate) fn csv_of(rows: &[usize]) -> String {
    let lines = rows.iter().zip(1..).map(|(action, n)| format!("{n},{}\n", ACTIONS[*action]));
    std::iter::once("id,action\n".to_owned()).chain(lines).collect()
}
