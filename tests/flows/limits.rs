//! Limits on the deployed stack: those of a tenant and of a request, the concurrency limit of a job type, and a queue
//! for each priority.
//!
//! Low limits: active jobs, upload bytes, queue depth, request size.
//!
//! A job type with a concurrency limit of two chunks: no more than two run, parked chunks use up no receives, and no
//! other job type waits.
//!
//! A queue for each priority: no job waits behind jobs of another priority.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use longshore::http::MAX_BODY;
use longshore_domain::job::Priority;
use longshore_domain::ports::ParkedChunks;
use longshore_tests::harness::client::{Answer, Client};
use longshore_tests::harness::stack::{Stack, StackOptions};
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use crate::shared::{
    Marks, Story, counts, end, finish, has_own_emulator, own, probe_file, stack, start, wait_until, work,
};

/// A stack with limits of two active jobs, a hundred thousand upload bytes per day and five queued chunks. `None` on an
/// emulator that this process did not start.
fn limited() -> Option<&'static Stack> {
    static STACK: OnceLock<Stack> = OnceLock::new();
    let parameters = vec![("MaxActiveJobs", "2"), ("MaxTenantUploadBytesPerDay", "100000"), ("MaxQueuedChunks", "5")];
    let options = StackOptions { probe: true, parameters, ..Default::default() };
    has_own_emulator().then(|| STACK.get_or_init(|| start(&options)))
}

/// A stack that nobody sweeps, and on which no worker is killed: a sweep wakes parked chunks and sends stalled ones again,
/// which would hide a lost wake, or leave a record of a chunk that ran twice. `None` as for [`limited`].
fn without_sweeps() -> Option<Stack> {
    has_own_emulator().then(|| start(&StackOptions { probe: true, ..Default::default() }))
}

/// A client of a tenant that no other story uses.
fn tenant(stack: &Stack, name: &str) -> Result<Client> {
    let user = stack.users.add(name)?;
    Ok(stack.client.clone().with_token(&user.token))
}

fn problem(answer: &Answer, status: u16, kind: &str) -> Result<Value> {
    let body = answer.expect(status)?;
    ensure!(body["type"] == format!("/api/problems/{kind}"), "{body}");
    ensure!(answer.headers["content-type"] == "application/problem+json", "{:?}", answer.headers);
    Ok(body)
}

fn once(client: &Client, priority: &str, key: &str) -> Result<Answer> {
    let body = json!({ "jobType": "probe-once", "priority": priority, "options": { "action": "ok" } }).to_string();
    let mut headers = vec![("content-type", "application/json")];
    if !key.is_empty() {
        headers.push(("idempotency-key", key));
    }
    client.call("POST", "/api/jobs", &headers, body.as_bytes())
}

fn id(job: &Value) -> Result<String> {
    Ok(job["jobId"].as_str().context("the job has no id")?.to_owned())
}

/// Waits for the end of a tenant's job.
fn wait_for_end(client: &Client, id: &str) -> Story {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let job = client.job(id)?;
        if job["stage"] == "done" {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "the job has not ended in time: {job}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// RFC 6585, section 4: a 429 has the time after which to retry.
#[test]
fn rfc_6585_429_a_tenant_with_two_active_jobs_gets_a_third_after_one_has_ended() -> Story {
    let Some(stack) = limited() else { return Ok(()) };
    let (client, other) = (&stack.client, tenant(stack, "carol")?);
    let first = id(&slow_job(client)?.expect(202)?)?;
    let second = id(&slow_job(client)?.expect(202)?)?;
    let refused = once(client, "normal", "")?;
    problem(&refused, 429, "too-many-jobs")?;
    ensure!(refused.headers["retry-after"] == "10", "{:?}", refused.headers);
    once(&other, "normal", "")?.expect(202)?;
    client.cancel(&first)?.expect(202)?;
    Watch::new(stack, &first).end()?;
    let third = id(&slow_job(client)?.expect(202)?)?;
    problem(&client.post(&format!("/api/jobs/{first}/retry"), &json!({}))?, 429, "too-many-jobs")?;
    for id in [&second, &third] {
        client.cancel(id)?;
        wait_for_end(client, id)?;
    }
    client.post(&format!("/api/jobs/{first}/retry"), &json!({}))?.expect(202)?;
    client.cancel(&first)?.expect(202)?;
    Ok(())
}

/// A job that runs until it is canceled, or for ten chunks of four seconds.
fn slow_job(client: &Client) -> Result<Answer> {
    let file = client.upload("file.csv", &probe_file((1..=500).map(|_| "ok,80,,")))?;
    client.request_job("probe", Some(&file), &json!({}))
}

#[test]
fn rfc_6585_429_a_tenant_has_a_daily_quota_of_upload_bytes() -> Story {
    let Some(stack) = limited() else { return Ok(()) };
    let (client, other) = (tenant(stack, "dave")?, tenant(stack, "erin")?);
    let request = |client: &Client, size: u32| {
        client.post("/api/uploads", &json!({ "fileName": "f.csv", "contentType": "text/csv", "size": size }))
    };
    request(&client, 60_000)?.expect(201)?;
    let refused = request(&client, 40_001)?;
    let detail = problem(&refused, 429, "upload-quota-exceeded")?["detail"].to_string();
    ensure!(detail.contains("40000 bytes of today's upload quota are left"), "{detail}");
    let wait_s: u64 = refused.headers["retry-after"].parse()?;
    ensure!((1..=86_400).contains(&wait_s), "{wait_s}");
    request(&client, 40_000)?.expect(201)?;
    problem(&request(&client, 1)?, 429, "upload-quota-exceeded")?;
    request(&other, 100_000)?.expect(201)?;
    let too_large = request(&client, 100_001)?;
    let field = too_large.bad_field();
    assert_eq!((too_large.status, field.as_str()), (422, "/size file_too_large"), "{}", too_large.text());
    Ok(())
}

/// RFC 9110, section 15.6.4: a 503 has the time after which to retry.
#[test]
fn rfc_9110_503_no_job_is_admitted_while_the_queue_of_its_priority_is_deep() -> Story {
    let Some(stack) = limited() else { return Ok(()) };
    let client = tenant(stack, "frank")?;
    // A hundred chunks of four seconds, two at a time: more than ten times the limit, so every tenant is refused.
    let long = probe_file((1..=5_000).map(|_| "ok,80,,"));
    let first = id(&once(&client, "low", "monday-1")?.expect(202)?)?;
    wait_for_end(&client, &first)?;
    let low = client.start_at(Priority::Low, "probe", &long, &json!({}))?;
    // A process caches the queue depth for up to ten seconds. Until then, a small job is admitted.
    let busy = until(|| once(&client, "low", ""), |answer| answer.status == 503)?;
    problem(&busy, 503, "busy")?;
    ensure!(busy.headers["retry-after"] == "30", "{:?}", busy.headers);
    assert_eq!(id(&once(&client, "low", "monday-1")?.expect(202)?)?, first, "a repeated create has the same response");
    once(&tenant(stack, "grace")?, "high", "")?.expect(202)?;
    client.cancel(&low)?.expect(202)?;
    until(|| once(&client, "low", ""), |answer| answer.status == 202)?;
    Ok(())
}

fn until(request: impl Fn() -> Result<Answer>, is_expected: impl Fn(&Answer) -> bool) -> Result<Answer> {
    let deadline = Instant::now() + Duration::from_secs(90);
    loop {
        let answer = request()?;
        if is_expected(&answer) {
            return Ok(answer);
        }
        ensure!(Instant::now() < deadline, "still answered {}: {}", answer.status, answer.text());
        std::thread::sleep(Duration::from_millis(500));
    }
}

#[test]
fn rfc_6585_431_and_rfc_9110_413_414_the_functions_refuse_requests_that_are_too_large() -> Story {
    let Some(stack) = limited() else { return Ok(()) };
    let client = &stack.client;
    let (tags, body, query) = ("x".repeat(5_000), vec![b' '; MAX_BODY + 1], "x".repeat(8_000));
    for (path, function) in [("/api/jobs/x", "jobs-api"), ("/api/uploads/x", "upload")] {
        let answer = client.call("GET", path, &[("if-none-match", &tags)], &[])?;
        problem(&answer, 431, "headers-too-large").context(function)?;
        problem(&client.get(&format!("{path}?cursor={query}"))?, 414, "uri-too-long").context(function)?;
    }
    problem(&client.call("POST", "/api/jobs/x/cancel", &[], &body)?, 413, "body-too-large")?;
    problem(&client.call("POST", "/api/uploads/x/url", &[], &body)?, 413, "body-too-large")?;
    let deep = format!("{{\"options\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let json = [("content-type", "application/json")];
    problem(&client.call("POST", "/api/jobs", &json, deep.as_bytes())?, 400, "malformed-json")?;
    Ok(())
}

#[test]
fn a_limited_job_type_never_exceeds_its_concurrency_limit() -> Story {
    let Some(stack) = &without_sweeps() else { return Ok(()) };
    let parked = || -> Result<_> { Ok(stack.run(stack.store()?.parked("probe-limited", 10))?) };
    let marks = Marks::new();
    let mark = marks.path().display();
    // Two jobs share the limit. They have forty chunks of half a second, for two permits and six workers.
    let file = probe_file((1..=100).map(|n| format!("{},100,1,{mark}", if n % 25 == 0 { "retry" } else { "ok" })));
    let high = stack.client.start_at(Priority::High, "probe-limited", &file, &json!({}))?;
    let low = stack.client.start_at(Priority::Low, "probe-limited", &file, &json!({}))?;
    let mut watch = Watch::new(stack, &low);
    watch.until("in progress", |job| job["itemProgress"].as_u64() > Some(0))?;
    ensure!(!parked()?.is_empty(), "no chunk is parked");
    let others = probe_file((1..=100).map(|_| "ok,1,,"));
    let (other, _) = work(stack, "probe", &others, &json!({}))?;
    assert_eq!((other["status"].as_str(), counts(&other)), (Some("completed"), [100, 0, 0]), "{other}");
    ensure!(stack.client.job(&low)?["status"] == "running", "the limited job ended before the other one");
    for (id, watch) in [(&low, watch), (&high, Watch::new(stack, &high))] {
        let (job, _) = end(watch, stack, id, &file)?;
        assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [100, 0, 0]), "{job}");
        let dead_letters = stack.peek("ChunkDlqUrl")?;
        ensure!(!dead_letters.iter().any(|dead_letter| dead_letter.contains(id)), "a parked chunk was dead-lettered");
    }
    assert_eq!(marks.most_inside()?, 2);
    // A chunk that got a permit after it was parked stays parked until its worker ends.
    let all_ended = wait_until(|| Ok(parked()?.is_empty()));
    all_ended.with_context(|| format!("chunks of ended jobs are still parked: {:?}", parked()))
}

#[test]
fn the_permit_of_a_killed_worker_is_released_soon() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let marks = Marks::new();
    let mark = marks.path().display();
    // One worker is killed in each of two chunks: for a moment dead workers have both permits.
    let killed = [3, 8];
    let file = probe_file((1..=40).map(|n| format!("{},50,,{mark}", if killed.contains(&n) { "kill" } else { "ok" })));
    let id = stack.client.start("probe-limited", "file.csv", &file, &json!({}))?;
    let (job, _) = end(Watch::new(stack, &id).sweeping(), stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [40, 0, 0]), "{job}");
    let calls = marks.calls(40)?;
    // On a busy machine a worker can also exceed its timeout.
    ensure!(killed.iter().all(|n| calls[n - 1] >= 2), "no worker was killed: {calls:?}");
    let dead_letters = stack.peek("ChunkDlqUrl")?;
    ensure!(!dead_letters.iter().any(|dead_letter| dead_letter.contains(&id)), "a chunk was dead-lettered");
    Ok(())
}

#[test]
fn a_high_priority_job_ends_while_the_low_priority_queue_is_deep() -> Story {
    let stack = stack();
    // Sixty chunks of four seconds, two at a time: two minutes of work.
    let long = probe_file((1..=3_000).map(|_| "ok,80,,"));
    let low = stack.client.start_at(Priority::Low, "probe", &long, &json!({}))?;
    let short = probe_file((1..=50).map(|n| if n == 7 { "retry,,1," } else { "ok,,," }));
    for priority in [Priority::High, Priority::Normal] {
        let id = stack.client.start_at(priority, "probe", &short, &json!({}))?;
        let (job, _) = finish(stack, &id, &short)?;
        assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [50, 0, 0]), "{job}");
        let low_job = stack.client.job(&low)?;
        ensure!(low_job["status"] == "running", "the low-priority job has ended: {low_job}");
        ensure!(low_job["counts"]["pending"].as_u64() > Some(500), "the low-priority queue is not deep: {low_job}");
    }
    // The low-priority job has made progress, too, and its counts are exact when it is stopped.
    stack.client.cancel(&low)?.expect(202)?;
    let (job, report) = finish(stack, &low, &long)?;
    ensure!(counts(&job)[0] > 0 && !report.unprocessed.is_empty(), "{job}");
    Ok(())
}

#[test]
fn a_low_priority_job_ends_with_exact_counts() -> Story {
    let stack = stack();
    let file = probe_file((1..=130).map(|n| ["ok,,,", "reject,,,", "skip,,,", "retry,,1,"][n % 4]));
    let id = stack.client.start_at(Priority::Low, "probe", &file, &json!({}))?;
    let (job, _) = finish(stack, &id, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [64, 33, 33]), "{job}");
    Ok(())
}
