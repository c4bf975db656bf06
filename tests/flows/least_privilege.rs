//! Permissions of the template's roles: they allow what the functions do, and nothing else.

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
