//! Access to data: tokens of callers, permissions of functions, and contents of logs.
//!
//! An invalid token allows nothing, through any route. The roles of the template permit only the functions' own calls.
//! Logs contain no rows, no tokens and no presigned URLs; the stack logs at the level `debug`.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use longshore_domain::ids::JobId;
use longshore_domain::random::nonce;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::users::{Users, VERIFIER};
use serde_json::{Value, json};

use crate::routes::{ROUTES, Target};
use crate::shared::{Story, counts, dataset, impatient, lines, stack, work};
use crate::tenants::{bob, bobs, call};

#[test]
fn an_invalid_token_allows_nothing() -> Story {
    let good = bob().token.as_str();
    let [header, claims, signature] = parts(good)?;
    let forged = changed(claims, |claims| claims["sub"] = stack().tenant.as_str().into())?;
    let unsigned = changed(header, |header| header["alg"] = "none".into())?;
    let other_client: Users = stack().users.through_another_client()?;
    let bad = [
        ("the sub of another user", format!("{header}.{forged}.{signature}")),
        ("another signature", format!("{header}.{claims}.{}", signature.chars().rev().collect::<String>())),
        ("no signature", format!("{unsigned}.{claims}.")),
        ("another audience", other_client.sign_in("bob", "AccessToken")?),
        ("another audience, by its ID token", other_client.sign_in("bob", "IdToken")?),
        ("not a token", "bob".to_owned()),
        ("expired", expired()?),
    ];
    for (method, path, target) in ROUTES {
        let request = |client: &Client| {
            call(
                client,
                (method, path),
                [&JobId::generate().to_string(), "x", &JobId::generate().to_string()],
                &json!({}),
            )
        };
        let anonymous = request(&stack().client.clone().signed_out())?;
        if matches!(target, Target::Document) {
            ensure!(anonymous.status == 200, "{method} {path} without a token answers {}", anonymous.status);
            continue;
        }
        ensure!(anonymous.status == 401, "{method} {path} without a token answers {}", anonymous.status);
        for (description, token) in &bad {
            let answer = request(&stack().client.clone().with_token(token))?;
            ensure!(answer.status == 401, "{method} {path} with token '{description}' answers {}", answer.status);
        }
        let answer = request(&bobs())?;
        ensure!(answer.status != 401, "{method} {path} refuses a valid token");
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
    let id = job.expect(202)?["jobId"].as_str().context("the job has no id")?.to_owned();
    assert_eq!(bobs().job(&id)?["jobId"], id.as_str());
    Ok(())
}

#[test]
fn a_browser_signs_in_with_code_and_verifier_and_the_code_alone_is_refused() -> Story {
    let (users, callback) = (&stack().users, format!("{}/", stack().output("ApiUrl")?));
    bob();
    let stolen = users.sign_in_by_page("bob", &callback, &VERIFIER.to_lowercase())?;
    ensure!(
        stolen["error"] == "invalid_grant" && stolen["access_token"].is_null(),
        "a stolen code is accepted: {stolen}"
    );
    let own = users.sign_in_by_page("bob", &callback, VERIFIER)?;
    let token = own["access_token"].as_str().with_context(|| format!("no token for a code: {own}"))?;
    let client = stack().client.clone().with_token(token);
    client.get(&format!("/api/datasets/{}/records", dataset("bobs")))?.expect(200)?;
    Ok(())
}

/// An expired token of the other user. It was valid for a second.
fn expired() -> Result<String> {
    let users = &stack().users;
    users.set_validity(1, "seconds")?;
    let token = users.sign_in("bob", "AccessToken");
    users.set_validity(60, "minutes")?;
    let token = token?;
    let (client, deadline) = (stack().client.clone().with_token(&token), Instant::now() + Duration::from_secs(30));
    while client.get("/api/jobs/x")?.status != 401 {
        ensure!(Instant::now() < deadline, "a token of one second is still valid");
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(token)
}

fn parts(token: &str) -> Result<[&str; 3]> {
    let parts: Vec<_> = token.split('.').collect();
    parts.try_into().ok().context("the token does not have three parts")
}

/// A part of a token with a change.
fn changed(part: &str, change: impl FnOnce(&mut Value)) -> Result<String> {
    let mut value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part)?)?;
    change(&mut value);
    Ok(URL_SAFE_NO_PAD.encode(value.to_string()))
}

/// The stories of the sweeper and the dead-letter function use this stack, too.
#[test]
fn imports_with_failures_and_transient_rows_work_with_the_policies_of_the_template() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let options = json!({ "dataset": dataset("under-iam"), "key": "id" });
    let file = lines(["id,name", "1,Ann", ",no key", "2,Bob", "1,Ann again"]);
    let (job, report) = work(stack, "import", &file, &options)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [3, 1, 0]), "{job}");
    assert_eq!(report.codes()[&2], "missing_key");
    assert_eq!(stack.client.records(&dataset("under-iam"))?["1"]["record"]["name"], "Ann again");
    let rounds = lines(["action,millis,rounds,mark", "ok,,,", "retry,,1,", "skip,,,"]);
    let (job, _) = work(stack, "probe", &rounds, &json!({}))?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [2, 0, 1]), "{job}");
    Ok(())
}

/// The other stories only prove something if the emulator refuses calls.
#[test]
fn the_emulator_refuses_an_action_that_no_policy_allows() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let scan = stack.powerless_aws()?.dynamodb().scan().table_name(stack.output("RecordsTableName")?);
    let result = format!("{:?}", stack.run(scan.send()));
    assert!(result.contains("AccessDenied"), "{result}");
    Ok(())
}

/// Outputs of the functions that this story invokes.
const FUNCTIONS: [&str; 6] = [
    "UploadFunctionName",
    "InspectFunctionName",
    "JobsApiFunctionName",
    "CreateJobFunctionName",
    "ProcessItemFunctionName",
    "CompleteJobFunctionName",
];

#[test]
fn logs_contain_no_row_no_token_and_no_presigned_url() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let secret = format!("secret{}", nonce());
    let user = stack.users.add(&format!("logged-{}", nonce()))?;
    let file = lines([
        "id,name".to_owned(),
        format!("{secret}-1,{secret}"),
        format!(",{secret} has no key"),
        format!("{secret}-1,{secret} again"),
    ]);
    let (_, report) = work(stack, "import", &file, &json!({ "dataset": dataset("logged"), "key": "id" }))?;
    ensure!(!report.codes().is_empty(), "no row has failed");
    let probe_rows =
        lines(["action,millis,rounds,mark".to_owned(), format!("panic,,,{secret}"), format!("{secret},,,")]);
    work(stack, "probe", &probe_rows, &json!({}))?;
    let client = stack.client.clone().with_token(&user.token);
    for invalid in [json!({ "jobType": secret }), json!({ "jobType": "import", "options": { "key": secret } })] {
        client.post("/api/jobs", &invalid)?.expect(422)?;
    }
    client.get(&format!("/api/jobs?cursor={secret}"))?.expect(422)?;
    let upload = client.upload("logged.csv", &file)?;
    let options = json!({ "dataset": dataset("logged"), "key": "id" });
    client
        .post(&format!("/api/uploads/{upload}/inspect"), &json!({ "jobType": "import", "options": options }))?
        .expect(200)?;
    let mut with_logs = BTreeSet::new();
    for function in FUNCTIONS {
        for line in stack.logs(function)? {
            with_logs.insert(function);
            for forbidden in [secret.as_str(), &user.token, "X-Amz-Signature", "Bearer "] {
                ensure!(!line.contains(forbidden), "{function} has logged {forbidden}: {line}");
            }
        }
    }
    ensure!(with_logs.len() == FUNCTIONS.len(), "only {with_logs:?} have logs");
    Ok(())
}
