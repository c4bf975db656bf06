//! What operators use: the commands for what is wrong with a stack and for many jobs at once, and logs.

use std::io::Write;

use anyhow::{Context, Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::trace::TraceId;
use longshore_tests::harness::stack::Stack;
use serde_json::{Value, json};

use crate::command_line::Shell;
use crate::handlers::{contacts_file, register_contacts};
use crate::shared::{Story, dataset, finish, impatient, lines, own, wait_until};

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

/// Outputs of the functions that an import of a compressed file passes through, in their order.
const OF_COMPRESSED: [&str; 6] = [
    "UploadFunctionName",
    "JobsApiFunctionName",
    "CreateJobFunctionName",
    "PrepareFunctionName",
    "ProcessItemFunctionName",
    "CompleteJobFunctionName",
];

/// Outputs of the functions that an import of a text file passes through.
const OF_TEXT: [&str; 5] = [OF_COMPRESSED[0], OF_COMPRESSED[1], OF_COMPRESSED[2], OF_COMPRESSED[4], OF_COMPRESSED[5]];

/// Outputs of the functions that a job with a handler passes through.
const OF_HANDLER: [&str; 5] =
    [OF_COMPRESSED[0], OF_COMPRESSED[1], OF_COMPRESSED[2], "CallHandlerFunctionName", OF_COMPRESSED[5]];

/// Ids with which log records join.
struct Joined {
    job: String,
    trace: String,
}

impl Joined {
    /// Waits until each of these functions has logged the trace since a time, and each but the first one the job with
    /// it.
    fn wait(&self, stack: &Stack, functions: &[&str], since: Timestamp) -> Story {
        let Self { job, trace } = self;
        let (with_trace, with_job) = (format!(r#""trace.id":"{trace}""#), format!(r#""job.id":"{job}""#));
        // The calls before a job is read are logged at level debug.
        let is_alone = |record: &&String| {
            record.contains(job) && !record.contains(trace) && !record.contains(r#""level":"DEBUG""#)
        };
        for (i, function) in functions.iter().enumerate() {
            let has_both = || -> Result<bool> {
                let records = stack.logs_since(function, since)?;
                let alone = records.iter().find(is_alone);
                ensure!(alone.is_none(), "{function} has logged the job without its trace: {alone:?}");
                let mut of_trace = records.iter().filter(|record| record.contains(&with_trace));
                Ok(of_trace.any(|record| i == 0 || record.contains(&with_job)))
            };
            wait_until(has_both).with_context(|| format!("{function} has not logged the job {job} with {trace}"))?;
        }
        Ok(())
    }
}

/// The job of a response over an upload, in the trace of the caller, or else in that of the upload.
fn joined(job: &Value, upload: &str, caller: Option<TraceId>) -> Result<Joined> {
    let trace = caller.map_or(upload.replace('-', ""), |caller| caller.to_string());
    ensure!(job["traceId"] == json!(trace), "{trace}: {job}");
    Ok(Joined { job: job["jobId"].as_str().context("the job has no id")?.to_owned(), trace })
}

/// Uploads a file and imports it, with the trace of a caller if there is one.
fn import(stack: &Stack, name: &str, file: &[u8], caller: Option<TraceId>) -> Result<Joined> {
    let traceparent = caller.map(|caller| format!("00-{caller}-00f067aa0ba902b7-01"));
    let mut headers = vec![("content-type", "application/json")];
    headers.extend(traceparent.iter().map(|value| ("traceparent", value.as_str())));
    let post = |path: &str, body: &Value, status: u16| -> Result<Value> {
        stack.client.call("POST", path, &headers, body.to_string().as_bytes())?.expect(status)
    };
    let request = json!({ "fileName": name, "contentType": "text/csv", "size": file.len() });
    let upload = post("/api/uploads", &request, 201)?;
    stack.client.put_file(&upload, file)?;
    let options = json!({ "dataset": dataset("traced"), "key": "id" });
    let request = json!({ "jobType": "import", "fileGuid": upload["fileGuid"], "options": options });
    let job = post("/api/jobs", &request, 202)?;
    joined(&job, upload["fileGuid"].as_str().context("the upload has no id")?, caller)
}

fn gzipped(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

#[test]
fn logs_join_on_job_and_trace_from_the_upload_to_the_last_function() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let since = Timestamp::now();
    let file = lines(["id,name", "1,Ann", "2,Bob"]);
    for (name, uploaded, caller, functions) in [
        ("people.csv", file.clone(), None, &OF_TEXT[..]),
        ("people.csv", file.clone(), Some(TraceId::generate()), &OF_TEXT[..]),
        ("people.csv.gz", gzipped(&file)?, None, &OF_COMPRESSED[..]),
    ] {
        let ids = import(stack, name, &uploaded, caller)?;
        finish(stack, &ids.job, &file)?;
        ids.wait(stack, functions, since)?;
    }
    Ok(())
}

#[test]
fn logs_join_on_job_and_trace_up_to_the_function_that_calls_a_handler() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    register_contacts(stack, "traced")?;
    let (since, file) = (Timestamp::now(), contacts_file());
    let upload = stack.client.upload("file.csv", &file)?;
    let job = stack.client.request_job("traced", Some(&upload), &json!({}))?.expect(202)?;
    let ids = joined(&job, &upload, None)?;
    finish(stack, &ids.job, &file)?;
    ids.wait(stack, &OF_HANDLER, since)
}
