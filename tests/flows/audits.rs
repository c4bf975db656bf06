//! The audit of a job. It reports equality for an unchanged job. Otherwise it names each changed byte or number in the
//! table and in the bucket.
//!
//! The receipt of a job: it is correct for every kind of upload.

use anyhow::{Context, Result, ensure};
use aws_sdk_dynamodb::types::AttributeValue;
use data_encoding::HEXLOWER;
use longshore::ports::report_key;
use longshore_domain::ports::{Files, JobStore, Read};
use longshore_tests::harness::backdoor::unsent_job;
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::shared::{Story, finish, job_id, own, probe_file, stack, work};

/// A job whose records and files a test changes.
struct Tampered<'a> {
    stack: &'a Stack,
    id: String,
}

impl Tampered<'_> {
    fn audit(&self) -> Result<Value> {
        self.stack.client.get(&format!("/api/jobs/{}/audit", self.id))?.expect(200)
    }

    /// Check and location of each difference, in order.
    fn differences(&self) -> Result<Vec<String>> {
        let audit = self.audit()?;
        let differences = audit["differences"].as_array().context("the audit has no differences")?;
        ensure!(audit["equal"] == differences.is_empty(), "{audit}");
        let describe = |d: &Value| Some(format!("{} of {}", d["check"].as_str()?, d["place"].as_str()?));
        differences.iter().map(|d| describe(d).context("a difference has no check or place")).collect()
    }

    fn key(&self, name: &str) -> Result<String> {
        let job = self.stack.run(self.stack.store()?.job(job_id(&self.id)?))?.context("the job does not exist")?;
        Ok(report_key(&job, name))
    }

    /// Changes a file of the report, runs the audit, and restores the file.
    fn with_file(&self, name: &str, change: impl FnOnce(&str) -> String) -> Result<Vec<String>> {
        let (stack, files, key) = (self.stack, self.stack.files()?, self.key(name)?);
        let Read::Found(bytes) = stack.run(files.read(&key, None, None))? else {
            anyhow::bail!("{key} does not exist")
        };
        let changed = change(std::str::from_utf8(&bytes)?);
        ensure!(changed.as_bytes() != bytes, "{name} was not changed");
        stack.run(files.write(&key, "text/csv", changed.into_bytes()))?;
        let differences = self.differences();
        stack.run(files.write(&key, "text/csv", bytes))?;
        differences
    }

    /// Adds to a number of a record, runs the audit, and subtracts it again.
    fn with_number(&self, record: &str, attribute: &str, by: i32) -> Result<Vec<String>> {
        self.add(record, attribute, by)?;
        let differences = self.differences();
        self.add(record, attribute, -by)?;
        differences
    }

    fn add(&self, record: &str, attribute: &str, by: i32) -> Story {
        let update = self.stack.aws.dynamodb().update_item().table_name(self.stack.output("JobsTableName")?);
        let update = update.key("PK", text(&format!("JOB#{}", self.id))).key("SK", text(record));
        let update = update.update_expression("ADD #a :by").expression_attribute_names("#a", attribute);
        let update = update.expression_attribute_values(":by", AttributeValue::N(by.to_string()));
        self.stack.run(update.send())?;
        Ok(())
    }

    /// Replaces text in a text attribute of a record, runs the audit, and restores the record.
    fn with_text(&self, record: &str, attribute: &str, (from, to): (&str, &str)) -> Result<Vec<String>> {
        let (table, dynamodb) = (self.stack.output("JobsTableName")?, self.stack.aws.dynamodb());
        let get = dynamodb.get_item().table_name(table).key("PK", text(&format!("JOB#{}", self.id)));
        let output = self.stack.run(get.key("SK", text(record)).send())?;
        let item = output.item.with_context(|| format!("{record} does not exist"))?;
        let before = item[attribute].as_s().ok().with_context(|| format!("{attribute} is not text"))?;
        ensure!(before.contains(from), "{attribute} does not contain {from}: {before}");
        let mut changed = item.clone();
        changed.insert(attribute.to_owned(), text(&before.replacen(from, to, 1)));
        let put = |item| -> Story {
            self.stack.run(dynamodb.put_item().table_name(table).set_item(Some(item)).send())?;
            Ok(())
        };
        put(changed)?;
        let differences = self.differences();
        put(item)?;
        differences
    }
}

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

/// Runs a job over sixty rows: of every ten, one is rejected and one is skipped.
fn completed_job(stack: &Stack) -> Result<Tampered<'_>> {
    let action = |n: u32| match n % 10 {
        3 => "reject,,,",
        7 => "skip,,,",
        _ => "ok,,,",
    };
    let (job, _) = work(stack, "probe", &probe_file((1..=60).map(action)), &json!({}))?;
    Ok(Tampered { stack, id: job["jobId"].as_str().context("the job has no id")?.to_owned() })
}

#[test]
fn an_audit_of_an_unchanged_job_is_equal() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let job = completed_job(stack)?;
    let audit = job.audit()?;
    ensure!(audit["equal"] == true && audit["unchecked"] == json!([]), "{audit}");
    let checks = audit["checks"].as_array().context("the audit has no checks")?;
    for (name, count) in [("failed", 6), ("skipped", 6), ("succeeded", 48), ("rows", 12), ("item_count", 60)] {
        let check = checks
            .iter()
            .find(|check| check["name"] == name)
            .with_context(|| format!("the audit has no check {name}: {audit}"))?;
        ensure!(check["expected"] == count && check["found"] == count, "{check}");
    }
    Ok(())
}

#[test]
fn an_audit_names_every_change_in_the_table() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let job = completed_job(stack)?;
    assert_eq!(
        job.with_number("GROUP#00000", "failed", 1)?,
        [
            "cursors of group 0",
            "group_counts of group 0",
            "failed of job",
            "completed_items of job",
            "group_rows of group 0 in failed.csv",
            "work_ended of group 0",
            "work_failed of group 0"
        ]
    );
    assert_eq!(job.with_number("GROUP#00000", "items", 1)?, ["group_items of group 0"]);
    assert_eq!(
        job.with_number("JOB", "itemCount", 1)?,
        ["completed_items of job", "item_count of job", "result_unprocessed of result.json", "input_items of file.csv"]
    );
    // A stored chunk is [first, items, start, end, oversize].
    let manifest = ("[[1,50,", "[[2,50,");
    assert_eq!(
        job.with_text("MANIFEST#00000", "chunks", manifest)?,
        [
            "item_numbers of chunk 0 of group 0",
            "item_numbers of chunk 1 of group 0",
            "planned_numbers of chunk 0 of group 0"
        ]
    );
    assert_eq!(job.differences()?, Vec::<String>::new(), "every change was reverted");
    Ok(())
}

#[test]
fn an_audit_names_every_change_in_the_bucket() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let job = completed_job(stack)?;
    let byte = |text: &str| text.replacen("reject", "reJect", 1);
    assert_eq!(job.with_file("failed.csv", byte)?, ["sha256 of failed.csv"]);
    let one_row_less = |text: &str| text.lines().take(6).map(|line| format!("{line}\r\n")).collect();
    assert_eq!(
        job.with_file("failed.csv", one_row_less)?,
        [
            "rows of failed.csv",
            "group_rows of group 0 in failed.csv",
            "receipt_rows of failed.csv",
            "size of failed.csv",
            "sha256 of failed.csv",
            "work_rows of failed.csv",
            "work_items of failed.csv"
        ]
    );
    let other_item = |text: &str| text.replacen("\r\n7,", "\r\n3,", 1);
    let differences = job.with_file("skipped.csv", other_item)?;
    assert_eq!(differences[..2], ["row_numbers of skipped.csv"; 2], "row 3 is already in failed.csv");
    let counts = |text: &str| text.replacen("\"failed\":6", "\"failed\":5", 1);
    assert_eq!(
        job.with_file("result.json", counts)?,
        [
            "result_failed of result.json",
            "result_items of result.json",
            "receipt_counts of receipt.json",
            "result_rows of failed.csv",
            "rows of failed.csv"
        ]
    );
    let size = |text: &str| text.replacen("\"itemCount\": 60", "\"itemCount\": 61", 1);
    assert_eq!(job.with_file("receipt.json", size)?, ["receipt_items of receipt.json"]);
    assert_eq!(job.differences()?, Vec::<String>::new(), "every change was reverted");
    Ok(())
}

#[test]
fn an_audit_of_an_active_job_lists_the_checks_that_it_could_not_make() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let id = unsent_job(stack, "probe", &probe_file(["ok,,,"]), &json!({}))?.job_id.to_string();
    let job = Tampered { stack, id };
    let audit = job.audit()?;
    ensure!(audit["equal"].is_null() && audit["differences"] == json!([]), "{audit}");
    let unchecked: Vec<_> = audit["unchecked"].as_array().into_iter().flatten().map(|check| &check["name"]).collect();
    assert_eq!(unchecked, ["totals", "report"]);
    stack.client.cancel(&job.id)?.expect(202)?;
    Watch::new(stack, &job.id).end()?;
    ensure!(job.audit()?["equal"] == true, "{}", job.audit()?);
    Ok(())
}

#[test]
fn an_audit_of_a_retry_is_equal() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let job = completed_job(stack)?;
    stack.client.retry(&job.id, None)?.expect(202)?;
    Watch::new(stack, &job.id).end()?;
    let audit = job.audit()?;
    ensure!(audit["equal"] == true, "{audit}");
    assert_eq!(
        job.with_number("GROUP#00000", "succeeded", 1)?[..3],
        ["cursors of group 0", "group_counts of group 0", "base_succeeded of job"]
    );
    Ok(())
}

fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// The receipt in an output document, after a check that it equals the linked file.
fn receipt(output: &Value) -> Result<Value> {
    let receipt = &output["receipt"];
    let file = stack().client.get(receipt["url"].as_str().context("the receipt has no link")?)?.expect(200)?;
    ensure!(file == receipt["document"], "the receipt in the response differs from the file: {file} {receipt}");
    Ok(file)
}

#[test]
fn a_receipt_has_the_sizes_and_checksums_of_the_files() -> Story {
    let file = probe_file((0..400).map(|n| if n % 3 == 0 { "reject,,,\"two\nlines\"" } else { "skip,,," }));
    let (job, report) = work(stack(), "probe", &file, &json!({}))?;
    let output = &report.document;
    let receipt = receipt(output)?;
    ensure!(receipt["jobId"] == job["jobId"] && receipt["itemCount"] == 400, "{receipt}");
    ensure!(receipt["counts"] == output["counts"], "{receipt} {output}");
    let input = json!({ "name": "file.csv", "size": file.len(), "sha256": sha256(&file), "basis": "read" });
    assert_eq!(receipt["input"], input);
    for (n, name) in ["failed", "skipped"].into_iter().enumerate() {
        let file = stack().client.get(output["files"][name]["url"].as_str().context("the file has no link")?)?;
        let disposition = file.headers["content-disposition"].clone();
        let (rows, size, sha256) = (&output["files"][name]["rows"], file.body.len(), sha256(&file.body));
        let expected = json!({ "name": format!("file-{name}.csv"), "rows": rows, "size": size, "sha256": sha256 });
        assert_eq!(receipt["files"][n], expected);
        ensure!(disposition.contains(&format!("filename=\"file-{name}.csv\"")), "{disposition}");
    }
    Ok(())
}

#[test]
fn a_checksum_that_the_client_sent_and_the_bucket_checked_is_in_the_receipt() -> Story {
    let (client, file) = (&stack().client, probe_file(["ok,,,", "reject,,,"]));
    let upload = client.create_upload("given.csv", file.len(), Some(&sha256(&file)))?;
    let mut other = file.clone();
    other[30] ^= 1;
    ensure!(client.put(&upload, &other)?.status == 400, "the bucket has accepted a different file");
    client.put(&upload, &file)?.expect(200)?;
    let job = client.request_job("probe", upload["fileGuid"].as_str(), &json!({}))?.expect(202)?;
    let (_, report) = finish(stack(), job["jobId"].as_str().context("the job has no id")?, &file)?;
    let input = receipt(&report.document)?["input"].clone();
    assert_eq!((&input["basis"], &input["sha256"]), (&json!("upload"), &json!(sha256(&file))));
    Ok(())
}

#[test]
fn every_generation_has_its_own_receipt() -> Story {
    let (client, file) = (&stack().client, probe_file(["ok,,,", "reject,,,"]));
    let (job, _) = work(stack(), "probe", &file, &json!({}))?;
    let id = job["jobId"].as_str().context("the job has no id")?;
    client.retry(id, None)?.expect(202)?;
    Watch::new(stack(), id).end()?;
    let receipt = receipt(&client.get(&format!("/api/jobs/{id}/output"))?.expect(200)?)?;
    ensure!(receipt["generation"] == 1 && receipt["files"][0]["rows"] == 1, "{receipt}");
    Ok(())
}
