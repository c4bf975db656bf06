//! Invalid requests and messages: each has a response, and does not affect other jobs.

use anyhow::{Context, ensure};
use base64::Engine;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::message::{CompleteMessage, CreateMessage};
use longshore_domain::ports::{JobStore, Queues};
use longshore_domain::tenant::TenantId;
use longshore_tests::harness::backdoor::unsent_job;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::shared::{Story, counts, dataset, error_code, lines, own, stack, wait_until, work};

fn import(additional: Value) -> Value {
    let mut options = json!({ "dataset": dataset("bad-input"), "key": "id" });
    if let (Some(options), Some(additional)) = (options.as_object_mut(), additional.as_object()) {
        options.extend(additional.clone());
    }
    options
}

#[test]
fn an_invalid_request_is_refused_with_the_pointer_of_the_invalid_field() -> Story {
    let client = &stack().client;
    let file = client.upload("file.csv", b"id\n1\n")?;
    let missing = FileGuid::generate().to_string();
    let table = [
        ("import", None, import(json!({})), "/fileGuid"),
        ("import", Some(missing.as_str()), import(json!({})), "/fileGuid"),
        ("import", Some("not-an-id"), import(json!({})), "/fileGuid"),
        ("no-such-type", Some(&file), json!({}), "/jobType"),
        ("import", Some(&file), import(json!({ "colour": "red" })), "/options/colour unknown_option"),
        ("import", Some(&file), json!({ "dataset": "d" }), "/options"),
        ("import", Some(&file), import(json!({ "mode": "replace" })), "/options/mode invalid_option"),
        (
            "import",
            Some(&file),
            import(json!({ "schema": { "type": "strng" } })),
            "/options/schema/type invalid_schema",
        ),
        ("probe-once", Some(&file), json!({ "action": "ok" }), "/fileGuid"),
    ];
    for (job_type, file, options, expected) in table {
        let answer = client.request_job(job_type, file, &options)?;
        ensure!(answer.status == 422, "{job_type} {file:?} {options}: {} {}", answer.status, answer.text());
        ensure!(answer.headers["content-type"].starts_with("application/problem+json"), "{:?}", answer.headers);
        ensure!(
            answer.bad_field().starts_with(expected),
            "{} instead of {expected}: {}",
            answer.bad_field(),
            answer.text()
        );
    }
    Ok(())
}

#[test]
fn an_upload_that_cannot_be_processed_is_refused_when_it_is_requested() -> Story {
    let client = &stack().client;
    let request =
        |size: Value| client.post("/api/uploads", &json!({ "fileName": "f", "contentType": "text/csv", "size": size }));
    for (size, expected) in [
        (json!(0), "/size empty_file"),
        (json!(33_554_433), "/size file_too_large"),
        (json!("big"), "/size invalid_size"),
    ] {
        let answer = request(size.clone())?;
        assert_eq!((answer.status, answer.bad_field().as_str()), (422, expected), "{size}: {}", answer.text());
    }
    assert_eq!(request(json!(33_554_432))?.status, 201);
    Ok(())
}

#[test]
fn the_bucket_refuses_a_file_with_a_different_length_or_checksum() -> Story {
    let client = &stack().client;
    let upload = client.create_upload("file.csv", 5, None)?;
    for bytes in [&b"id\n1"[..], b"id\n12\n"] {
        let answer = client.put(&upload, bytes)?;
        ensure!(matches!(answer.status, 400 | 403), "{}: {}", answer.status, answer.text());
    }
    let sha256 = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(b"id\n1\n"));
    let upload = client.create_upload("file.csv", 5, Some(&sha256))?;
    let answer = client.put(&upload, b"id\n2\n")?;
    ensure!(matches!(answer.status, 400 | 403), "{}: {}", answer.status, answer.text());
    client.put(&upload, b"id\n1\n")?.expect(200)?;
    Ok(())
}

#[test]
fn a_file_can_be_uploaded_only_once() -> Story {
    let client = &stack().client;
    let upload = client.create_upload("file.csv", 5, None)?;
    client.put(&upload, b"id\n1\n")?.expect(200)?;
    let again = client.put(&upload, b"id\n2\n")?;
    assert_eq!(again.status, 412, "{}", again.text());
    Ok(())
}

#[test]
fn a_job_over_a_missing_file_is_refused() -> Story {
    let client = &stack().client;
    let upload = client.create_upload("file.csv", 5, None)?;
    let answer = client.request_job("import", upload["fileGuid"].as_str(), &import(json!({})))?;
    let code = &answer.json()["errors"][0]["code"];
    ensure!(answer.status == 422 && code == "file_not_uploaded", "{}: {}", answer.status, answer.text());
    Ok(())
}

#[test]
fn a_file_that_disappears_before_the_split_fails_the_job() -> Story {
    let stack = stack();
    let job = unsent_job(stack, "import", b"id\n1\n", &import(json!({})))?;
    let key = job.file().context("the job has no source")?.key.clone();
    stack.run(stack.aws.s3().delete_object().bucket(stack.output("BucketName")?).key(key).send())?;
    stack.run(stack.queues()?.send_create(&CreateMessage::of_job(job.job_id)))?;
    let ended = Watch::new(stack, &job.job_id.to_string()).end()?;
    assert_eq!((ended["status"].as_str(), error_code(&ended)), (Some("failed"), "source_missing"), "{ended}");
    Ok(())
}

/// An unreadable message does not block the other messages of its queue.
#[test]
fn an_unreadable_message_is_dead_lettered_and_affects_no_other() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let marker = format!("not a message of this system {}", JobId::generate());
    let queues = [
        ("ChunkQueueUrl", "ChunkDlqUrl"),
        ("CreateJobQueueUrl", "CreateJobDlqUrl"),
        ("CompleteJobQueueUrl", "CompleteJobDlqUrl"),
    ];
    for (queue, _) in queues {
        let mut send = stack.aws.sqs().send_message().queue_url(stack.output(queue)?).message_body(&marker);
        if queue != "ChunkQueueUrl" {
            send = send.message_group_id("unreadable").message_deduplication_id(&marker);
        }
        stack.run(send.send())?;
    }
    let (job, _) = work(stack, "import", &lines(["id", "1"]), &import(json!({})))?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [1, 0, 0]), "{job}");
    for (_, dead_letters) in queues {
        wait_until(|| Ok(stack.peek(dead_letters)?.contains(&marker)))?;
    }
    // The sweeper skips the message.
    let swept = stack.sweep()?;
    assert_eq!(swept["failures"], 0, "{swept}");
    Ok(())
}

#[test]
fn messages_of_a_missing_job_are_acknowledged() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let (queues, job_id) = (stack.queues()?, JobId::generate());
    stack.run(queues.send_create(&CreateMessage::of_job(job_id)))?;
    stack.run(queues.send_complete(&CompleteMessage {
        job_id,
        generation: 0,
        resend: 0,
        step: 0,
        tenant: None,
        failures: 0,
    }))?;
    let plan = longshore_domain::group::ChunkPlan { first: 1, items: 1, start: 0, end: 1, oversize: false, keys: None };
    let chunk = longshore_domain::message::ChunkMessage {
        job_id,
        tenant: TenantId::from_static("default"),
        is_registered: false,
        priority: longshore_domain::job::Priority::Normal,
        group: 0,
        chunk: 0,
        plan,
        inline: Some("1\n".into()),
        failures: 0,
        bisection: None,
        parked_until: None,
    };
    stack.run(queues.send_chunks(&[chunk], 0))?;
    for queue in ["CreateJobQueueUrl", "CompleteJobQueueUrl", "ChunkQueueUrl"] {
        wait_until(|| Ok(!stack.peek(queue)?.iter().any(|body| body.contains(&job_id.to_string()))))?;
    }
    for queue in ["CreateJobDlqUrl", "CompleteJobDlqUrl", "ChunkDlqUrl"] {
        ensure!(!stack.peek(queue)?.iter().any(|body| body.contains(&job_id.to_string())), "{queue} has a dead letter");
    }
    ensure!(stack.run(stack.store()?.job(job_id))?.is_none(), "a job record was created");
    assert_eq!(stack.client.get(&format!("/api/jobs/{job_id}"))?.status, 404);
    Ok(())
}
