//! What operators use: the commands for what is wrong with a stack and for many jobs at once, and logs.

use anyhow::{Context, Result, ensure};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::trace::TraceId;
use longshore_tests::harness::stack::Stack;
use serde_json::{Value, json};

use crate::command_line::Shell;
use crate::shared::{Story, dataset, finish, lines, own, wait_until};

/// Returns the findings of `doctor` by their codes.
fn codes(report: &Value) -> Vec<&str> {
    report["findings"].as_array().into_iter().flatten().filter_map(|finding| finding["code"].as_str()).collect()
}

#[test]
fn doctor_finds_what_is_wrong_and_what_is_right_again() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let shell = Shell::new()?;
    let (name, endpoint) = stack.address();
    // The schedule of the tests' stacks is disabled, so that there is an error.
    let examine = || -> Result<Value> { shell.json(&["doctor", "--stack", name, "--endpoint", endpoint, "--json"], 1) };
    let report = examine()?;
    let found = codes(&report);
    ensure!(found.contains(&"schedule_disabled"), "{report}");
    let wrong =
        ["stack_failed", "api_unreachable", "version_skew", "function_not_ready", "table_not_active", "cors_missing"];
    ensure!(!found.iter().any(|code| wrong.contains(code)), "{report}");
    assert_eq!(report["notChecked"], json!([]), "the emulator plays every call");
    let alarm = "SweepErrorsAlarm";
    stack.set_alarm(alarm, "ALARM")?;
    let raised = examine()?;
    stack.set_alarm(alarm, "OK")?;
    let finding = raised["findings"].as_array().into_iter().flatten().find(|finding| finding["code"] == alarm);
    let finding = finding.with_context(|| format!("the alarm is not found: {raised}"))?;
    let fix = finding["fix"].as_str().unwrap_or_default();
    ensure!(fix.contains(endpoint) && fix.contains("logs tail /aws/lambda/longshore-sweep"), "{fix}");
    ensure!(!codes(&examine()?).contains(&alarm), "the alarm is over");
    ensure!(!found.iter().any(|code| code.starts_with("alarm_")), "every alarm exists and has actions: {report}");
    stack.mute_alarm(alarm)?;
    let muted = examine()?;
    stack.unmute_alarm(alarm)?;
    let finding = muted["findings"].as_array().into_iter().flatten().find(|finding| finding["code"] == "alarm_muted");
    ensure!(finding.is_some_and(|finding| finding["location"] == alarm), "{muted}");
    let text = shell.run(&["doctor", "--stack", name, "--endpoint", endpoint], "", 1)?;
    ensure!(text.contains("error: Sweep: its schedule is disabled") && text.contains("    fix: "), "{text}");
    let none = ["doctor", "--stack", "no-such-stack", "--endpoint", endpoint];
    ensure!(shell.run(&none, "", 1)?.is_empty(), "there is no such stack");
    Ok(())
}

#[test]
fn load_counts_every_row_and_leaves_nothing_behind() -> Story {
    let shell = Shell::new()?;
    let closed = ["load", "--jobs", "4", "--concurrency", "2", "--mix", "rows=20:1,rows=50:1", "--invalid-every", "10"];
    let report = shell.json(&[&closed[..], &["--json"]].concat(), 0)?;
    assert_eq!((&report["jobs"]["exact"], &report["rows"]), (&json!(4), &json!(140)), "{report}");
    let dataset = report["run"].as_str().context("the run has no name")?;
    assert_eq!(shell.json(&["jobs", "list", "--json"], 0)?, json!({ "jobs": [] }));
    ensure!(shell.run(&["export", dataset], "", 0)?.is_empty(), "the dataset has records");
    let open = ["load", "--rate", "4/s", "--duration", "1", "--rows", "5", "--mode", "validate"];
    let text = shell.run(&open, "", 0)?;
    ensure!(text.contains("4 completed, with exactly the expected counts") && text.contains("time until"), "{text}");
    Ok(())
}

/// Outputs of the functions that a file passes through, in their order.
const FUNCTIONS: [&str; 5] = [
    "UploadFunctionName",
    "JobsApiFunctionName",
    "CreateJobFunctionName",
    "ProcessItemFunctionName",
    "CompleteJobFunctionName",
];

/// Returns true if each function has logged the trace since a time, and each but the first one the job with it.
fn is_joined(stack: &Stack, since: Timestamp, trace: &str, job: &str) -> Result<bool> {
    let (with_trace, with_job) = (format!(r#""trace.id":"{trace}""#), format!(r#""job.id":"{job}""#));
    for (i, function) in FUNCTIONS.into_iter().enumerate() {
        let records = stack.logs_since(function, since)?;
        let alone = records.iter().find(|record| record.contains(job) && !record.contains(trace));
        ensure!(alone.is_none(), "{function} has logged the job without its trace: {alone:?}");
        if !records.iter().any(|record| record.contains(&with_trace) && (i == 0 || record.contains(&with_job))) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[test]
fn logs_join_on_job_and_trace_from_the_upload_to_the_last_function() -> Story {
    // Its log level is info: the calls before a job is read are logged below it.
    let Some(stack) = own() else { return Ok(()) };
    let since = Timestamp::now();
    let file = lines(["id,name", "1,Ann", "2,Bob"]);
    let caller = TraceId::generate();
    let traceparent = format!("00-{caller}-00f067aa0ba902b7-01");
    let headers = [("content-type", "application/json"), ("traceparent", traceparent.as_str())];
    for (headers, caller) in [(&headers[..1], None), (&headers[..], Some(caller))] {
        let post = |path: &str, body: &Value, status: u16| -> Result<Value> {
            stack.client.call("POST", path, headers, body.to_string().as_bytes())?.expect(status)
        };
        let request = json!({ "fileName": "people.csv", "contentType": "text/csv", "size": file.len() });
        let upload = post("/api/uploads", &request, 201)?;
        stack.client.put_file(&upload, &file)?;
        let options = json!({ "dataset": dataset("traced"), "key": "id" });
        let request = json!({ "jobType": "import", "fileGuid": upload["fileGuid"], "options": options });
        let job = post("/api/jobs", &request, 202)?;
        let id = job["jobId"].as_str().context("the job has no id")?;
        finish(stack, id, &file)?;
        let of_upload = upload["fileGuid"].as_str().context("the upload has no id")?.replace('-', "");
        let trace = caller.map_or(of_upload, |caller| caller.to_string());
        ensure!(job["traceId"] == json!(trace), "{trace}: {job}");
        wait_until(|| is_joined(stack, since, &trace, id))?;
    }
    Ok(())
}
