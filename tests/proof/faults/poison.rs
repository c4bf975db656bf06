//! A message that nobody can make sense of lies in every queue of the template, dead-letter queues among them, while jobs
//! of two tenants are worked: what cannot be read is kept in a dead-letter queue, and no job is the worse for it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use longshore_domain::ids::{JobId, nonce};
use longshore_domain::job::Priority;
use longshore_tests::harness::stack::Stack;
use serde_json::{Value, json};

use super::jobs::{Outcome, ROWS, finish, patient, sweeping};
use super::stacks::{own, tell};
use crate::sample::Sample;

/// The queues of the template by their outputs, each with the dead-letter queue behind it.
const QUEUES: [(&str, &str); 5] = [
    ("CreateJobQueueUrl", "CreateJobDlqUrl"),
    ("HighChunkQueueUrl", "ChunkDlqUrl"),
    ("ChunkQueueUrl", "ChunkDlqUrl"),
    ("LowChunkQueueUrl", "ChunkDlqUrl"),
    ("CompleteJobQueueUrl", "CompleteJobDlqUrl"),
];

/// Longer than two receives take.
const BURIED: Duration = Duration::from_secs(150);

#[test]
fn poison_in_every_queue_harms_no_job_and_is_kept() {
    let Some(stack) = own(false, &[("MaxReceiveCount", "2")]) else { return };
    let (outcome, count) = poisoned(&stack).unwrap_or_else(|error| panic!("{error:?}"));
    tell("poisoned messages", &count, &outcome, "cargo test -p longshore-tests --test proof poison_in_every_queue");
}

/// What lies in a queue: whether it can be read, and its body.
type Poison = (bool, String);

/// How the jobs came out, and how many messages were poison.
fn poisoned(stack: &Stack) -> Result<(Outcome, usize)> {
    let alice = patient(stack);
    let bob = alice.clone().with_token(&stack.users.add("bob")?.token);
    let mut jobs = Vec::new();
    for (client, priority) in
        [(&alice, Priority::Normal), (&bob, Priority::High), (&bob, Priority::Low), (&bob, Priority::Normal)]
    {
        let sample = Sample::insert(&format!("poisoned-{}", nonce()), ROWS);
        let id = client.start_at(priority, "import", &sample.file, &sample.options())?;
        jobs.push((client, id, sample));
    }
    let (mut count, mut unreadable) = (0, Vec::new());
    for (queue, dead) in QUEUES {
        for (place, foreign) in [(queue, Some(jobs[3].1.as_str())), (dead, None)] {
            for (is_readable, body) in poison(stack, queue, foreign) {
                // In the message group of a job that needs this queue, too.
                send(stack, place, (&jobs[1].1, &body))?;
                count += 1;
                unreadable.extend((!is_readable).then_some((queue, dead, body)));
            }
        }
    }
    let outcome = sweeping(stack, || -> Result<_> {
        let mut outcome = Outcome::default();
        for (client, id, sample) in &jobs {
            outcome.add(Outcome::of(finish(stack, client, (id, sample))));
        }
        outcome.violations.extend(lost(stack, &unreadable)?);
        Ok(outcome)
    })?;
    Ok((outcome, count))
}

/// Not JSON, of another shape, of no job, and of a job of another tenant than it says.
fn poison(stack: &Stack, queue: &str, foreign: Option<&str>) -> Vec<Poison> {
    let unreadable = [format!("{{not json {}", nonce()), json!({ "jobId": 7, "mark": nonce() }).to_string()];
    let stray = json!({ "jobId": JobId::generate().to_string(), "generation": 0, "position": 0 });
    let mut all: Vec<Poison> = unreadable.into_iter().map(|body| (false, body)).collect();
    for job in [Some(stray["jobId"].as_str().unwrap_or_default()), foreign].into_iter().flatten() {
        all.push((true, readable(stack, queue, job).to_string()));
    }
    all
}

/// A message of the shape that a queue's function reads.
fn readable(stack: &Stack, queue: &str, job: &str) -> Value {
    let plan = json!({ "first": 1, "items": 1, "start": 20, "end": 40, "oversize": false });
    match queue {
        "CreateJobQueueUrl" => json!({ "jobId": job, "generation": 0, "position": 0, "resend": 7 }),
        "CompleteJobQueueUrl" => json!({ "jobId": job, "generation": 0, "resend": 7 }),
        _ => json!({ "jobId": job, "tenant": stack.tenant, "group": 0, "chunk": 0, "plan": plan }),
    }
}

fn send(stack: &Stack, queue: &str, (group, body): (&str, &str)) -> Result<()> {
    let url = stack.output(queue)?;
    let mut call = stack.aws.sqs().send_message().queue_url(url).message_body(body).message_group_id(group);
    if url.ends_with(".fifo") {
        call = call.message_deduplication_id(nonce());
    }
    stack.run(call.send()).with_context(|| format!("{queue} takes no poison"))?;
    Ok(())
}

/// The unreadable ones that are no longer kept: in the end in a dead-letter queue, and until then in their own. The
/// reduced set does not wait for the end.
fn lost(stack: &Stack, unreadable: &[(&str, &str, String)]) -> Result<Vec<String>> {
    let deadline = Instant::now() + BURIED;
    loop {
        let mut lost = Vec::new();
        for (queue, dead, body) in unreadable {
            let own = if figures::is_whole() { Vec::new() } else { stack.peek(queue)? };
            if !stack.peek(dead)?.contains(body) && !own.contains(body) {
                lost.push(format!("{queue}: {body:?} is not in {dead}"));
            }
        }
        if lost.is_empty() || !figures::is_whole() || Instant::now() > deadline {
            return Ok(lost);
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}
