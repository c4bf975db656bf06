//! A poison message in every queue of the template, dead-letter queues included, while jobs of two tenants run:
//! unreadable messages are kept in a dead-letter queue, and no job is affected.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use longshore_domain::ids::{JobId, nonce};
use longshore_domain::job::Priority;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::Queues;
use longshore_domain::tenant::TenantId;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::crafted::unsent_chunks;
use longshore_tests::harness::stack::Stack;
use serde_json::{Value, json};

use super::jobs::{Outcome, ROWS, finish, patient, sweeping};
use super::stacks::{own, record_outcome};
use crate::sample::Sample;

/// The queues of the template by output name, each with its dead-letter queue.
const QUEUES: [(&str, &str); 5] = [
    ("CreateJobQueueUrl", "CreateJobDlqUrl"),
    ("HighChunkQueueUrl", "ChunkDlqUrl"),
    ("ChunkQueueUrl", "ChunkDlqUrl"),
    ("LowChunkQueueUrl", "ChunkDlqUrl"),
    ("CompleteJobQueueUrl", "CompleteJobDlqUrl"),
];

/// Maximum time until a message is dead-lettered: longer than two receives take.
const BURIED: Duration = Duration::from_secs(400);

#[test]
fn poison_in_every_queue_harms_no_job_and_is_kept() {
    let Some(stack) = own(false, &[("MaxReceiveCount", "2")]) else { return };
    let (outcome, count) = poisoned(&stack).unwrap_or_else(|error| panic!("{error:?}"));
    record_outcome(
        "poisoned messages",
        &count,
        &outcome,
        "cargo test -p longshore-tests --test proof poison_in_every_queue",
    );
}

/// A flag that is true if the message is readable, and its body.
type Poison = (bool, String);

/// A job: its owner's client, its id and its file.
type Job<'a> = (&'a Client, String, Sample);

/// Outcome of the jobs, and number of poison messages.
fn poisoned(stack: &Stack) -> Result<(Outcome, usize)> {
    let alice = patient(stack);
    let user = stack.users.add("bob")?;
    let bob = alice.clone().with_token(&user.token);
    let (held, chunks) = held(stack, &alice)?;
    let mut jobs = vec![held];
    for (client, priority) in [(&alice, Priority::Normal), (&bob, Priority::High), (&bob, Priority::Low)] {
        let sample = Sample::insert(&format!("poisoned-{}", nonce()), ROWS);
        let id = client.start_at(priority, "import", &sample.file, &sample.options())?;
        jobs.push((client, id, sample));
    }
    let tenant = TenantId::parse(&user.tenant).context("the user has no tenant")?;
    let mut foreign = ChunkMessage { tenant, ..chunks[0].clone() };
    foreign.plan.items = 1;
    let (mut sent, mut kept) = (Vec::new(), Vec::new());
    for (queue, dead) in QUEUES {
        for place in [queue, dead] {
            // In a dead-letter queue this message would be no poison: a chunk that is read there is given up.
            let kinds = if place == dead { 3 } else { 4 };
            for (is_readable, body) in poison(queue, &foreign).into_iter().take(kinds) {
                // A message that is never processed blocks its message group. Here that is the group of a job that
                // needs this queue.
                let group = if is_readable { nonce() } else { jobs[1].1.clone() };
                send(stack, place, (&group, &body))?;
                kept.extend((!is_readable).then(|| (queue, dead, body.clone())));
                sent.push((place, is_readable, body));
            }
        }
    }
    let mut outcome = Outcome::default();
    outcome.violations.extend(unconsumed(stack, &sent)?);
    stack.run(stack.queues()?.send_chunks(&chunks, 0))?;
    outcome.add(sweeping(stack, || ends(stack, &jobs)));
    outcome.violations.extend(sweeping(stack, || lost(stack, &kept))?);
    Ok((outcome, sent.len()))
}

/// A job whose chunks are not sent yet, with their messages: the poison is sent first.
fn held<'a>(stack: &Stack, client: &'a Client) -> Result<(Job<'a>, Vec<ChunkMessage>)> {
    let sample = Sample::insert(&format!("held-{}", nonce()), ROWS);
    let (job, chunks) = unsent_chunks(stack, "import", &sample.file, &sample.options(), 300)?;
    Ok(((client, job.job_id.to_string(), sample), chunks))
}

fn ends(stack: &Stack, jobs: &[Job<'_>]) -> Outcome {
    let mut all = Outcome::default();
    jobs.iter().for_each(|(client, id, sample)| all.add(Outcome::new(finish(stack, client, (id, sample)))));
    all
}

/// Bodies that are not JSON, of another shape, of no job, and of a job of another tenant than the message names, with
/// a plan that is not the job's.
fn poison(queue: &str, foreign: &ChunkMessage) -> [Poison; 4] {
    let absent = ChunkMessage { job_id: JobId::generate(), ..foreign.clone() };
    [
        (false, format!("{{not json {}", nonce())),
        (false, json!({ "jobId": 7, "mark": nonce() }).to_string()),
        (true, readable(queue, &absent).to_string()),
        (true, readable(queue, foreign).to_string()),
    ]
}

/// A message about the chunk's job, in the shape that a queue's function reads.
fn readable(queue: &str, chunk: &ChunkMessage) -> Value {
    match queue {
        "CreateJobQueueUrl" => json!({ "jobId": chunk.job_id, "generation": 0, "position": 0, "resend": 7 }),
        "CompleteJobQueueUrl" => json!({ "jobId": chunk.job_id, "generation": 0, "resend": 7 }),
        _ => json!(chunk),
    }
}

/// The readable messages that their queue's function has not consumed in time.
fn unconsumed(stack: &Stack, sent: &[(&str, bool, String)]) -> Result<Vec<String>> {
    let deadline = Instant::now() + BURIED;
    let of_queue = |(place, is_readable, _): &&(&str, bool, String)| *is_readable && !place.contains("Dlq");
    loop {
        let mut left = Vec::new();
        for (place, _, body) in sent.iter().filter(of_queue) {
            left.extend(stack.peek(place)?.contains(body).then(|| format!("{place}: nobody took {body}")));
        }
        if left.is_empty() || Instant::now() > deadline {
            return Ok(left);
        }
        std::thread::sleep(Duration::from_millis(200));
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

/// The unreadable messages that are no longer kept. They stay in their own queue until they are dead-lettered. The
/// reduced set accepts both and does not wait.
fn lost(stack: &Stack, unreadable: &[(&str, &str, String)]) -> Result<Vec<String>> {
    let deadline = Instant::now() + BURIED;
    loop {
        let mut lost = Vec::new();
        for (queue, dead, body) in unreadable {
            let own = if measurements::is_whole() { Vec::new() } else { stack.peek(queue)? };
            if !stack.peek(dead)?.contains(body) && !own.contains(body) {
                lost.push(format!("{queue}: {body:?} is not in {dead}"));
            }
        }
        if lost.is_empty() || !measurements::is_whole() || Instant::now() > deadline {
            return Ok(lost);
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}
