//! The kinds of jobs that are measured.

use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};
use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Registry};
use longshore::job_types::builtin;
use longshore::job_types::export::Export;
use longshore_domain::job::{DatasetSource, Source, SourceFile};
use longshore_domain::ports::Files;
use longshore_domain::records::Format;
use longshore_domain::results::{ResultColumn, ResultFormat, ResultRow, ResultsForm};
use longshore_testing::{MemoryFiles, MemoryRecords};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::counted::{Counted, RecordCalls};
use crate::job::{Measured, Request, run};
use crate::records::{NAMES, Records};

const KEY: &str = "uploads/default/bench";

/// A kind of job.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Returns the services, and the request of a job with this many items.
    set_up: fn(u64) -> Result<SetUp>,
}

/// The services of a job, and its request.
struct SetUp {
    files: MemoryFiles,
    registry: Registry,
    request: Request,
    /// Calls of an import.
    calls: RecordCalls,
}

impl SetUp {
    fn new(files: MemoryFiles, registry: Registry, request: Request) -> Self {
        Self { files, registry, request, calls: RecordCalls::default() }
    }
}

/// All kinds of jobs. The first is the base of the ratios.
pub(crate) const CASES: [Case; 8] = [
    Case { name: "rows checked against a schema (`validate`)", set_up: validate },
    Case { name: "outputs of 100 bytes, as JSON Lines", set_up: outputs },
    Case {
        name: "export of records of 100 bytes, as JSON Lines",
        set_up: |records| export(records, ResultFormat::Jsonl),
    },
    Case { name: "the same export, as CSV", set_up: |records| export(records, ResultFormat::Csv) },
    Case { name: "import of new keys without undo", set_up: |rows| import(rows, json!({"undo": false})) },
    Case { name: "the same import with undo", set_up: |rows| import(rows, json!({"undo": true})) },
    Case { name: "import over existing keys without undo", set_up: |rows| import_over(rows, json!({"undo": false})) },
    Case {
        name: "the same import over existing keys with undo",
        set_up: |rows| import_over(rows, json!({"undo": true})),
    },
];

impl Case {
    /// Runs a job with this many rows or records of 100 bytes.
    pub(crate) fn run(&self, items: u64) -> Result<Measured> {
        let SetUp { files, registry, request, calls } = (self.set_up)(items)?;
        let measured = run(files.clone(), &registry, request, items)?;
        let versions = files.keys().iter().filter(|key| key.contains("/versions/")).count() as u64;
        let (statements, reads) = calls.count();
        Ok(Measured { statements, reads, versions, ..measured })
    }
}

fn validate(rows: u64) -> Result<SetUp> {
    import(rows, json!({ "mode": "validate", "schema": bench::rows::schema() }))
}

/// An import with these options into an empty dataset.
fn import(rows: u64, options: Value) -> Result<SetUp> {
    import_into(MemoryRecords::default(), rows, options)
}

/// An import with these options into a dataset that has a record for each row. All runs have the same dataset.
fn import_over(rows: u64, options: Value) -> Result<SetUp> {
    static RECORDS: OnceLock<MemoryRecords> = OnceLock::new();
    let records = RECORDS.get_or_init(MemoryRecords::default);
    if records.is_empty() {
        let SetUp { files, registry, request, .. } = import_into(records.clone(), rows, json!({"undo": false}))?;
        run(files, &registry, request, rows)?;
    }
    import_into(records.clone(), rows, options)
}

fn import_into(records: MemoryRecords, rows: u64, mut options: Value) -> Result<SetUp> {
    options["dataset"] = json!("bench");
    options["key"] = json!("id");
    let (files, source) = upload(rows)?;
    let calls = RecordCalls::default();
    let registry = builtin(Counted { records, calls: calls.clone() }, files.clone());
    let request = Request { job_type: "import", source, options, results: None, registration: None };
    Ok(SetUp { calls, ..SetUp::new(files, registry, request) })
}

fn outputs(rows: u64) -> Result<SetUp> {
    let (files, source) = upload(rows)?;
    let results = Some(ResultsForm::default());
    let request = Request { job_type: WithOutput::NAME, source, options: json!({}), results, registration: None };
    Ok(SetUp::new(files, Registry::default().with(WithOutput), request))
}

fn export(records: u64, format: ResultFormat) -> Result<SetUp> {
    let source = Source::Dataset(DatasetSource { dataset: "bench".into(), updated_since: None });
    let columns = NAMES.map(|name| ResultColumn { name: name.into(), heading: name.into() }).to_vec();
    let form = ResultsForm { row: ResultRow::Plain, format, columns, ..ResultsForm::default() };
    let request =
        Request { job_type: Export::NAME, source, options: json!({}), results: Some(form), registration: None };
    let registry = Registry::default().with_records(Arc::new(Records(records))).with(Export);
    Ok(SetUp::new(MemoryFiles::default(), registry, request))
}

/// Puts the input file.
pub(crate) fn upload(rows: u64) -> Result<(MemoryFiles, Source)> {
    let files = MemoryFiles::default();
    files.put(KEY, file(rows)?);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let info = runtime.block_on(files.info(KEY))?.context("the file is gone")?;
    let source = SourceFile::new(KEY, info, Format::Csv, "rows.csv");
    Ok((files, Source::File(source)))
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
