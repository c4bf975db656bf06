//! The audit of a job. It reports equal if nothing was changed. Otherwise it names each changed byte or number, in
//! the table and in the bucket.

use anyhow::{Context, Result, ensure};
use aws_sdk_dynamodb::types::AttributeValue;
use longshore::ports::report_key;
use longshore_domain::ports::{Files, JobStore, Read};
use longshore_tests::harness::crafted::unsent_job;
use longshore_tests::harness::stack::Stack;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use crate::shared::{Story, job_id, own, probe_file, work};

/// A job whose records and files a test changes.
struct Tampered<'a> {
    stack: &'a Stack,
    id: String,
}

impl Tampered<'_> {
    fn audit(&self) -> Result<Value> {
        self.stack.client.get(&format!("/api/jobs/{}/audit", self.id))?.expect(200)
    }

    /// Check and location of each difference, in their order.
    fn named(&self) -> Result<Vec<String>> {
        let audit = self.audit()?;
        let differences = audit["differences"].as_array().context("no differences")?;
        ensure!(audit["equal"] == differences.is_empty(), "{audit}");
        let named = |d: &Value| Some(format!("{} of {}", d["check"].as_str()?, d["place"].as_str()?));
        differences.iter().map(|d| named(d).context("a difference without a name")).collect()
    }

    fn key(&self, name: &str) -> Result<String> {
        let job = self.stack.run(self.stack.store()?.job(job_id(&self.id)?))?.context("no job")?;
        Ok(report_key(&job, name))
    }

    /// Changes a file of the report, runs the audit, and restores the file.
    fn with_file(&self, name: &str, change: impl FnOnce(&str) -> String) -> Result<Vec<String>> {
        let (stack, files, key) = (self.stack, self.stack.files()?, self.key(name)?);
        let Read::Found(bytes) = stack.run(files.read(&key, None, None))? else { anyhow::bail!("no {key}") };
        let changed = change(std::str::from_utf8(&bytes)?);
        ensure!(changed.as_bytes() != bytes, "nothing of {name} was changed");
        stack.run(files.write(&key, "text/csv", changed.into_bytes()))?;
        let named = self.named();
        stack.run(files.write(&key, "text/csv", bytes))?;
        named
    }

    /// Adds to a number of a record, runs the audit, and subtracts it again.
    fn with_number(&self, record: &str, attribute: &str, by: i32) -> Result<Vec<String>> {
        self.add(record, attribute, by)?;
        let named = self.named();
        self.add(record, attribute, -by)?;
        named
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
        let got = self.stack.run(get.key("SK", text(record)).send())?;
        let item = got.item.with_context(|| format!("no {record}"))?;
        let before = item[attribute].as_s().ok().with_context(|| format!("{attribute} is no text"))?;
        ensure!(before.contains(from), "{attribute} is {before}");
        let mut changed = item.clone();
        changed.insert(attribute.to_owned(), text(&before.replacen(from, to, 1)));
        let put = |item| -> Story {
            self.stack.run(dynamodb.put_item().table_name(table).set_item(Some(item)).send())?;
            Ok(())
        };
        put(changed)?;
        let named = self.named();
        put(item)?;
        named
    }
}

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

/// A job over rows 1 to 60: every tenth is rejected, every tenth skipped.
fn worked(stack: &Stack) -> Result<Tampered<'_>> {
    let action = |n: u32| match n % 10 {
        3 => "reject,,,",
        7 => "skip,,,",
        _ => "ok,,,",
    };
    let (job, _) = work(stack, "probe", &probe_file((1..=60).map(action)), &json!({}))?;
    Ok(Tampered { stack, id: job["jobId"].as_str().context("a job without id")?.to_owned() })
}

#[test]
fn an_audit_of_an_unchanged_job_is_equal() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let job = worked(stack)?;
    let audit = job.audit()?;
    ensure!(audit["equal"] == true && audit["unchecked"] == json!([]), "{audit}");
    let checks = audit["checks"].as_array().context("no checks")?;
    for (name, counted) in [("failed", 6), ("skipped", 6), ("succeeded", 48), ("rows", 12), ("item_count", 60)] {
        let check = checks.iter().find(|check| check["name"] == name).with_context(|| format!("no {name}: {audit}"))?;
        ensure!(check["expected"] == counted && check["found"] == counted, "{check}");
    }
    Ok(())
}

#[test]
fn an_audit_names_what_was_changed_in_the_table() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let job = worked(stack)?;
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
    assert_eq!(job.named()?, Vec::<String>::new(), "all of it is as it was");
    Ok(())
}

#[test]
fn an_audit_names_what_was_changed_in_the_bucket() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let job = worked(stack)?;
    let byte = |text: &str| text.replacen("reject", "reJect", 1);
    assert_eq!(job.with_file("failed.csv", byte)?, ["sha256 of failed.csv"]);
    let row_less = |text: &str| text.lines().take(6).map(|line| format!("{line}\r\n")).collect();
    assert_eq!(
        job.with_file("failed.csv", row_less)?,
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
    let named = job.with_file("skipped.csv", other_item)?;
    assert_eq!(named[..2], ["row_numbers of skipped.csv"; 2], "row 3 stands in failed.csv");
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
    assert_eq!(job.named()?, Vec::<String>::new(), "all of it is as it was");
    Ok(())
}

#[test]
fn an_audit_of_a_job_that_has_not_ended_says_what_it_could_not_check() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let id = unsent_job(stack, "probe", &probe_file(["ok,,,"]), &json!({}))?.job_id.to_string();
    let job = Tampered { stack, id };
    let audit = job.audit()?;
    ensure!(audit["equal"].is_null() && audit["differences"] == json!([]), "{audit}");
    let left_out: Vec<_> = audit["unchecked"].as_array().into_iter().flatten().map(|left| &left["name"]).collect();
    assert_eq!(left_out, ["totals", "report"]);
    stack.client.cancel(&job.id)?.expect(202)?;
    Watch::new(stack, &job.id).end()?;
    ensure!(job.audit()?["equal"] == true, "{}", job.audit()?);
    Ok(())
}

#[test]
fn an_audit_of_a_retry_is_equal() -> Story {
    let Some(stack) = own() else { return Ok(()) };
    let job = worked(stack)?;
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
