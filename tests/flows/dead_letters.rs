//! Dead letters: an operator lists them, and replays or discards them. A replay repairs the counts and the report of a
//! finished job. Other users cannot see dead letters.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use longshore_domain::random::nonce;
use longshore_tests::harness::backdoor::unsent_chunks;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use crate::shared::{Marks, Story, counts, end, impatient, own, probe_file};

/// A client signed in as an operator of this stack.
fn operator(stack: &Stack) -> Result<Client> {
    let user = stack.users.add_operator(&format!("operator-{}", nonce()))?;
    Ok(stack.client.clone().with_token(&user.token))
}

/// Open dead letters that match a query.
fn dead_letters(operator: &Client, query: &str) -> Result<Vec<Value>> {
    let page = operator.get(&format!("/api/dead-letters?limit=100&{query}"))?.expect(200)?;
    page["deadLetters"].as_array().cloned().context("the page has no dead letters")
}

fn id(dead_letter: &Value) -> Result<&str> {
    dead_letter["letterId"].as_str().context("the dead letter has no id")
}

/// Sweeps until a condition holds.
fn sweep_until(stack: &Stack, description: &str, is_met: impl Fn() -> Result<bool>) -> Story {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        stack.sweep()?;
        if is_met()? {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{description}: not in time\n{}", stack.log_tail(60));
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Puts a message into a dead-letter queue, as SQS does with a message that was received too often.
fn add_dead_letter(stack: &Stack, queue: &str, body: &str) -> Story {
    let send = stack.aws.sqs().send_message().queue_url(stack.output(queue)?).message_body(body);
    let fifo = queue != "ChunkDlqUrl";
    let send = if fifo { send.message_group_id("g").message_deduplication_id(nonce()) } else { send };
    stack.run(send.send()).context("cannot send the message")?;
    Ok(())
}

/// Number of messages in a dead-letter queue that contain `text`.
fn depth(stack: &Stack, queue: &str, text: &str) -> Result<usize> {
    Ok(stack.peek(queue)?.iter().filter(|body| body.contains(text)).count())
}

/// The complete flow with real crashes: the worker of the second chunk is killed at every delivery of its message.
#[test]
fn replaying_a_chunk_repairs_the_counts_and_the_report_of_a_finished_job() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let (marks, operator) = (Marks::new(), operator(stack)?);
    let mark = marks.path().display();
    // Rows 51 to 100 are the second chunk. Row 10 is rejected, and stays failed.
    let file = probe_file((1..=130).map(|n| match n {
        10 => "reject,,,".to_owned(),
        60 => format!("kill,,2,{mark}"),
        _ => "ok,,,".to_owned(),
    }));
    let job = stack.client.start("probe", "file.csv", &file, &json!({}))?;
    let (ended, before) = end(Watch::new(stack, &job).sweeping(), stack, &job, &file)?;
    assert_eq!((ended["status"].as_str(), counts(&ended)), (Some("completed"), [79, 51, 0]), "{ended}");
    ensure!(before.codes()[&60] == "dead_lettered" && before.codes()[&10] == "asked_to", "{:?}", before.codes());
    let found = dead_letters(&operator, &format!("jobId={job}"))?;
    let dead_letter = found.first().context("the dead letter is not listed")?;
    assert_eq!(
        (&dead_letter["firstItem"], &dead_letter["itemCount"], &dead_letter["replay"]),
        (&json!(51), &json!(50), &json!("generation"))
    );
    ensure!(depth(stack, "ChunkDlqUrl", &job)? >= 1, "the dead letter is not in its queue");
    let path = format!("/api/dead-letters/{}", id(dead_letter)?);
    let details = operator.get(&path)?.expect(200)?;
    ensure!(details["body"].as_str().is_some_and(|body| body.contains("kill,,2")), "no rows: {details}");
    let replayed = operator.call("POST", &format!("{path}/replay"), &[], &[])?.expect(202)?;
    assert_eq!((&replayed["effect"], &replayed["generation"]), (&json!("generation"), &json!(1)), "{replayed}");
    let (repaired, after) = end(Watch::new(stack, &job).sweeping(), stack, &job, &file)?;
    assert_eq!((repaired["status"].as_str(), counts(&repaired)), (Some("completed"), [129, 1, 0]), "{repaired}");
    assert_eq!(
        (&repaired["attempts"], after.codes().into_iter().collect::<Vec<_>>()),
        (&json!(2), vec![(10, "asked_to".to_owned())])
    );
    let again = operator.call("POST", &format!("{path}/replay"), &[], &[])?.expect(202)?;
    assert_eq!(again["effect"], "nothing", "{again}");
    sweep_until(stack, "the dead letter leaves its queue", || Ok(depth(stack, "ChunkDlqUrl", &job)? == 0))?;
    ensure!(dead_letters(&operator, &format!("jobId={job}"))?.is_empty(), "a replayed dead letter is still open");
    assert_eq!(counts(&stack.client.job(&job)?), [129, 1, 0], "a sweep has changed the counts");
    Ok(())
}

#[test]
fn replaying_all_dead_letters_of_a_job_runs_only_their_chunks() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let (marks, operator) = (Marks::new(), operator(stack)?);
    let mark = marks.path().display();
    let file = probe_file((1..=60).map(|n| format!("{},,,{mark}", if n == 5 { "reject" } else { "ok" })));
    let (job, messages) = unsent_chunks(stack, "probe", &file, &json!({}), 20)?;
    let id = job.job_id.to_string();
    for message in &messages[1..] {
        add_dead_letter(stack, "ChunkDlqUrl", &serde_json::to_string(message)?)?;
    }
    // The first chunk has no dead letter: its message is lost, and the sweeper sends it again.
    let (ended, _) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((ended["status"].as_str(), counts(&ended)), (Some("completed"), [19, 41, 0]), "{ended}");
    assert_eq!(dead_letters(&operator, &format!("jobId={id}&queue=chunk"))?.len(), 2);
    let before = marks.calls(60)?;
    let replayed = operator.post("/api/dead-letters/replay", &json!({ "jobId": id }))?.expect(202)?;
    assert_eq!((replayed["replayed"].as_array().map(Vec::len), &replayed["left"]), (Some(2), &json!([])), "{replayed}");
    let (repaired, report) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((repaired["status"].as_str(), counts(&repaired)), (Some("completed"), [59, 1, 0]), "{repaired}");
    assert_eq!(report.codes().into_iter().collect::<Vec<_>>(), [(5, "asked_to".to_owned())]);
    // A chunk can run twice if the sweeper is faster than its worker. A chunk without a dead letter is not replayed.
    let after = marks.calls(60)?;
    ensure!(before[20..].iter().all(|calls| *calls == 0), "a chunk with a dead letter has run: {before:?}");
    ensure!(after[..20] == before[..20] && after[20..].iter().all(|calls| *calls > 0), "{before:?}, then {after:?}");
    sweep_until(stack, "the dead letters leave their queue", || Ok(depth(stack, "ChunkDlqUrl", &id)? == 0))
}

#[test]
fn a_discarded_dead_letter_leaves_its_queue_and_does_not_change_its_job() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let operator = operator(stack)?;
    let file = probe_file((1..=20).map(|_| "ok,,,"));
    let (job, messages) = unsent_chunks(stack, "probe", &file, &json!({}), 20)?;
    let job = job.job_id.to_string();
    add_dead_letter(stack, "ChunkDlqUrl", &serde_json::to_string(&messages[0])?)?;
    let (ended, _) = end(Watch::new(stack, &job).sweeping(), stack, &job, &file)?;
    assert_eq!(counts(&ended), [0, 20, 0], "{ended}");
    let found = dead_letters(&operator, &format!("jobId={job}"))?;
    let path = format!("/api/dead-letters/{}", id(found.first().context("there is no dead letter")?)?);
    for _ in 0..2 {
        ensure!(operator.call("DELETE", &path, &[], &[])?.status == 204, "the discard was refused");
    }
    sweep_until(stack, "the dead letter leaves its queue", || Ok(depth(stack, "ChunkDlqUrl", &job)? == 0))?;
    assert_eq!(operator.get(&path)?.expect(200)?["deadLetter"]["state"], "discarded");
    assert_eq!(stack.client.job(&job)?, ended);
    operator.call("POST", &format!("{path}/replay"), &[], &[])?.expect(409)?;
    Ok(())
}

#[test]
fn unreadable_dead_letters_of_all_three_queues_are_recorded_and_can_be_redriven_or_discarded() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let operator = operator(stack)?;
    for (queue, word) in [("CreateJobDlqUrl", "create"), ("ChunkDlqUrl", "chunk"), ("CompleteJobDlqUrl", "complete")] {
        let body = format!("not a message {}", nonce());
        add_dead_letter(stack, queue, &body)?;
        let matching = || -> Result<Vec<Value>> {
            let mut matching = Vec::new();
            for dead_letter in dead_letters(&operator, &format!("queue={word}"))? {
                let details = operator.get(&format!("/api/dead-letters/{}", id(&dead_letter)?))?.expect(200)?;
                matching.extend((details["body"] == body.as_str()).then_some(dead_letter));
            }
            Ok(matching)
        };
        sweep_until(stack, "the dead letter is recorded", || Ok(!matching()?.is_empty()))?;
        let dead_letter = matching()?.remove(0);
        assert_eq!(
            (&dead_letter["kind"], &dead_letter["jobId"]),
            (&json!("unreadable"), &Value::Null),
            "{dead_letter}"
        );
        let path = format!("/api/dead-letters/{}", id(&dead_letter)?);
        if word == "complete" {
            let replayed = operator.call("POST", &format!("{path}/replay"), &[], &[])?.expect(202)?;
            assert_eq!(replayed["effect"], "putBack");
        } else {
            ensure!(operator.call("DELETE", &path, &[], &[])?.status == 204, "the discard was refused");
        }
        sweep_until(stack, "the dead letter leaves its queue", || Ok(depth(stack, queue, &body)? == 0))?;
    }
    Ok(())
}

#[test]
fn a_tenant_cannot_see_dead_letters_even_of_its_own_job() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let operator = operator(stack)?;
    let file = probe_file(["ok,,,"]);
    let (job, messages) = unsent_chunks(stack, "probe", &file, &json!({}), 20)?;
    add_dead_letter(stack, "ChunkDlqUrl", &serde_json::to_string(&messages[0])?)?;
    let query = format!("jobId={}", job.job_id);
    sweep_until(stack, "the dead letter is recorded", || Ok(!dead_letters(&operator, &query)?.is_empty()))?;
    let dead_letter = format!("/api/dead-letters/{}", id(&dead_letters(&operator, &query)?[0])?);
    let replay = format!("{dead_letter}/replay");
    for (method, path) in
        [("GET", "/api/dead-letters"), ("GET", &dead_letter), ("DELETE", &dead_letter), ("POST", &replay)]
    {
        let refused = stack.client.call(method, path, &[], &[])?;
        ensure!(
            (refused.status, &refused.json()["type"]) == (403, &json!("/api/problems/not-an-operator")),
            "{method} {path}: {}",
            refused.text()
        );
        ensure!(!refused.text().contains(&job.job_id.to_string()), "{}", refused.text());
    }
    let refused = stack.client.post("/api/dead-letters/replay", &json!({ "jobId": job.job_id }))?;
    ensure!(refused.status == 403, "{}", refused.text());
    ensure!(stack.client.clone().signed_out().get(&dead_letter)?.status == 401, "the call needs no token");
    ensure!(
        operator.call("DELETE", &dead_letter, &[], &[])?.status == 204,
        "a refused call has resolved the dead letter"
    );
    Watch::new(stack, &job.job_id.to_string()).sweeping().end().map(|_| ())
}
