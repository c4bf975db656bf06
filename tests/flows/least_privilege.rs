//! Permissions of the template's roles: they allow what the functions do, and nothing else.
//!
//! Contents that the logs must not have: rows, tokens, signed URLs. The stack logs as much as the template allows.

use std::collections::BTreeSet;

use anyhow::ensure;
use longshore_domain::ids::nonce;
use serde_json::json;

use crate::shared::{Story, counts, dataset, impatient, lines, work};

/// All functions except the sweeper and the dead-letter function, whose stories use this stack anyway.
#[test]
fn imports_with_failures_and_transient_rows_work_under_the_templates_policies() -> Story {
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

/// The first story is only meaningful if the emulator does refuse calls.
#[test]
fn an_action_that_no_policy_allows_is_refused() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let scan = stack.powerless_aws()?.dynamodb().scan().table_name(stack.output("RecordsTableName")?);
    let refused = format!("{:?}", stack.run(scan.send()));
    assert!(refused.contains("AccessDenied"), "{refused}");
    Ok(())
}

/// Outputs of the functions that this story invokes.
const FUNCTIONS: [&str; 5] = [
    "UploadFunctionName",
    "JobsApiFunctionName",
    "CreateJobFunctionName",
    "ProcessItemFunctionName",
    "CompleteJobFunctionName",
];

#[test]
fn logs_hold_no_row_no_token_and_no_signed_address() -> Story {
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
    ensure!(!report.codes().is_empty(), "a row was to fail");
    let probed = lines(["action,millis,rounds,mark".to_owned(), format!("panic,,,{secret}"), format!("{secret},,,")]);
    work(stack, "probe", &probed, &json!({}))?;
    let client = stack.client.clone().with_token(&user.token);
    for refused in [json!({ "jobType": secret }), json!({ "jobType": "import", "options": { "key": secret } })] {
        client.post("/api/jobs", &refused)?.expect(422)?;
    }
    client.get(&format!("/api/jobs?cursor={secret}"))?.expect(422)?;
    let mut spoke = BTreeSet::new();
    for function in FUNCTIONS {
        for line in stack.logs(function)? {
            spoke.insert(function);
            for never in [secret.as_str(), &user.token, "X-Amz-Signature", "Bearer "] {
                ensure!(!line.contains(never), "{function} logged {never}: {line}");
            }
        }
    }
    ensure!(spoke.len() == FUNCTIONS.len(), "only {spoke:?} have logged anything");
    Ok(())
}
