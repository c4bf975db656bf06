//! Contents that the logs must not have: rows, tokens, signed URLs. The stack logs as much as the template allows.

use std::collections::BTreeSet;

use anyhow::ensure;
use longshore_domain::ids::nonce;
use serde_json::json;

use crate::shared::{Story, dataset, impatient, lines, work};

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
