//! Poison messages in every queue of the template, including dead-letter queues, while jobs of two tenants run.
//! Unreadable messages stay in a dead-letter queue, and no job is affected.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use longshore_domain::ids::JobId;
use longshore_domain::job::Priority;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::Queues;
use longshore_domain::random::nonce;
use longshore_domain::tenant::TenantId;
use longshore_tests::harness::backdoor::unsent_chunks;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::stack::Stack;
use serde_json::{Value, json};

use super::jobs::{Outcome, ROWS, finish, own, patient, record_outcome, sweeping};
use crate::sample::Sample;

/// The queues of the template by output name, each with its dead-letter queue.
const QUEUES: [(&str, &str); 5] = [
    ("CreateJobQueueUrl", "CreateJobDlqUrl"),
    ("HighChunkQueueUrl", "ChunkDlqUrl"),
    ("ChunkQueueUrl", "ChunkDlqUrl"),
    ("LowChunkQueueUrl", "ChunkDlqUrl"),
    ("CompleteJobQueueUrl", "CompleteJobDlqUrl"),
];

/// Maximum time until a message is dead-lettered: more than the time of two receives.
const DEAD_LETTER_PATIENCE: Duration = Duration::from_secs(400);

#[test]
fn poison_messages_in_every_queue_are_kept_and_affect_no_job() {
    let Some(stack) = own(&[("MaxReceiveCount", "2")]) else { return };
    let (outcome, count) = poisoned(&stack).unwrap_or_else(|error| panic!("{error:?}"));
    record_outcome(
        "poisoned messages",
        &count,
        &outcome,
        "cargo test -p longshore-tests --test proof poison_messages_in_every_queue",
    );
}

/// A poison message.
struct Poison {
    is_readable: bool,
    body: String,
}

/// A poison message that was sent to this queue.
struct Sent {
    queue: &'static str,
    message: Poison,
}

/// A job: its owner's client, its id and its file.
type Job<'a> = (&'a Client, String, Sample);

/// Outcome of the jobs, and number of poison messages.
fn poisoned(stack: &Stack) -> Result<(Outcome, usize)> {
    let alice = patient(stack);
    let user = stack.users.add("bob")?;
    let bob = alice.clone().with_token(&user.token);
    let (unsent, chunks) = unsent(stack, &alice)?;
    let mut jobs = vec![unsent];
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
        for target in [queue, dead] {
            // In a dead-letter queue the last message would not be poison: the sweeper gives up the chunk that it
            // names.
            let kinds = if target == dead { 3 } else { 4 };
            for message in poison(queue, &foreign).into_iter().take(kinds) {
                // A message that is never processed blocks its message group: here the group of a job that needs this
                // queue.
                let group = if message.is_readable { nonce() } else { jobs[1].1.clone() };
                send(stack, target, &group, &message.body)?;
                kept.extend((!message.is_readable).then(|| (queue, dead, message.body.clone())));
                sent.push(Sent { queue: target, message });
            }
        }
    }
    let mut outcome = Outcome::default();
    outcome.violations.extend(unconsumed(stack, &sent)?);
    stack.run(stack.queues()?.send_chunks(&chunks, 0))?;
    outcome.add(sweeping(stack, || finish_all(stack, &jobs)));
    outcome.violations.extend(sweeping(stack, || lost(stack, &kept))?);
    Ok((outcome, sent.len()))
}

/// Creates a job without sending its chunk messages, because the poison is sent first.
fn unsent<'a>(stack: &Stack, client: &'a Client) -> Result<(Job<'a>, Vec<ChunkMessage>)> {
    let sample = Sample::insert(&format!("unsent-{}", nonce()), ROWS);
    let (job, chunks) = unsent_chunks(stack, "import", &sample.file, &sample.options(), 300)?;
    Ok(((client, job.job_id.to_string(), sample), chunks))
}

fn finish_all(stack: &Stack, jobs: &[Job<'_>]) -> Outcome {
    let mut outcome = Outcome::default();
    jobs.iter().for_each(|(client, id, sample)| outcome.add(Outcome::new(finish(stack, client, id, sample))));
    outcome
}

/// Messages that are not JSON, that have another shape, that name no job, and that name a job of another tenant with a
/// wrong plan.
fn poison(queue: &str, foreign: &ChunkMessage) -> [Poison; 4] {
    let absent = ChunkMessage { job_id: JobId::generate(), ..foreign.clone() };
    [
        Poison { is_readable: false, body: format!("{{not json {}", nonce()) },
        Poison { is_readable: false, body: json!({ "jobId": 7, "mark": nonce() }).to_string() },
        Poison { is_readable: true, body: readable(queue, &absent).to_string() },
        Poison { is_readable: true, body: readable(queue, foreign).to_string() },
    ]
}

/// A message about the chunk's job, in the shape that the queue's function reads.
fn readable(queue: &str, chunk: &ChunkMessage) -> Value {
    match queue {
        "CreateJobQueueUrl" => json!({ "jobId": chunk.job_id, "generation": 0, "position": 0, "resend": 7 }),
        "CompleteJobQueueUrl" => json!({ "jobId": chunk.job_id, "generation": 0, "resend": 7 }),
        _ => json!(chunk),
    }
}

/// The readable messages that their queue's function has not consumed in time.
fn unconsumed(stack: &Stack, sent: &[Sent]) -> Result<Vec<String>> {
    let deadline = Instant::now() + DEAD_LETTER_PATIENCE;
    let is_consumable = |sent: &&Sent| sent.message.is_readable && !sent.queue.contains("Dlq");
    loop {
        let mut left = Vec::new();
        for Sent { queue, message } in sent.iter().filter(is_consumable) {
            let body = &message.body;
            left.extend(stack.peek(queue)?.contains(body).then(|| format!("{queue}: {body} was not consumed")));
        }
        if left.is_empty() || Instant::now() > deadline {
            return Ok(left);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn send(stack: &Stack, queue: &str, group: &str, body: &str) -> Result<()> {
    let url = stack.output(queue)?;
    let mut call = stack.aws.sqs().send_message().queue_url(url).message_body(body).message_group_id(group);
    if url.ends_with(".fifo") {
        call = call.message_deduplication_id(nonce());
    }
    stack.run(call.send()).with_context(|| format!("cannot send to {queue}"))?;
    Ok(())
}

/// The unreadable messages that are in no dead-letter queue in time. The reduced set does not wait: it also accepts a
/// message that is still in its own queue.
fn lost(stack: &Stack, unreadable: &[(&str, &str, String)]) -> Result<Vec<String>> {
    let deadline = Instant::now() + DEAD_LETTER_PATIENCE;
    loop {
        let mut lost = Vec::new();
        for (queue, dead, body) in unreadable {
            let own = if measurements::is_complete_run() { Vec::new() } else { stack.peek(queue)? };
            if !stack.peek(dead)?.contains(body) && !own.contains(body) {
                lost.push(format!("{queue}: {body:?} is not in {dead}"));
            }
        }
        if lost.is_empty() || !measurements::is_complete_run() || Instant::now() > deadline {
            return Ok(lost);
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}
