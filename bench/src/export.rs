//! An export of a dataset, beside a script that reads the same records with one process.
//!
//! The dataset is filled by an import through the API. Exports and runs of the script (`bench/export.py`) alternate. Both
//! files must have the same records.

use crate::environment::Bench;
use crate::item_size::{UNIT_BYTES, size};
use crate::price::{self, dollars};
use crate::run::{Run, follow};
use crate::statistics::median;
use crate::usage::Logs;
use crate::{machine, records};
use anyhow::{Context, Result, ensure};
use longshore_cli::api::{Api, ImportOptions, LocalFile, Mode};
use longshore_cli::progress;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, copy};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Number of records.
pub(crate) const RECORDS: u64 = 20_000;

/// Number of records with `--quick`.
pub(crate) const QUICK_RECORDS: u64 = 2_000;

/// Number of exports, and of runs of the script.
const RUNS: usize = 3;

/// Name of the file of an export.
const FILE: &str = "results.jsonl";

/// Number of partitions of a dataset.
const PARTITIONS: u64 = 64;

/// Maximum number of keys that a query of the walk reads (`SHARD_KEYS` of the records' reader).
const WALK_KEYS: u64 = 500;

/// The measurements of the exports and of the script.
pub(crate) struct ExportResults {
    pub(crate) machine: Vec<(&'static str, String)>,
    pub(crate) runs: Vec<Run>,
    /// Seconds of each download of an export.
    pub(crate) download_s: Vec<f64>,
    /// Seconds of each run of the script.
    pub(crate) script_s: Vec<f64>,
    /// Average size of a record in the table.
    pub(crate) item_bytes: f64,
    /// Configured memory by function.
    pub(crate) memory_mb: BTreeMap<String, u32>,
    /// Load average before the runs.
    pub(crate) load: Option<f64>,
}

/// Exports a dataset of this many records, and runs the script on it.
pub(crate) fn measure(bench: &Bench<'_>, count: u64) -> Result<ExportResults> {
    let step = progress::step(&format!("export of {count} records"));
    step.detail("importing the records");
    bench.replace_processes()?;
    let exports = Exports::new(bench, count)?;
    let item_bytes = exports.item_bytes()?;
    step.detail("starting new processes");
    bench.replace_processes()?;
    exports.run()?;
    exports.run_script()?;
    let load = machine::load();
    let (mut runs, mut download_s, mut script_s) = (Vec::new(), Vec::new(), Vec::new());
    for n in 1..=RUNS {
        step.detail(&format!("run {n} of {RUNS}"));
        let (run, download) = exports.run()?;
        runs.push(run);
        download_s.push(download);
        script_s.push(exports.run_script()?);
        exports.compare()?;
    }
    exports.remove_files()?;
    let memory_mb = bench.memory_mb.clone();
    let machine = machine::describe(bench.project)?;
    let results = ExportResults { machine, runs, download_s, script_s, item_bytes, memory_mb, load };
    step.done_with(&format!("{:.2} s, the script {:.2} s", results.median().seconds, median(&results.script_s)));
    Ok(results)
}

/// A dataset in the table, and the files of its exports.
struct Exports<'a> {
    bench: &'a Bench<'a>,
    api: Api,
    count: u64,
    dataset: String,
    /// File of the last export.
    exported: PathBuf,
    /// File of the last run of the script.
    scripted: PathBuf,
}

impl<'a> Exports<'a> {
    /// Imports the records.
    fn new(bench: &'a Bench<'a>, count: u64) -> Result<Self> {
        let folder = bench.project.state_dir()?;
        let file = |name: &str| folder.join(format!("{name}.jsonl"));
        let (api, dataset) = (bench.api(), format!("bench-export-{}", std::process::id()));
        let exports = Self { bench, api, count, dataset, exported: file("exported"), scripted: file("scripted") };
        let path = file("records");
        records::write(&path, count)?;
        let guid = exports.api.upload(&LocalFile::open(&path)?)?;
        let (dataset, key) = (exports.dataset.clone(), records::KEY.to_owned());
        let options = ImportOptions { dataset, key, schema: None, mode: Mode::Insert };
        let (_, job) = follow(&exports.api, || exports.api.create_job(&guid, options, "normal"))?;
        ensure!(job.succeeded == count, "{} of {count} records were imported", job.succeeded);
        fs::remove_file(&path)?;
        Ok(exports)
    }

    /// Returns the prefix of the partition keys, by the rule of `store::records::shard`.
    fn prefix(&self) -> String {
        let tenant = self.bench.state.users.first().map_or("default", |user| &user.tenant);
        format!("DATASET#{tenant}#{}#", self.dataset)
    }

    fn table(&self) -> Result<&str> {
        self.bench.state.output("RecordsTableName")
    }

    /// Returns the average size of the records of the first partition that has any.
    fn item_bytes(&self) -> Result<f64> {
        for partition in 0..PARTITIONS {
            let items = self.bench.query(&json!({
                "TableName": self.table()?, "ConsistentRead": true,
                "KeyConditionExpression": "PK = :partition",
                "ExpressionAttributeValues": { ":partition": { "S": format!("{}{partition:02x}", self.prefix()) } },
            }))?;
            if !items.is_empty() {
                return Ok(items.iter().map(size).sum::<u64>() as f64 / items.len() as f64);
            }
        }
        anyhow::bail!("the dataset is not in the partitions with the prefix {}", self.prefix())
    }

    /// Exports and downloads the file. Returns the measurements of the job, and the seconds of the download.
    fn run(&self) -> Result<(Run, f64)> {
        let logs = Logs::from_now(self.bench.state)?;
        let request = json!({ "jobType": "export", "source": { "dataset": self.dataset } });
        let (seconds, job) = follow(&self.api, || self.api.create(&request))?;
        ensure!(job.succeeded == self.count, "{} of {} records were exported", job.succeeded, self.count);
        let functions = logs.usage(self.bench.memory_mb.keys())?;
        let began = Instant::now();
        let mut body = self.api.result_file(&job.job_id, FILE)?;
        copy(&mut body.as_reader(), &mut File::create(&self.exported)?)?;
        let download_s = began.elapsed().as_secs_f64();
        let (rows, written, size_bytes) = (self.count, 0, fs::metadata(&self.exported)?.len());
        let first_progress_s = job.first_progress_s.min(seconds);
        let (polls, stated_cost) = (job.polls, job.stated_cost);
        Ok((Run { rows, written, size_bytes, seconds, first_progress_s, polls, stated_cost, functions }, download_s))
    }

    /// Runs the script. Returns the seconds that it has measured.
    fn run_script(&self) -> Result<f64> {
        let script = self.bench.project.root.join("bench/export.py");
        let mut command = self.bench.stack.command("python");
        let output = command.arg(script).args([self.table()?, &self.prefix()]).arg(&self.scripted).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "export.py failed: {}", String::from_utf8_lossy(&output.stderr));
        text.trim().parse().with_context(|| format!("export.py printed {text}"))
    }

    /// Verifies that both files have the same records.
    fn compare(&self) -> Result<()> {
        let (exported, scripted) = (sorted_records(&self.exported)?, sorted_records(&self.scripted)?);
        ensure!(exported.len() as u64 == self.count, "the export has {} records", exported.len());
        ensure!(exported == scripted, "the files of the export and of the script differ");
        Ok(())
    }

    fn remove_files(&self) -> Result<()> {
        fs::remove_file(&self.exported)?;
        Ok(fs::remove_file(&self.scripted)?)
    }
}

/// Reads the records of a file, each with its properties in the order of their names.
fn sorted_records(path: &Path) -> Result<Vec<String>> {
    let mut records = Vec::new();
    for line in BufReader::new(File::open(path)?).lines() {
        let properties: BTreeMap<String, Value> = serde_json::from_str(&line?)?;
        records.push(serde_json::to_string(&properties)?);
    }
    records.sort_unstable();
    Ok(records)
}

impl ExportResults {
    /// Returns the export with the median duration.
    pub(crate) fn median(&self) -> &Run {
        let mut runs: Vec<&Run> = self.runs.iter().collect();
        runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        runs[runs.len() / 2]
    }

    /// Returns the speed of the export in proportion to that of the script.
    pub(crate) fn ratio(&self) -> f64 {
        median(&self.script_s) / self.median().seconds
    }

    /// Returns the bytes of the items that the walk and the workers read, at most: of each query of the walk as many
    /// items as it may read, but each item once per query of its partition; and each record once.
    pub(crate) fn bytes_read(&self) -> [f64; 2] {
        let run = self.median();
        let queries = calls(run, "create-job", "DynamoDB.Query");
        let walked = (queries * WALK_KEYS).min(queries.div_ceil(PARTITIONS) * run.rows);
        [walked as f64 * self.item_bytes, run.rows as f64 * self.item_bytes]
    }

    /// Returns the read units of the walk and of the workers, at most: each query is rounded up once.
    pub(crate) fn read_units(&self) -> [f64; 2] {
        let run = self.median();
        let single_reads = calls(run, "process-item", "DynamoDB.GetItem");
        let [walk, work] = self.bytes_read().map(|bytes| bytes / UNIT_BYTES as f64);
        [
            walk + calls(run, "create-job", "DynamoDB.Query") as f64,
            work + (calls(run, "process-item", "DynamoDB.Query") + single_reads) as f64,
        ]
    }

    /// Returns the price of the median export. The price of a job counts each query as one read unit, which is the
    /// unit that rounds it up; the units of the bytes are added.
    pub(crate) fn price(&self) -> price::Price {
        let mut price = price::run_price(self.median(), &self.memory_mb);
        let units = self.bytes_read().iter().sum::<f64>() / UNIT_BYTES as f64;
        *price.entry("DynamoDB").or_default() += units * dollars(|prices| prices.read_unit);
        price
    }
}

/// Returns the number of calls of a function.
fn calls(run: &Run, function: &str, call: &str) -> u64 {
    run.functions.get(function).and_then(|usage| usage.calls.get(call)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::Usage;

    fn usage(queries: u64) -> Usage {
        Usage { calls: [("DynamoDB.Query".to_owned(), queries)].into(), ..Usage::default() }
    }

    #[test]
    fn each_query_is_charged_by_its_bytes_and_rounded_up_once() {
        let functions = [("create-job".to_owned(), usage(128)), ("process-item".to_owned(), usage(640))].into();
        let run = Run {
            rows: 40_960,
            written: 0,
            size_bytes: 2 << 20,
            seconds: 2.0,
            first_progress_s: 1.0,
            polls: 0,
            stated_cost: None,
            functions,
        };
        let results = ExportResults {
            machine: Vec::new(),
            runs: vec![run],
            download_s: vec![0.1],
            script_s: vec![1.0],
            item_bytes: 256.0,
            memory_mb: BTreeMap::new(),
            load: None,
        };
        assert_eq!(results.read_units(), [128.0 * 500.0 / 16.0 + 128.0, 40_960.0 / 16.0 + 640.0]);
        let reads = results.read_units().iter().sum::<f64>() * dollars(|prices| prices.read_unit);
        // The job is written to its indexes eight times.
        let expected = reads + 8.0 * dollars(|prices| prices.write_unit);
        let dynamodb = results.price()["DynamoDB"];
        assert!((dynamodb - expected).abs() < 1e-9, "{dynamodb} {expected}");
        assert!((results.ratio() - 0.5).abs() < 1e-9);
    }
}
