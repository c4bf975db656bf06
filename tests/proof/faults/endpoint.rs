//! Faults of an HTTPS endpoint, each of which occurs once: before and after it has processed the batch, in its answer, and
//! while it cannot be reached.

use anyhow::{Context, Result, ensure};

use super::effects::{ITEMS, Processed};
use super::handled::{Handled, Target, run_all};
use super::handlers::{Handlers, handlers};
use super::images::{IMAGES, run_images};
use super::jobs::{Outcome, record_outcome, sweeping};
use super::server::wait_until;

/// The faults of batches, each with the number of times that the batch was processed.
const FAULTS: [(&str, u64); 12] = [
    ("reset", 0),
    ("lost", 1),
    ("slow", 1),
    ("drip", 1),
    ("cut", 1),
    ("text", 1),
    ("307", 0),
    ("404", 0),
    ("413", 0),
    ("429", 0),
    ("500", 0),
    ("503", 0),
];

/// The faults of downloads of images, which are fewer than the tries of an image.
const IMAGE_FAULTS: [&str; 4] = ["503", "cut", "reset", "429"];

/// Maximum number of jobs until each fault has occurred.
const JOBS: usize = 4;

#[test]
fn with_every_fault_of_an_endpoint_every_item_is_counted_as_it_said() {
    let Some(handlers) = handlers() else { return };
    let (outcome, count) = with_faults(&handlers).unwrap_or_else(|error| panic!("{error:?}"));
    let command = "cargo test -p longshore-tests --test proof with_every_fault_of_an_endpoint";
    record_outcome("faults of an HTTPS endpoint", &count, &outcome, command);
    let outcome = Outcome::of(ITEMS, stopped(&handlers));
    record_outcome("HTTPS endpoint stopped and started", &1, &outcome, command);
}

/// Runs jobs until each fault has occurred. Returns the number of the faults.
fn with_faults(handlers: &Handlers) -> Result<(Outcome, usize)> {
    handlers.stack.faults()?.set(&[])?;
    let names: Vec<_> = (0..).zip(FAULTS).map(|(n, (fault, _))| format!("items-{n:02}-{fault}")).collect();
    let count = names.len() + IMAGE_FAULTS.len() + 1;
    let others = IMAGE_FAULTS.iter().map(|fault| format!("image-00-{fault}")).chain(["ping-00-503".into()]).collect();
    handlers.request_faults(&[names, others].concat())?;
    let more = FAULTS.iter().map(|(_, processed)| processed).sum();
    let mut outcome = Outcome::default();
    sweeping(&handlers.stack, || {
        outcome.add(Outcome::of(IMAGES, run_images(handlers)));
        for _ in 0..JOBS {
            outcome.add(run_all(handlers, &[Target::Endpoint], |_| Ok(Processed::UpToMore(more))));
            if handlers.missing_faults()?.is_empty() {
                return Ok(());
            }
        }
        outcome.violations.extend(handlers.missing_faults()?.iter().map(|name| format!("{name}: never occurred")));
        anyhow::Ok(())
    })?;
    Ok((outcome, count))
}

/// Stops the endpoint during a job, and starts it again when the job waits for it.
fn stopped(handlers: &Handlers) -> Result<Vec<String>> {
    sweeping(&handlers.stack, || {
        let job = Handled::start(handlers, Target::Endpoint)?;
        wait_until("the endpoint is called", || Ok(job.calls()? > 1))?;
        handlers.stop_serving();
        wait_until("the job waits for the endpoint", || {
            let document = handlers.stack.client.job(&job.id)?;
            ensure!(document["status"] == "running", "{document}");
            Ok(document["waitingFor"]["reason"] == "handler_unavailable")
        })?;
        handlers.serve().context("the endpoint does not start")?;
        // The batches that were processed when it was stopped.
        let document = job.end()?;
        job.differences(&document, Processed::UpToMore(1))
    })
}
