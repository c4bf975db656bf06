//! Two tenants with tokens of the emulator's user pool, on one stack: neither can see or use the other's data by any
//! route, and an invalid token allows nothing.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use longshore::ports::report_key;
use longshore_domain::ids::JobId;
use longshore_domain::ports::JobStore;
use longshore_tests::harness::client::{Answer, Client};
use longshore_tests::harness::users::{User, Users, VERIFIER};
use serde_json::{Value, json};

use crate::shared::{Story, dataset, job_id, lines, stack, work};

/// Kinds of routes, by how a call can name another tenant's data.
#[derive(Copy, Clone, Debug)]
enum Others {
    /// The path names a job.
    Job,
    /// The path names an upload.
    Upload,
    /// The call names nothing, and lists everything.
    List,
    /// The body names an upload. The call is refused because of the body, not the path.
    FileInBody,
    /// The call names nothing, and lists all datasets.
    Datasets,
    /// The path names a dataset: two tenants' datasets of one name have nothing in common.
    Dataset,
    /// The call names nothing, and creates data of the caller.
    Nothing,
    /// Routes over all tenants, for operators only: other callers are refused, whatever they name.
    Operators,
    /// A public document, which can be read without a token.
    Document,
}

/// Every route with its kind. A new route needs a row here.
const ROWS: [(&str, &str, Others); 25] = [
    ("POST", "/api/uploads", Others::Nothing),
    ("GET", "/api/uploads/{fileGuid}", Others::Upload),
    ("POST", "/api/uploads/{fileGuid}/url", Others::Upload),
    ("POST", "/api/uploads/{fileGuid}/complete", Others::Upload),
    ("POST", "/api/jobs", Others::FileInBody),
    ("GET", "/api/jobs", Others::List),
    ("GET", "/api/jobs/{jobId}", Others::Job),
    ("GET", "/api/jobs/{jobId}/output", Others::Job),
    ("GET", "/api/jobs/{jobId}/failures", Others::Job),
    ("GET", "/api/jobs/{jobId}/audit", Others::Job),
    ("POST", "/api/jobs/{jobId}/cancel", Others::Job),
    ("POST", "/api/jobs/{jobId}/retry", Others::Job),
    ("POST", "/api/jobs/{jobId}/start", Others::Job),
    ("DELETE", "/api/jobs/{jobId}", Others::Job),
    ("GET", "/api/datasets", Others::Datasets),
    ("GET", "/api/datasets/{dataset}/records", Others::Dataset),
    ("GET", "/api/dead-letters", Others::Operators),
    ("GET", "/api/dead-letters/{letterId}", Others::Operators),
    ("DELETE", "/api/dead-letters/{letterId}", Others::Operators),
    ("POST", "/api/dead-letters/{letterId}/replay", Others::Operators),
    ("POST", "/api/dead-letters/replay", Others::Operators),
    ("GET", "/api/openapi.json", Others::Document),
    ("GET", "/api/docs", Others::Document),
    ("GET", "/api/problems", Others::Document),
    ("GET", "/api/problems/{kind}", Others::Document),
];

/// The other tenant, signed in before any story changes the validity of tokens.
fn bob() -> &'static User {
    static BOB: OnceLock<User> = OnceLock::new();
    BOB.get_or_init(|| stack().users.add("bob").unwrap_or_else(|error| panic!("bob cannot sign in: {error:?}")))
}

fn bobs() -> Client {
    stack().client.clone().with_token(&bob().token)
}

/// Calls a route with these values for its parameters.
fn call(
    client: &Client,
    (method, path): (&str, &str),
    [job, dataset, file]: [&str; 3],
    body: &Value,
) -> Result<Answer> {
    let to = path.replace("{jobId}", job).replace("{dataset}", dataset).replace("{fileGuid}", file);
    let to = to.replace("{kind}", "not-found").replace("{letterId}", "1700000000000-letter");
    ensure!(!to.contains('{'), "{path} has a parameter that no row fills");
    let body = if method == "GET" { String::new() } else { body.to_string() };
    client.call(method, &to, &[("content-type", "application/json")], body.as_bytes())
}

/// Status and body, without the parts that differ between calls.
fn comparable(answer: &Answer) -> (u16, Value) {
    let mut body = answer.json();
    if let Some(members) = body.as_object_mut() {
        members.remove("requestId");
    }
    (answer.status, body)
}

#[test]
fn every_route_has_a_row() {
    let routes = jobs_api::ROUTES.iter().chain(&upload::ROUTES).chain(&dead_letters::ROUTES);
    let routes: BTreeSet<_> = routes.copied().collect();
    let rows: BTreeSet<_> = ROWS.iter().map(|(method, path, _)| (*method, *path)).collect();
    assert_eq!(rows, routes);
    let public = ROWS.iter().filter(|(_, _, others)| matches!(others, Others::Document));
    assert_eq!(public.map(|(method, path, _)| (*method, *path)).collect::<Vec<_>>(), jobs_api::PUBLIC_ROUTES);
}

#[test]
fn data_of_another_tenant_is_answered_like_absent_data() -> Story {
    let (alice, bob) = (&stack().client, bobs());
    let name = dataset("alices");
    let file = lines(["id,name", "1,Ann", ",no key"]);
    let (job, _) = work(stack(), "import", &file, &json!({ "dataset": name, "key": "id" }))?;
    let (job, upload) = (job["jobId"].as_str().context("a job without id")?, alice.upload("a.csv", &file)?);
    let absent = JobId::generate().to_string();
    for (method, path, others) in ROWS {
        let route = (method, path);
        let ask = |client: &Client, job: &str, name: &str, file: &str| {
            let body = json!({ "jobType": "import", "fileGuid": file, "options": { "dataset": name, "key": "id" } });
            call(client, route, [job, name, file], &body)
        };
        match others {
            Others::Job => {
                let (got, never) =
                    (comparable(&ask(&bob, job, &name, &upload)?), comparable(&ask(&bob, &absent, &name, &upload)?));
                ensure!(got.0 == 404 && got == never, "{route:?}: {got:?}, and for what never was {never:?}");
            }
            Others::Upload => {
                let (got, never) =
                    (comparable(&ask(&bob, job, &name, &upload)?), comparable(&ask(&bob, job, &name, &absent)?));
                ensure!(got.0 == 404 && got == never, "{route:?}: {got:?}, and for what never was {never:?}");
            }
            Others::List => {
                let listed = |who: &Client| -> Result<bool> {
                    let jobs = ask(who, job, &name, &upload)?.expect(200)?["jobs"].clone();
                    Ok(jobs.as_array().is_some_and(|jobs| jobs.iter().any(|listed| listed["jobId"] == job)))
                };
                ensure!(listed(alice)? && !listed(&bob)?, "{route:?}: one's jobs are in the other's list");
            }
            Others::FileInBody => {
                let (got, never) =
                    (comparable(&ask(&bob, job, &name, &upload)?), comparable(&ask(&bob, job, &name, &absent)?));
                ensure!(got.0 == 422 && got == never, "{route:?}: {got:?}, and for what never was {never:?}");
            }
            Others::Datasets => {
                let listed = |who: &Client| -> Result<bool> {
                    let datasets = ask(who, job, &name, &upload)?.expect(200)?["datasets"].clone();
                    Ok(datasets.as_array().is_some_and(|all| all.iter().any(|listed| listed["name"] == *name)))
                };
                ensure!(listed(alice)? && !listed(&bob)?, "{route:?}: one's datasets are in the other's list");
            }
            Others::Dataset => {
                ensure!(
                    comparable(&ask(alice, job, &name, &upload)?).1["records"][0]["key"] == "1",
                    "alice has no records"
                );
                let got = comparable(&ask(&bob, job, &name, &upload)?);
                let never = comparable(&ask(&bob, job, &format!("{name}-2"), &upload)?);
                ensure!(got.0 == 200 && got == never, "{route:?}: {got:?}, and for what never was {never:?}");
            }
            Others::Operators => {
                let got = comparable(&ask(&bob, job, &name, &upload)?);
                ensure!(got.0 == 403 && got.1["type"] == "/api/problems/not-an-operator", "{route:?}: {got:?}");
            }
            Others::Nothing | Others::Document => {}
        }
    }
    let output = alice.get(&format!("/api/jobs/{job}/output"))?.expect(200)?;
    let failed = output["files"]["failed"]["url"].as_str().context("alice has no report any more")?;
    let stored = stack().run(stack().store()?.job(job_id(job)?))?.context("alice's job is gone")?;
    let (path, _) = failed.split_once('?').context("the URL is not signed")?;
    ensure!(path.ends_with(&format!("/{}", report_key(&stored, "failed.csv"))), "{path}");
    Ok(())
}

#[test]
fn two_tenants_may_use_one_idempotency_key() -> Story {
    let body = json!({ "jobType": "probe-once", "options": { "action": "ok" } }).to_string();
    let headers = [("content-type", "application/json"), ("idempotency-key", "monday-1")];
    let ask = |client: &Client| client.call("POST", "/api/jobs", &headers, body.as_bytes())?.expect(202);
    let (ours, theirs, again) = (ask(&stack().client)?, ask(&bobs())?, ask(&stack().client)?);
    assert_ne!(ours["jobId"], theirs["jobId"]);
    assert_eq!(ours["jobId"], again["jobId"]);
    Ok(())
}

#[test]
fn a_presigned_upload_is_for_its_own_key_only() -> Story {
    let (alice, bob) = (&stack().client, bobs());
    let mut alices = alice.promise("a.csv", 5, None)?;
    let bobs = bob.promise("a.csv", 5, None)?;
    let guid = |upload: &Value| upload["fileGuid"].as_str().map(str::to_owned).context("an upload without id");
    let url = alices["url"].as_str().context("an upload without URL")?.to_owned();
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

#[test]
fn an_invalid_token_allows_nothing() -> Story {
    let good = bob().token.as_str();
    let [header, claims, signature] = parts(good)?;
    let elevated = changed(claims, |claims| claims["sub"] = stack().tenant.as_str().into())?;
    let unsigned = changed(header, |header| header["alg"] = "none".into())?;
    let elsewhere: Users = stack().users.through_another_client()?;
    let bad = [
        ("another's sub", format!("{header}.{elevated}.{signature}")),
        ("another signature", format!("{header}.{claims}.{}", signature.chars().rev().collect::<String>())),
        ("no signature", format!("{unsigned}.{claims}.")),
        ("another audience", elsewhere.sign_in("bob", "AccessToken")?),
        ("another audience, by its ID token", elsewhere.sign_in("bob", "IdToken")?),
        ("no token at all", "bob".to_owned()),
        ("expired", expired()?),
    ];
    for (method, path, others) in ROWS {
        let answers = |client: &Client| {
            call(
                client,
                (method, path),
                [&JobId::generate().to_string(), "x", &JobId::generate().to_string()],
                &json!({}),
            )
        };
        let open = answers(&stack().client.clone().signed_out())?;
        if matches!(others, Others::Document) {
            ensure!(open.status == 200, "{method} {path} without a token answers {}", open.status);
            continue;
        }
        ensure!(open.status == 401, "{method} {path} without a token answers {}", open.status);
        for (what, token) in &bad {
            let answer = answers(&stack().client.clone().with_token(token))?;
            ensure!(answer.status == 401, "{method} {path} with {what} answers {}", answer.status);
        }
        let answer = answers(&bobs())?;
        ensure!(answer.status != 401, "{method} {path} refuses a good token");
    }
    assert_eq!(stack().client.clone().signed_out().get("/api/nothing")?.status, 401);
    Ok(())
}

#[test]
fn an_id_token_is_accepted_like_an_access_token() -> Story {
    bob();
    let token = stack().users.sign_in("bob", "IdToken")?;
    let client = stack().client.clone().with_token(&token);
    let job = client.post("/api/jobs", &json!({ "jobType": "probe-once", "options": { "action": "ok" } }))?;
    let id = job.expect(202)?["jobId"].as_str().context("a job without id")?.to_owned();
    assert_eq!(bobs().job(&id)?["jobId"], id.as_str());
    Ok(())
}

#[test]
fn a_browser_signs_in_by_code_with_its_verifier_and_nobody_else_does_with_the_code() -> Story {
    let (users, callback) = (&stack().users, format!("{}/", stack().output("ApiUrl")?));
    bob();
    let stolen = users.sign_in_by_page("bob", &callback, &VERIFIER.to_lowercase())?;
    ensure!(stolen["error"] == "invalid_grant" && stolen["access_token"].is_null(), "a stolen code is good: {stolen}");
    let own = users.sign_in_by_page("bob", &callback, VERIFIER)?;
    let token = own["access_token"].as_str().with_context(|| format!("no token for a code: {own}"))?;
    let client = stack().client.clone().with_token(token);
    client.get(&format!("/api/datasets/{}/records", dataset("bobs")))?.expect(200)?;
    Ok(())
}

/// An expired token of the other tenant, which was valid for a second.
fn expired() -> Result<String> {
    let users = &stack().users;
    users.set_validity(1, "seconds")?;
    let token = users.sign_in("bob", "AccessToken");
    users.set_validity(60, "minutes")?;
    let token = token?;
    let (client, deadline) = (stack().client.clone().with_token(&token), Instant::now() + Duration::from_secs(30));
    while client.get("/api/jobs/x")?.status != 401 {
        ensure!(Instant::now() < deadline, "a token of one second still holds");
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(token)
}

fn parts(token: &str) -> Result<[&str; 3]> {
    let parts: Vec<_> = token.split('.').collect();
    parts.try_into().ok().context("a token has three parts")
}

/// One part of a token with a change in it.
fn changed(part: &str, change: impl FnOnce(&mut Value)) -> Result<String> {
    let mut value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part)?)?;
    change(&mut value);
    Ok(URL_SAFE_NO_PAD.encode(value.to_string()))
}
