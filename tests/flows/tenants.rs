//! Two tenants with tokens of the emulator's user pool, on one stack: neither can see or use the other's data through
//! any route.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use longshore::ports::report_key;
use longshore_domain::ids::JobId;
use longshore_domain::ports::JobStore;
use longshore_tests::harness::client::{Answer, Client};
use longshore_tests::harness::users::User;
use serde_json::{Value, json};

use crate::events::await_event;
use crate::routes::{ROUTES, Target};
use crate::shared::{Story, dataset, job_id, lines, stack, work};

/// The other user, signed in before any story changes the validity of tokens.
pub(crate) fn bob() -> &'static User {
    static BOB: OnceLock<User> = OnceLock::new();
    BOB.get_or_init(|| {
        stack().users.add("bob").unwrap_or_else(|error| panic!("the user bob cannot be added: {error:?}"))
    })
}

pub(crate) fn bobs() -> Client {
    stack().client.clone().with_token(&bob().token)
}

/// Calls a route with these values for its parameters.
pub(crate) fn call(
    client: &Client,
    (method, path): (&str, &str),
    [job, dataset, file]: [&str; 3],
    body: &Value,
) -> Result<Answer> {
    let to = path
        .replace("{jobId}", job)
        .replace("{dataset}", dataset)
        .replace("{fileGuid}", file)
        .replace("{file}", "failed.csv")
        .replace("{kind}", "not-found")
        .replace("{webhookId}", job)
        .replace("{scheduleId}", job)
        .replace("{deliveryId}", "001700000000000-event")
        .replace("{letterId}", "1700000000000-letter")
        .replace("{pauseId}", job)
        .replace("{name}", "no-type");
    ensure!(!to.contains('{'), "{path} has an unknown parameter");
    let body = if method == "GET" { String::new() } else { body.to_string() };
    client.call(method, &to, &[("content-type", "application/json")], body.as_bytes())
}

/// Status and body, without the members that differ between calls.
fn comparable(answer: &Answer) -> (u16, Value) {
    let mut body = answer.json();
    if let Some(members) = body.as_object_mut() {
        members.remove("requestId");
    }
    (answer.status, body)
}

#[test]
fn every_route_is_in_the_table() {
    let routes = jobs_api::ROUTES.iter().chain(&upload::ROUTES).chain(&inspect::ROUTES).chain(&operations::ROUTES);
    let routes: BTreeSet<_> = routes.copied().collect();
    let table: BTreeSet<_> = ROUTES.iter().map(|(method, path, _)| (*method, *path)).collect();
    assert_eq!(table, routes);
    let public = ROUTES.iter().filter(|(_, _, target)| matches!(target, Target::Document));
    assert_eq!(public.map(|(method, path, _)| (*method, *path)).collect::<Vec<_>>(), jobs_api::PUBLIC_ROUTES);
}

#[test]
fn requests_for_data_of_another_tenant_are_answered_as_for_missing_data() -> Story {
    let (alice, bob) = (&stack().client, bobs());
    let name = dataset("alices");
    let file = lines(["id,name", "1,Ann", ",no key"]);
    let (job, _) = work(stack(), "import", &file, &json!({ "dataset": name, "key": "id" }))?;
    let (job, upload) = (job["jobId"].as_str().context("the job has no id")?, alice.upload("a.csv", &file)?);
    let absent = JobId::generate().to_string();
    let webhook = json!({ "url": "https://example.com/alice", "enabled": false }).to_string();
    let json = [("content-type", "application/json")];
    let webhook = alice.call("POST", "/api/webhooks", &json, webhook.as_bytes())?.expect(201)?;
    let webhook = webhook["webhookId"].as_str().context("the webhook has no id")?.to_owned();
    let export = json!({ "jobType": "export", "source": { "dataset": name } });
    let schedule = json!({ "name": "alice", "everyMinutes": 60, "job": export }).to_string();
    let schedule = alice.call("POST", "/api/schedules", &json, schedule.as_bytes())?.expect(201)?;
    let schedule = schedule["scheduleId"].as_str().context("the schedule has no id")?.to_owned();
    for (method, path, target) in ROUTES {
        let route = (method, path);
        let request = |client: &Client, job: &str, name: &str, file: &str| {
            let body = json!({ "jobType": "import", "fileGuid": file, "options": { "dataset": name, "key": "id" } });
            call(client, route, [job, name, file], &body)
        };
        match target {
            Target::Job | Target::Upload => {
                let foreign = comparable(&request(&bob, job, &name, &upload)?);
                let missing = comparable(&request(&bob, &absent, &name, &absent)?);
                ensure!(
                    foreign.0 == 404 && foreign == missing,
                    "{route:?}: {foreign:?}, but missing data: {missing:?}"
                );
            }
            Target::List => {
                let is_listed = |client: &Client| -> Result<bool> {
                    let jobs = request(client, job, &name, &upload)?.expect(200)?["jobs"].clone();
                    Ok(jobs.as_array().is_some_and(|jobs| jobs.iter().any(|other| other["jobId"] == job)))
                };
                ensure!(is_listed(alice)? && !is_listed(&bob)?, "{route:?}: a list has jobs of another tenant");
            }
            Target::SourceInBody => {
                let (foreign, missing) = (
                    comparable(&request(&bob, job, &name, &upload)?),
                    comparable(&request(&bob, job, &name, &absent)?),
                );
                ensure!(
                    foreign.0 == 422 && foreign == missing,
                    "{route:?}: {foreign:?}, but missing data: {missing:?}"
                );
                let of_part = |job: &str| -> Result<_> {
                    let body = json!({
                        "jobType": "import", "source": { "jobId": job, "part": "failed" },
                        "options": { "dataset": name, "key": "id" },
                    });
                    Ok(comparable(&call(&bob, route, [job, &name, &upload], &body)?))
                };
                let (foreign, missing) = (of_part(job)?, of_part(&absent)?);
                ensure!(
                    foreign.0 == 422 && foreign == missing && foreign.1["errors"][0]["code"] == "unknown_job",
                    "{route:?}: {foreign:?}, but missing data: {missing:?}"
                );
            }
            Target::Costs => {
                // Bob imports nothing.
                let has_imports = |client: &Client| -> Result<bool> {
                    let types = request(client, job, &name, &upload)?.expect(200)?["jobTypes"].clone();
                    Ok(types.as_array().is_some_and(|types| types.iter().any(|costs| costs["jobType"] == "import")))
                };
                ensure!(has_imports(alice)? && !has_imports(&bob)?, "{route:?}: costs of a job of another tenant");
                // Bob is no operator.
                bob.get("/api/costs?tenant=*")?.expect(403)?;
            }
            Target::Events => {
                await_event(alice, job, "job.completed")?;
                ensure!(bob.events()?.iter().all(|event| event["data"]["jobId"] != job), "{route:?}: events of alice");
            }
            Target::Webhooks => {
                let is_listed = |client: &Client| -> Result<bool> {
                    let list = request(client, job, &name, &upload)?.expect(200)?["webhooks"].clone();
                    Ok(list.as_array().is_some_and(|list| list.iter().any(|other| other["webhookId"] == *webhook)))
                };
                ensure!(is_listed(alice)? && !is_listed(&bob)?, "{route:?}: a list has webhooks of another tenant");
            }
            Target::Webhook => {
                let body = json!({ "url": "https://example.com/bob", "since": "2026-07-01T08:00:00Z" });
                let body = match path.rsplit('/').next() {
                    Some("replay") if !path.contains("deliveryId") => json!({ "since": body["since"] }),
                    _ => json!({ "url": body["url"] }),
                };
                let request =
                    |id: &str| Ok::<_, anyhow::Error>(comparable(&call(&bob, route, [id, &name, &upload], &body)?));
                let (foreign, missing) = (request(&webhook)?, request(&absent)?);
                ensure!(
                    foreign.0 == 404 && foreign == missing,
                    "{route:?}: {foreign:?}, but missing data: {missing:?}"
                );
            }
            Target::Schedules => {
                let is_listed = |client: &Client| -> Result<bool> {
                    let list = request(client, job, &name, &upload)?.expect(200)?["schedules"].clone();
                    Ok(list.as_array().is_some_and(|list| list.iter().any(|other| other["scheduleId"] == *schedule)))
                };
                ensure!(is_listed(alice)? && !is_listed(&bob)?, "{route:?}: a list has schedules of another tenant");
            }
            Target::Schedule => {
                let body = json!({ "name": "bob", "everyMinutes": 60, "job": export });
                let request =
                    |id: &str| Ok::<_, anyhow::Error>(comparable(&call(&bob, route, [id, &name, &upload], &body)?));
                let (foreign, missing) = (request(&schedule)?, request(&absent)?);
                ensure!(
                    foreign.0 == 404 && foreign == missing,
                    "{route:?}: {foreign:?}, but missing data: {missing:?}"
                );
            }
            Target::Datasets => {
                let is_listed = |client: &Client| -> Result<bool> {
                    let datasets = request(client, job, &name, &upload)?.expect(200)?["datasets"].clone();
                    Ok(datasets.as_array().is_some_and(|datasets| datasets.iter().any(|other| other["name"] == *name)))
                };
                ensure!(is_listed(alice)? && !is_listed(&bob)?, "{route:?}: a list has datasets of another tenant");
            }
            Target::Dataset => {
                ensure!(
                    comparable(&request(alice, job, &name, &upload)?).1["records"][0]["key"] == "1",
                    "alice has no records"
                );
                let foreign = comparable(&request(&bob, job, &name, &upload)?);
                let missing = comparable(&request(&bob, job, &format!("{name}-2"), &upload)?);
                ensure!(
                    foreign.0 == 200 && foreign == missing,
                    "{route:?}: {foreign:?}, but missing data: {missing:?}"
                );
            }
            Target::WholeDataset => {
                let (foreign, missing) = (
                    comparable(&request(&bob, job, &name, &upload)?),
                    comparable(&request(&bob, job, &format!("{name}-2"), &upload)?),
                );
                ensure!(
                    foreign.0 == 404 && foreign == missing,
                    "{route:?}: {foreign:?}, but missing data: {missing:?}"
                );
            }
            Target::Record => {
                let delete =
                    |name: &str| bob.call(method, &format!("{}?key=1", path.replace("{dataset}", name)), &[], &[]);
                let (foreign, missing) = (comparable(&delete(&name)?), comparable(&delete(&format!("{name}-2"))?));
                ensure!(
                    foreign.0 == 204 && foreign == missing,
                    "{route:?}: {foreign:?}, but missing data: {missing:?}"
                );
                ensure!(alice.records(&name)?.contains_key("1"), "{route:?}: bob has deleted alice's record");
            }
            Target::Operators => {
                let refused = comparable(&request(&bob, job, &name, &upload)?);
                ensure!(
                    refused.0 == 403 && refused.1["type"] == "/api/problems/not-an-operator",
                    "{route:?}: {refused:?}"
                );
            }
            Target::JobTypes => {
                let answers = [alice, &bob].map(|client| request(client, job, &name, &upload));
                let [own, other] = answers.map(|answer| answer.map(|answer| comparable(&answer)));
                ensure!(own? == other?, "{route:?}: two tenants see different job types");
            }
            Target::Nothing | Target::Document => {}
        }
    }
    let output = alice.get(&format!("/api/jobs/{job}/output"))?.expect(200)?;
    let failed = output["files"]["failed"]["url"].as_str().context("alice's job has no failures file")?;
    let stored = stack().run(stack().store()?.job(job_id(job)?))?.context("alice's job does not exist")?;
    let (path, _) = failed.split_once('?').context("the URL is not signed")?;
    ensure!(path.ends_with(&format!("/{}", report_key(&stored, "failed.csv"))), "{path}");
    Ok(())
}

#[test]
fn two_tenants_can_use_the_same_idempotency_key() -> Story {
    let body = json!({ "jobType": "probe-once", "options": { "action": "ok" } }).to_string();
    let headers = [("content-type", "application/json"), ("idempotency-key", "monday-1")];
    let create = |client: &Client| client.call("POST", "/api/jobs", &headers, body.as_bytes())?.expect(202);
    let (first, other, repeated) = (create(&stack().client)?, create(&bobs())?, create(&stack().client)?);
    assert_ne!(first["jobId"], other["jobId"]);
    assert_eq!(first["jobId"], repeated["jobId"]);
    Ok(())
}

#[test]
fn a_presigned_url_is_valid_only_for_its_own_key() -> Story {
    let (alice, bob) = (&stack().client, bobs());
    let mut alices = alice.create_upload("a.csv", 5, None)?;
    let bobs = bob.create_upload("a.csv", 5, None)?;
    let guid = |upload: &Value| upload["fileGuid"].as_str().map(str::to_owned).context("the upload has no id");
    let url = alices["url"].as_str().context("the upload has no URL")?.to_owned();
    let key = format!("/uploads/{}/{}", stack().tenant, guid(&alices)?);
    ensure!(url.contains(&key), "{url} is not for {key}");
    for other in [format!("/uploads/{}/{}", bob_tenant(), guid(&bobs)?), format!("{key}2"), "/jobs/x".to_owned()] {
        alices["url"] = url.replace(&key, &other).into();
        assert_eq!(alice.put(&alices, b"id\n1\n")?.status, 403, "{other}");
    }
    alices["url"] = url.into();
    assert_eq!(alice.put(&alices, b"id\n1\n")?.status, 200);
    Ok(())
}

fn bob_tenant() -> &'static str {
    &bob().tenant
}
