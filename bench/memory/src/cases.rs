//! The kinds of jobs that are measured.

use std::sync::OnceLock;

use anyhow::{Context, Result};
use longshore::handler::{ItemKey, JobContext, JobType, Outcome};
use longshore::job_types::builtin;
use longshore_domain::job::{Source, SourceFile};
use longshore_domain::ports::{FileInfo, Files};
use longshore_domain::records::Format;
use longshore_domain::results::ResultsForm;
use longshore_testing::{MemoryFiles, MemoryRecords};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::job::{Measured, Request, run};

const KEY: &str = "uploads/default/bench";

/// A kind of job.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    request: fn(SourceFile) -> Request,
}

/// All kinds of jobs. The first is the base of the ratios.
pub(crate) const CASES: [Case; 2] = [
    Case { name: "rows checked against a schema (`validate`)", request: validate },
    Case { name: "outputs of 100 bytes, as JSON Lines", request: outputs },
];

impl Case {
    /// Runs a job with this many rows of 100 bytes.
    pub(crate) fn run(&self, rows: u64) -> Result<Measured> {
        let files = MemoryFiles::default();
        files.put(KEY, file(rows)?);
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let info = runtime.block_on(files.info(KEY))?.context("the file is gone")?;
        let FileInfo { size_bytes, etag } = info;
        let source = SourceFile { key: KEY.into(), size_bytes, etag, format: Format::Csv, name: "rows.csv".into() };
        let registry = builtin(MemoryRecords::default()).with(WithOutput);
        run(files, &registry, (self.request)(source), rows)
    }
}

fn validate(source: SourceFile) -> Request {
    let options = json!({ "dataset": "bench", "key": "id", "mode": "validate", "schema": bench::rows::schema() });
    Request { job_type: "import", source: Source::File(source), options, results: None }
}

fn outputs(source: SourceFile) -> Request {
    let results = Some(ResultsForm::default());
    Request { job_type: WithOutput::NAME, source: Source::File(source), options: json!({}), results }
}

/// Returns the input file, which is written once.
fn file(rows: u64) -> Result<Vec<u8>> {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(file) = FILE.get() {
        return Ok(file.clone());
    }
    let mut file = Vec::new();
    bench::rows::write_to(&mut file, rows, 0)?;
    Ok(FILE.get_or_init(|| file).clone())
}

/// A handler whose output is the row: about 100 bytes of JSON.
struct WithOutput;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoOptions {}

#[derive(Deserialize, Serialize)]
struct Row {
    id: u64,
    name: String,
    email: String,
}

impl JobType for WithOutput {
    const NAME: &'static str = "with-output";
    type Options = NoOptions;
    type Item = Row;
    type Output = Row;

    async fn process(&self, _: &JobContext, _: &NoOptions, _: ItemKey, row: Row) -> Outcome<Row> {
        Outcome::Ok(row)
    }
}
