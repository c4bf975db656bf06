//! Losses in jobs of registered types: killed processes of functions, a handler among them, and messages of their queue
//! that are lost, doubled, and late.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Result, ensure};
use longshore_domain::random::nonce;
use longshore_tests::harness::handlers::Delivery;

use super::effects::{ITEMS, Processed};
use super::handled::{Handled, Target, run_all};
use super::handlers::{HANDLER, Handlers, handlers};
use super::jobs::{Outcome, record_outcome, sweeping};
use super::losses::{Kills, Victim, kill_and_list, list, seed};
use super::server::wait_until;

/// The functions that are killed. Workers, and the handler that they call, are most of them.
const VICTIMS: [Victim; 9] = [
    Victim::Output(FUNCTION),
    Victim::Output(FUNCTION),
    Victim::Output(FUNCTION),
    Victim::Function(HANDLER),
    Victim::Function(HANDLER),
    Victim::Output("JobsApiFunctionName"),
    Victim::Output("CreateJobFunctionName"),
    Victim::Output("CompleteJobFunctionName"),
    Victim::Output("SweepFunctionName"),
];

/// Output with the URL of the queue.
const QUEUE: &str = "HandlerChunkQueueUrl";

/// Maximum interval between two kills: the jobs take longer than those over files.
const INTERVAL_MS: u64 = 2_000;

/// Output with the name of its function.
const FUNCTION: &str = "CallHandlerFunctionName";

#[test]
fn no_item_is_lost_when_processes_of_call_handler_and_of_the_handler_are_killed() {
    let Some(handlers) = handlers() else { return };
    let (seed, over) = (seed(), AtomicBool::new(false));
    let max = if measurements::is_complete_run() { 25 } else { 8 };
    let kills = Kills { seed, max, interval_ms: INTERVAL_MS, victims: &VICTIMS };
    let killed = Mutex::default();
    // Each kill repeats at most one batch: the one whose answer a killed worker had not committed, or whose outcomes waited
    // for others, or the one that a killed handler had begun.
    let processed = |_| Ok(Processed::UpToMore(list(&killed).len() as u64));
    let mut outcome = thread::scope(|scope| {
        let killing = scope.spawn(|| kill_and_list(&handlers.stack, &over, kills, &killed));
        let mut outcome = sweeping(&handlers.stack, || run_all(&handlers, &Target::ALL, processed));
        over.store(true, Ordering::Relaxed);
        if let Err(error) = killing.join().expect("the kills have panicked") {
            outcome.violations.push(format!("kills: {error:#}"));
        }
        outcome
    });
    for victim in [Victim::Output(FUNCTION), Victim::Function(HANDLER)] {
        if !list(&killed).contains(&victim) {
            outcome.violations.push(format!("no process of {victim:?} was killed"));
        }
    }
    let command = format!("LONGSHORE_SEED={seed} cargo test -p longshore-tests --test proof processes_of_call_handler");
    record_outcome("processes killed in jobs of registered types", &list(&killed).len(), &outcome, &command);
}

#[test]
fn lost_doubled_and_late_messages_of_call_handler_change_no_count() {
    let Some(handlers) = handlers() else { return };
    let (outcome, count) = with_messages(&handlers).unwrap_or_else(|error| panic!("{error:?}"));
    let command = "cargo test -p longshore-tests --test proof lost_doubled_and_late";
    record_outcome("messages to call-handler lost, doubled, and late", &count, &outcome, command);
}

fn with_messages(handlers: &Handlers) -> Result<(Outcome, usize)> {
    let stack = &handlers.stack;
    stack.faults()?.set(&[])?;
    stack.set_delivery(FUNCTION, Delivery::Off)?;
    let name = format!("lost-{}", nonce());
    let targets = [Target::Function, Target::Endpoint];
    let jobs: Result<Vec<_>> = targets.iter().map(|target| Handled::start(handlers, *target)).collect();
    let jobs = jobs?;
    handlers.operator.put_job_type(&name, &handlers.content(Target::Function))?.expect(202)?;
    let bodies = messages(handlers, &jobs, &name)?;
    let is_of_job = |body: &&String| jobs.iter().any(|job| body.contains(&job.id));
    // Every other chunk is lost, and so is the ping. The sweeper finds the chunks.
    for body in bodies.iter().filter(is_of_job).skip(1).step_by(2) {
        stack.send_message(QUEUE, body)?;
        stack.send_message(QUEUE, body)?;
    }
    stack.set_delivery(FUNCTION, Delivery::On)?;
    let mut outcome = Outcome::default();
    let mut documents = Vec::new();
    sweeping(stack, || {
        for job in &jobs {
            let document = job.end()?;
            // A doubled message: two workers process the same chunk.
            outcome.add(Outcome::of(ITEMS, job.differences(&document, Processed::UpToMore(2))));
            documents.push(document);
        }
        anyhow::Ok(())
    })?;
    ensure!(!handlers.operator.is_active(&name)?, "a job type is active without its ping");
    handlers.register(&name, Target::Function)?;
    let calls: Result<Vec<_>> = jobs.iter().map(Handled::calls).collect();
    for body in &bodies {
        stack.send_message(QUEUE, body)?;
    }
    wait_until("late messages are consumed", || Ok(stack.peek(QUEUE)?.iter().all(|body| !bodies.contains(body))))?;
    for ((job, document), calls) in jobs.iter().zip(&documents).zip(calls?) {
        ensure!(job.calls()? == calls, "a late message called the handler of job {}", job.id);
        let after = job.end()?;
        ensure!(after == *document, "a late message has changed {document}\nto {after}");
    }
    ensure!(handlers.operator.is_active(&name)?, "a late ping has changed the job type");
    Ok((outcome, bodies.len()))
}

/// Takes the messages of all chunks, and that of a ping, from the queue. Those that an earlier test left, in flight or not,
/// do not count.
fn messages(handlers: &Handlers, jobs: &[Handled<'_>], pinged: &str) -> Result<Vec<String>> {
    let count = 3 * jobs.len() + 1;
    let is_own = |body: &String| body.contains(pinged) || jobs.iter().any(|job| body.contains(&job.id));
    let own = |bodies: Vec<String>| bodies.into_iter().filter(is_own).collect::<Vec<_>>();
    wait_until("all messages are in the queue", || Ok(own(handlers.stack.peek(QUEUE)?).len() >= count))?;
    let bodies = own(handlers.stack.take_messages(QUEUE)?);
    ensure!(bodies.len() == count, "{} messages instead of {count}", bodies.len());
    Ok(bodies)
}
