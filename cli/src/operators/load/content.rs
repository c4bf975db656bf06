//! The file of a job: generated rows of an import, or items from a template, with their expected counts.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::mix::JobSpec;
use crate::api::LocalFile;
use crate::output::exit::{CommandError, Exit};
use crate::values::object;

/// The job type whose rows are generated.
pub(super) const IMPORT: &str = "import";

/// Place of the job's number in a template.
const JOB: &str = "{job}";

/// The item of a type without a template.
const DEFAULT_ITEM: &str = r#"{"job":{job},"n":{n}}"#;

/// Settings of the generated jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct Workload {
    /// Of an import, every row with a number divisible by it is invalid; none if it is 0.
    pub(super) invalid_every: u64,
    /// Templates of items, by job type.
    pub(super) items: BTreeMap<String, String>,
    /// Options as JSON, by job type.
    pub(super) options: BTreeMap<String, String>,
    /// Mode of the imports.
    pub(super) mode: String,
    /// Dataset of the imports.
    pub(super) dataset: String,
    /// Metadata by which the jobs of the run are found.
    pub(super) run: String,
    /// Priority of the jobs.
    pub(super) priority: Option<String>,
}

/// The file of a job.
pub(super) struct JobFile {
    pub(super) file: LocalFile,
    pub(super) expected: Expected,
}

/// Expected counts of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    /// Number of rows.
    pub(super) rows: u64,
    /// Number of rows that must fail; `None` if the handler decides.
    pub(super) failed: Option<u64>,
}

impl Workload {
    /// Checks the templates and the options.
    ///
    /// # Errors
    /// If one is not JSON.
    pub(super) fn check(&self) -> Result<()> {
        for (job_type, options) in &self.options {
            object(&format!("--options {job_type}"), options)?;
        }
        for (job_type, template) in &self.items {
            let item = fill(template, 1, 1);
            if let Err(error) = serde_json::from_str::<Value>(&item) {
                let reason = format!("--item {job_type}: this is not JSON: {item}: {error}");
                return Err(CommandError::new(Exit::Usage, reason).into());
            }
        }
        Ok(())
    }

    /// Writes the file of a job to a folder. It is removed at once, and stays readable by its handle.
    pub(super) fn file_of(&self, number: u64, spec: &JobSpec, folder: &Path) -> Result<JobFile> {
        let folder = tempfile::tempdir_in(folder).context("cannot create a temporary folder")?;
        // The extension is the format.
        let path = folder.path().join(if spec.job_type == IMPORT { "load.csv" } else { "load.jsonl" });
        let write = || -> io::Result<()> {
            let mut file = BufWriter::new(File::create(&path)?);
            self.write(number, spec, &mut file)?;
            file.flush()
        };
        write().with_context(|| format!("cannot write {}", path.display()))?;
        Ok(JobFile { file: LocalFile::open(&path)?, expected: self.expected(spec) })
    }

    /// Returns true if all jobs of this kind have the same rows.
    pub(super) fn is_equal_for_all(&self, spec: &JobSpec) -> bool {
        spec.job_type != IMPORT && !self.template(spec).contains(JOB)
    }

    /// Writes the rows of a job.
    fn write(&self, number: u64, spec: &JobSpec, to: &mut impl Write) -> io::Result<()> {
        if spec.job_type == IMPORT {
            writeln!(to, "id,name,amount")?;
            for row in 1..=spec.rows {
                match self.is_invalid(row) {
                    true => writeln!(to, "{number}-{row},Person {row},unknown")?,
                    false => writeln!(to, "{number}-{row},Person {row},{}.5", row % 1_000)?,
                }
            }
            return Ok(());
        }
        let template = self.template(spec);
        for row in 1..=spec.rows {
            // A line is an item: a template can have line ends between its members.
            writeln!(to, "{}", fill(template, number, row).replace(['\n', '\r'], " "))?;
        }
        Ok(())
    }

    fn expected(&self, spec: &JobSpec) -> Expected {
        let failed = spec.rows.checked_div(self.invalid_every).unwrap_or_default();
        Expected { rows: spec.rows, failed: (spec.job_type == IMPORT).then_some(failed) }
    }

    fn template(&self, spec: &JobSpec) -> &str {
        self.items.get(&spec.job_type).map_or(DEFAULT_ITEM, String::as_str)
    }

    fn is_invalid(&self, row: u64) -> bool {
        self.invalid_every > 0 && row.is_multiple_of(self.invalid_every)
    }

    /// Returns the request for a job over an upload.
    pub(super) fn request(&self, spec: &JobSpec, upload: &str) -> Result<Value> {
        let given = self.options.get(&spec.job_type).map(|text| object("--options", text)).transpose()?;
        let mut options = given.unwrap_or_default();
        if spec.job_type == IMPORT {
            options.insert("dataset".to_owned(), self.dataset.as_str().into());
            options.insert("key".to_owned(), "id".into());
            options.insert("mode".to_owned(), self.mode.as_str().into());
            options.entry("schema").or_insert_with(schema);
        }
        let mut request = json!({
            "jobType": spec.job_type,
            "fileGuid": upload,
            "options": options,
            "metadata": { "load": self.run },
        });
        if let Some(priority) = &self.priority {
            request["priority"] = priority.as_str().into();
        }
        Ok(request)
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["id", "name", "amount"],
        "properties": { "id": { "type": "string" }, "name": { "type": "string" }, "amount": { "type": "number" } },
    })
}

/// Replaces the numbers of the job and of the item in a template.
fn fill(template: &str, job: u64, item: u64) -> String {
    template.replace(JOB, &job.to_string()).replace("{n}", &item.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(job_type: &str, rows: u64) -> JobSpec {
        JobSpec { job_type: job_type.to_owned(), rows }
    }

    fn workload() -> Workload {
        let item = ("mail".to_owned(), "{\"to\":\n\"user-{job}-{n}@example.com\"}".to_owned());
        let options = ("mail".to_owned(), r#"{"from":"a@example.com"}"#.to_owned());
        Workload {
            invalid_every: 4,
            items: [item].into(),
            options: [options].into(),
            mode: "upsert".to_owned(),
            dataset: "load-1".to_owned(),
            run: "load-1".to_owned(),
            priority: None,
        }
    }

    fn text(workload: &Workload, number: u64, spec: &JobSpec) -> Result<String> {
        let mut bytes = Vec::new();
        workload.write(number, spec, &mut bytes)?;
        Ok(String::from_utf8(bytes)?)
    }

    #[test]
    fn an_import_has_exactly_the_expected_invalid_rows() -> Result<()> {
        for (rows, every, failed) in [(10, 4, 2), (10, 0, 0), (3, 4, 0), (8, 1, 8)] {
            let (workload, spec) = (Workload { invalid_every: every, ..workload() }, spec(IMPORT, rows));
            assert_eq!(workload.expected(&spec), Expected { rows, failed: Some(failed) });
            let text = text(&workload, 7, &spec)?;
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let amounts: Vec<_> = reader.records().map(|row| row.unwrap()[2].to_owned()).collect();
            let invalid = amounts.iter().filter(|amount| amount.parse::<f64>().is_err()).count() as u64;
            assert_eq!((amounts.len() as u64, invalid), (rows, failed), "{rows} {every}");
        }
        Ok(())
    }

    #[test]
    fn the_keys_of_two_jobs_differ() -> Result<()> {
        let key = |number| -> Result<String> {
            let text = text(&workload(), number, &spec(IMPORT, 1))?;
            Ok(text.lines().nth(1).and_then(|row| row.split(',').next()).unwrap_or_default().to_owned())
        };
        assert_eq!((key(1)?.as_str(), key(2)?.as_str()), ("1-1", "2-1"));
        Ok(())
    }

    #[test]
    fn items_of_other_types_are_lines_of_the_template() -> Result<()> {
        let (workload, mail) = (workload(), spec("mail", 2));
        let lines = text(&workload, 3, &mail)?;
        let items: Vec<Value> = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        assert_eq!(items, [json!({ "to": "user-3-1@example.com" }), json!({ "to": "user-3-2@example.com" })]);
        assert_eq!(workload.expected(&mail), Expected { rows: 2, failed: None });
        let other = text(&workload, 3, &spec("other", 1))?;
        assert_eq!(serde_json::from_str::<Value>(&other)?, json!({ "job": 3, "n": 1 }));
        Ok(())
    }

    #[test]
    fn a_file_is_removed_and_stays_readable() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let workload = workload();
        let made = workload.file_of(3, &spec("mail", 2), folder.path())?;
        assert_eq!((made.file.name(), made.expected.rows), ("load.jsonl", 2));
        assert_eq!(made.file.size_bytes(), text(&workload, 3, &spec("mail", 2))?.len() as u64);
        assert_eq!(std::fs::read_dir(folder.path())?.count(), 0);
        Ok(())
    }

    #[test]
    fn items_without_the_number_of_the_job_are_equal_for_all() {
        let items = [("mail".to_owned(), r#"{"n":{n}}"#.to_owned())].into();
        let numbered = workload();
        assert!(![IMPORT, "mail", "other"].iter().any(|name| numbered.is_equal_for_all(&spec(name, 2))));
        assert!(Workload { items, ..numbered }.is_equal_for_all(&spec("mail", 2)));
    }

    #[test]
    fn a_request_has_the_options_of_its_type() -> Result<()> {
        let request = workload().request(&spec("mail", 2), "g")?;
        assert_eq!(request["options"], json!({ "from": "a@example.com" }));
        assert_eq!((&request["metadata"]["load"], &request["fileGuid"]), (&json!("load-1"), &json!("g")));
        let request = workload().request(&spec(IMPORT, 2), "g")?;
        assert_eq!((&request["options"]["dataset"], &request["options"]["key"]), (&json!("load-1"), &json!("id")));
        Ok(())
    }

    #[test]
    fn a_template_that_is_not_json_is_refused_before_the_run() {
        assert!(workload().check().is_ok());
        let items = [("mail".to_owned(), "{to:{n}}".to_owned())].into();
        assert!(Workload { items, ..workload() }.check().is_err());
        let options = [("mail".to_owned(), "[]".to_owned())].into();
        assert!(Workload { options, ..workload() }.check().is_err());
    }
}
