//! Permissions of the template's roles: they allow only what the functions do.
//!
//! Logs: they contain no rows, no tokens and no presigned URLs. The stack logs at the level `debug`.

use std::collections::BTreeSet;

use anyhow::ensure;
use longshore_domain::random::nonce;
use serde_json::json;

use crate::shared::{Story, counts, dataset, impatient, lines, work};

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
const FUNCTIONS: [&str; 5] = [
    "UploadFunctionName",
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
