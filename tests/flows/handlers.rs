//! Registered job types: Lambda functions in Python, and an HTTPS endpoint with the certificate of a local authority.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use longshore_domain::random::nonce;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::handlers::{self, alias};
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use crate::https_server::{Running, Site};
use crate::shared::{Story, counts, impatient, lines, wait_until, work};

/// Parameters of a stack with handlers.
pub(crate) fn parameters() -> Vec<(&'static str, &'static str)> {
    handlers::parameters(
        &[Site::Handler.endpoint(), Site::Images.endpoint(), Site::Webhooks.endpoint(), Site::Receivers.endpoint()],
        &["contacts", "faulty"],
    )
}

fn examples(names: &[&str]) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/handlers/python");
    names.iter().map(|name| folder.join(name)).collect()
}

fn operator(stack: &Stack) -> Result<Client> {
    let operator = stack.users.add_operator(&format!("operator-{}", nonce()))?;
    Ok(stack.client.clone().with_token(&operator.token))
}

/// Registers a job type, and waits until its handler has answered the ping. Repeats this once: on a busy machine the
/// ping can exceed its time.
fn register(operator: &Client, name: &str, content: &Value) -> Story {
    let register = || {
        operator.put_job_type(name, content)?.expect(202)?;
        wait_until(|| operator.is_active(name))
    };
    register().or_else(|_| register())
}

/// Registers a job type with the function `contacts`, which the first story that uses it creates.
pub(crate) fn register_contacts(stack: &Stack, name: &str) -> Story {
    static IS_CREATED: Mutex<bool> = Mutex::new(false);
    let mut is_created = IS_CREATED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_created {
        let files = examples(&["lambda_function.py", "contacts.py", "longshore_handler.py"]);
        stack.create_python_function("contacts", "lambda_function.lambda_handler", &files)?;
        *is_created = true;
    }
    drop(is_created);
    let target = json!({ "function": alias("contacts") });
    let content = json!({ "target": target, "outputSchema": {}, "batch": { "items": 30 }, "concurrency": 2 });
    register(&operator(stack)?, name, &content)
}

/// A file for the function `contacts`: 90 rows succeed, 30 fail, and 30 are skipped.
pub(crate) fn contacts_file() -> Vec<u8> {
    let rows = (0..150).map(|n| match n % 5 {
        0..3 => format!("a{n}@example.com,France"),
        3 => format!("nobody {n},Germany"),
        _ => ",Germany".to_owned(),
    });
    lines(["email,country".to_owned()].into_iter().chain(rows))
}

#[test]
fn a_function_in_python_processes_each_row_of_a_file() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    register_contacts(stack, "contacts")?;
    let (job, report) = work(stack, "contacts", &contacts_file(), &json!({}))?;
    ensure!((counts(&job), &job["status"]) == ([90, 30, 30], &json!("completed")), "{job}");
    ensure!(report.codes().values().all(|code| code == "bad_email"), "{:?}", report.codes());
    let id = job["jobId"].as_str().context("no id")?;
    let results = stack.client.get(&format!("/api/jobs/{id}/results?limit=1"))?.expect(200)?;
    ensure!(results["results"][0]["output"] == json!({ "email": "a0@example.com", "country": "FR" }), "{results}");
    let logs = stack.logs("CallHandlerFunctionName")?;
    ensure!(!logs.is_empty() && !logs.iter().any(|line| line.contains("a0@example.com")), "a row is in the log");
    Ok(())
}

#[test]
fn an_item_with_a_fault_fails_alone() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("flows/faulty_handler.py");
    stack.create_python_function("faulty", "faulty_handler.lambda_handler", &[file])?;
    let target = json!({ "function": alias("faulty") });
    let content = json!({ "target": target, "tries": 1, "batch": { "timeoutSeconds": 3 } });
    let operator = operator(stack)?;
    // Five chunks in a row without an answer would open the breaker of a type.
    let mut jobs = BTreeMap::new();
    for (name, faults) in
        [("faulty-a", ["exception", "exit", "slow", "text"]), ("faulty-b", ["doubled", "unknown", "huge", "empty"])]
    {
        register(&operator, name, &content)?;
        for fault in faults {
            let items = ["", fault, ""].map(|fault| json!({ "fault": fault }));
            let job = stack.client.post("/api/jobs", &json!({ "jobType": name, "items": items }))?.expect(202)?;
            jobs.insert(fault, job["jobId"].as_str().context("no id")?.to_owned());
        }
    }
    for (fault, id) in jobs {
        let job = Watch::new(stack, &id).patient(Duration::from_secs(120)).end()?;
        ensure!(counts(&job) == [2, 1, 0], "{fault}: {job}");
        let failures = stack.client.get(&format!("/api/jobs/{id}/failures"))?.expect(200)?;
        let failure = &failures["failures"][0];
        ensure!((&failure["number"], &failure["code"]) == (&json!(2), &json!("handler_failed")), "{fault}: {failures}");
        ensure!(!failures.to_string().contains("ann@example.com"), "{fault}: {failures}");
    }
    Ok(())
}

fn serve(secret: &str) -> Result<Running> {
    Site::Handler.serve(&examples(&[""]).remove(0), "https_endpoint", &[("LONGSHORE_SECRETS", secret)])
}

#[test]
fn an_endpoint_gets_signed_calls_and_a_job_waits_while_it_is_down() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let operator = operator(stack)?;
    let content = json!({ "target": { "url": Site::Handler.endpoint().url() }, "outputSchema": {},
        "batch": { "items": 10, "timeoutSeconds": 5 } });
    let put = || operator.put_job_type("endpoint", &content)?.expect(202);
    put()?;
    let secret = operator.get("/api/job-types/endpoint/secret")?.expect(200)?;
    let secret = secret["secret"].as_str().context("no secret")?;
    stack.client.get("/api/job-types/endpoint/secret")?.expect(403)?;
    wait_until(|| Ok(operator.get("/api/job-types/endpoint")?.expect(200)?["candidate"]["status"] == "refused"))?;
    let wrong = serve("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
    put()?;
    wait_until(|| Ok(operator.get("/api/job-types/endpoint")?.expect(200)?["candidate"]["status"] == "refused"))?;
    drop(wrong);
    let endpoint = serve(secret)?;
    register(&operator, "endpoint", &content)?;
    let row = |n: usize| format!("a{n}@example.com,France");
    let file = lines(["email,country".to_owned()].into_iter().chain((0..100).map(row)));
    let (job, _) = work(stack, "endpoint", &file, &json!({}))?;
    ensure!(counts(&job) == [100, 0, 0], "{job}");

    drop(endpoint);
    let id = stack.client.start("endpoint", "file.csv", &file, &json!({}))?;
    let path = format!("/api/jobs/{id}");
    wait_until(|| {
        let job = stack.client.get(&path)?.expect(200)?;
        Ok(job["waitingFor"]["reason"] == "handler_unavailable" && job["waitingFor"]["nextTry"].is_string())
    })?;
    let _endpoint = serve(secret)?;
    let job = Watch::new(stack, &id).patient(Duration::from_secs(120)).end()?;
    ensure!(counts(&job) == [100, 0, 0], "{job}");
    Ok(())
}
