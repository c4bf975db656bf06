//! Faults of an HTTPS endpoint, each of which occurs once: before and after it has processed the batch, in its answer, and
//! while it cannot be reached.

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::watch::Watch;
use serde_json::json;

use super::effects::{ITEMS, Processed};
use super::handled::{Handled, Target, create, run_all};
use super::handlers::{Handlers, handlers};
use super::images::{IMAGES, run_images};
use super::jobs::{Outcome, record_outcome, sweeping};
use super::server::wait_until;

/// The faults of batches, each with the number of times that the batch was processed.
const FAULTS: [(&str, u64); 14] = [
    ("reset", 0),
    ("lost", 1),
    ("slow", 1),
    ("drip", 1),
    ("cut", 1),
    ("text", 1),
    ("large", 1),
    ("307", 0),
    ("404", 0),
    ("410", 0),
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
    record_outcome("HTTPS endpoint stopped, then with a wrong certificate", &2, &outcome, command);
    let outcome = Outcome::of(3, gone(&handlers));
    record_outcome("HTTPS endpoint that answers 410 for one item", &1, &outcome, command);
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

/// Runs a job with an item for which the endpoint answers 410: it fails alone.
fn gone(handlers: &Handlers) -> Result<Vec<String>> {
    let (name, content) = (Target::Endpoint.job_type(), handlers.content(Target::Endpoint));
    let mut once = content.clone();
    once["tries"] = 1.into();
    handlers.activate(name, &once)?;
    let items: Vec<_> = ["ok", "gone", "ok"].iter().map(|action| json!({ "id": action, "action": action })).collect();
    let options = json!({ "effects": handlers.effects()? });
    let id = create(&handlers.operator, &json!({ "jobType": name, "items": items, "options": options }))?;
    let job = Watch::new(&handlers.stack, &id).with_client(&handlers.operator).end()?;
    let failures = handlers.operator.get(&format!("/api/jobs/{id}/failures"))?.expect(200)?;
    handlers.activate(name, &content)?;
    let failure = &failures["failures"][0];
    let counts = json!({ "succeeded": 2, "failed": 1, "skipped": 0, "pending": 0 });
    let is_alone = job["counts"] == counts && failure["number"] == 2 && failure["code"] == "handler_failed";
    Ok(if is_alone { Vec::new() } else { vec![format!("job {id}: {}, {failures}", job["counts"])] })
}

/// Stops the endpoint during a job, starts it with a wrong certificate when the job waits for it, and then with its own.
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
        let next_try = || -> Result<_> { Ok(handlers.stack.client.job(&job.id)?["waitingFor"]["nextTry"].clone()) };
        let (calls, before) = (job.calls()?, next_try()?);
        handlers.serve_with_a_wrong_certificate()?;
        wait_until("a ping is refused", || Ok(next_try()? != before))?;
        ensure!(job.calls()? == calls, "an endpoint with a wrong certificate was called");
        handlers.stop_serving();
        handlers.serve().context("the endpoint does not start")?;
        // The batches that were processed when it was stopped.
        let document = job.end()?;
        job.differences(&document, Processed::UpToMore(1))
    })
}
