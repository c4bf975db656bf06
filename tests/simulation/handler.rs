//! A job type whose rows say what becomes of them, in chunks of three.

use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Rejection, TypeLimits};
use longshore_domain::job::Tolerance;

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

/// A file of these rows.
pub(crate) fn csv_of(rows: &[usize]) -> String {
    let lines = rows.iter().zip(1..).map(|(action, n)| format!("{n},{}\n", ACTIONS[*action]));
    std::iter::once("id,action\n".to_owned()).chain(lines).collect()
}
