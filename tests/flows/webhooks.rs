//! Webhooks: an endpoint is checked, gets signed events, and gets them again after failures and replays.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use longshore::metrics::Metric;
use longshore_domain::timestamp::Timestamp;
use longshore_tests::harness::client::Client;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::events::await_event;
use crate::https_server::{Running, Site};
use crate::metrics::{Expected, Row, await_metrics};
use crate::shared::{Story, impatient, probe_file, wait_until};

/// A receiver of webhooks, with its orders and records.
struct Receiver {
    folder: TempDir,
    _running: Running,
}

impl Receiver {
    fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (own, signatures) = (folder.path().display().to_string(), tests.join("../examples/handlers/python"));
        let variables =
            [("RECEIVER_FOLDER", own.as_str()), ("SIGNATURE_FOLDER", signatures.to_str().context("no path")?)];
        let running = Site::Webhooks.serve(&tests.join("flows"), "webhook_receiver", &variables)?;
        Ok(Self { folder, _running: running })
    }

    fn write(&self, name: &str, text: &str) -> Story {
        Ok(fs::write(self.folder.path().join(name), text)?)
    }

    /// The accepted events of a job: each message with its id.
    fn events(&self, job: &str) -> Result<Vec<Value>> {
        let text = fs::read_to_string(self.folder.path().join("events")).unwrap_or_default();
        let events: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
        Ok(events?.into_iter().filter(|event| event["body"]["data"]["jobId"] == job).collect())
    }
}

pub(crate) fn call(client: &Client, method: &str, path: &str, body: &Value) -> Result<(u16, Value)> {
    let headers = [("content-type", "application/json")];
    let answer = client.call(method, &format!("/api/webhooks{path}"), &headers, body.to_string().as_bytes())?;
    Ok((answer.status, if answer.body.is_empty() { Value::Null } else { answer.json() }))
}

pub(crate) fn secret_of(answer: &Value) -> Result<&str> {
    answer["secret"].as_str().context("no secret")
}

/// A webhook of a tenant of its own, once it is active.
fn active(client: &Client, receiver: &Receiver) -> Result<(String, String)> {
    let (status, created) = call(client, "POST", "", &json!({ "url": Site::Webhooks.endpoint().url() }))?;
    ensure!(status == 201 && created["status"] == "pending", "{status} {created}");
    let (id, secret) = (created["webhookId"].as_str().context("no id")?, secret_of(&created)?);
    let path = format!("/{id}");
    // The receiver did not know the secret when it was checked first.
    let check = || Ok::<_, anyhow::Error>(call(client, "GET", &path, &json!({}))?.1["check"]["result"].clone());
    wait_until(|| Ok(check()? == "refused")).context("the first check is not refused")?;
    receiver.write("secrets", secret)?;
    let (status, tested) = call(client, "POST", &format!("{path}/test"), &json!({}))?;
    ensure!(status == 202 && tested["check"]["result"].is_null(), "{status} {tested}");
    wait_until(|| Ok(check()? == "passed")).context("the check does not pass")?;
    ensure!(call(client, "GET", &path, &json!({}))?.1["status"] == "active", "the webhook is not active");
    Ok((id.to_owned(), secret.to_owned()))
}

pub(crate) fn run(client: &Client) -> Result<String> {
    let job = client.start("probe", "file.csv", &probe_file(["ok,1,,"]), &json!({}))?;
    wait_until(|| Ok(client.job(&job)?["status"] == "completed")).context("the job does not end")?;
    Ok(job)
}

#[test]
fn an_endpoint_gets_each_event_under_its_id_after_failures_and_replays() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let since = Timestamp::now();
    let receiver = Receiver::start()?;
    let user = stack.users.add("webhooks")?;
    let client = stack.client.clone().with_token(&user.token);
    let (id, secret) = active(&client, &receiver)?;
    let path = format!("/{id}");
    let job = run(&client)?;
    wait_until(|| Ok(receiver.events(&job)?.len() == 2)).context("the events do not arrive")?;
    let received = receiver.events(&job)?;
    await_event(&client, &job, "job.completed")?;
    let is_end = |event: &Value| event["data"]["jobId"] == *job && event["type"] == "job.completed";
    let listed = client.events()?.into_iter().find(is_end).context("no end in the list")?;
    let completed = received.iter().find(|event| event["body"]["type"] == "job.completed").context("no end")?;
    ensure!(completed["id"] == listed["id"] && completed["body"] == listed, "{completed}, but in the list: {listed}");

    // The first attempts fail; the others follow after five seconds.
    receiver.write("status", "500 Broken")?;
    let job = run(&client)?;
    let deliveries = || Ok::<_, anyhow::Error>(call(&client, "GET", &format!("{path}/deliveries"), &json!({}))?.1);
    let has = |status: &str| {
        let page = deliveries()?;
        let of_job = page["deliveries"].as_array().context("no page")?.iter();
        let of_job = of_job.filter(|delivery| delivery["event"]["data"]["jobId"] == *job);
        Ok(of_job.filter(|delivery| delivery["status"] == status && delivery["log"][0]["status"] == 500).count() == 2)
    };
    wait_until(|| has("pending")).context("the deliveries are not pending")?;
    receiver.write("status", "204 No Content")?;
    wait_until(|| has("delivered")).context("the deliveries are not repeated")?;
    ensure!(receiver.events(&job)?.len() == 2, "an event was accepted twice");
    let attempts: &[Row<'_>] = &[
        (Metric::WebhookAttempts, &["accepted"], Expected::AtLeast(4.0)),
        (Metric::WebhookAttempts, &["failed"], Expected::AtLeast(2.0)),
        (Metric::WebhookDuration, &[], Expected::Time),
    ];
    await_metrics(stack, since, attempts)?;

    // During a rotation, the old secret is still valid.
    let (status, rotated) = call(&client, "POST", &format!("{path}/secret"), &json!({}))?;
    ensure!(status == 200 && secret_of(&rotated)? != secret, "{status} {rotated}");
    let (status, again) = call(&client, "POST", &format!("{path}/secret"), &json!({}))?;
    ensure!(status == 200 && secret_of(&again)? == secret_of(&rotated)?, "a second rotation");
    let first = deliveries()?["deliveries"][0]["deliveryId"].as_str().context("no delivery")?.to_owned();
    let (status, _) = call(&client, "POST", &format!("{path}/deliveries/{first}/replay"), &json!({}))?;
    ensure!(status == 202, "{status}");
    wait_until(|| Ok(receiver.events(&job)?.len() == 3)).context("the event is not replayed")?;
    receiver.write("secrets", secret_of(&rotated)?)?;

    // 410 ends it, until it is enabled again.
    receiver.write("status", "410 Gone")?;
    let job = run(&client)?;
    wait_until(|| Ok(call(&client, "GET", &path, &json!({}))?.1["disabledReason"] == "gone"))
        .context("the webhook is not disabled")?;
    let since = json!({ "since": "2026-01-01T00:00:00Z" });
    ensure!(call(&client, "POST", &format!("{path}/replay"), &since)?.0 == 409, "a replay to a disabled webhook");
    receiver.write("status", "204 No Content")?;
    let (status, enabled) = call(&client, "PUT", &path, &json!({ "url": Site::Webhooks.endpoint().url() }))?;
    ensure!(status == 200 && enabled["status"] == "pending", "{status} {enabled}");
    wait_until(|| Ok(call(&client, "GET", &path, &json!({}))?.1["status"] == "active"))
        .context("the webhook is not enabled")?;
    // Deliveries fail once their endpoint is gone, and those of events that came meanwhile do not exist.
    wait_until(|| {
        let page = deliveries()?;
        let of_job = page["deliveries"].as_array().context("no page")?.iter();
        let mut of_job = of_job.filter(|delivery| delivery["event"]["data"]["jobId"] == *job);
        Ok(of_job.all(|delivery| delivery["status"] == "failed"))
    })
    .context("the deliveries do not fail")?;
    let (status, _) = call(&client, "POST", &format!("{path}/replay"), &since)?;
    ensure!(status == 202, "{status}");
    wait_until(|| Ok(!receiver.events(&job)?.is_empty())).context("the events are not replayed")?;
    ensure!(call(&client, "POST", &format!("{path}/replay"), &since)?.0 == 429, "a replay within a minute");

    ensure!(call(&client, "DELETE", &path, &json!({}))?.0 == 204, "it is deleted");
    ensure!(call(&client, "GET", &path, &json!({}))?.0 == 404, "it is gone");
    Ok(())
}

#[test]
fn only_public_https_urls_are_accepted_and_ten_of_them() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let user = stack.users.add("webhook-urls")?;
    let client = stack.client.clone().with_token(&user.token);
    for (url, event_types) in [
        ("http://example.com/", json!("job.failed")),
        ("https://127.0.0.1/", json!(["job.ended"])),
        ("https://intranet/", json!(["job.failed", "job.failed"])),
        ("https://example.com:8080/", json!([1])),
        ("https://a@example.com/", json!({})),
    ] {
        let (status, answer) = call(&client, "POST", "", &json!({ "url": url, "eventTypes": event_types }))?;
        ensure!(
            status == 422 && answer["errors"].as_array().is_some_and(|errors| errors.len() == 2),
            "{url}: {answer}"
        );
    }
    let webhook = json!({ "url": "https://example.com/", "enabled": false, "eventTypes": ["job.failed"] });
    for _ in 0..10 {
        let (status, created) = call(&client, "POST", "", &webhook)?;
        ensure!(status == 201 && created["status"] == "disabled", "{status} {created}");
    }
    let (status, refused) = call(&client, "POST", "", &webhook)?;
    ensure!(status == 409 && refused["type"] == "/api/problems/too-many-webhooks", "{status} {refused}");
    let list = call(&client, "GET", "", &json!({}))?.1;
    ensure!(
        list["webhooks"].as_array().is_some_and(|list| list.len() == 10) && !list.to_string().contains("whsec"),
        "{list}"
    );
    Ok(())
}
