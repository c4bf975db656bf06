//! `import`: a file, or standard input, into a dataset.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::connection::ConnectionOptions;
use crate::file::{download, upload};
use crate::job::wait::WaitOptions;
use crate::output::exit::{Exit, JOB_CODES};
use crate::output::printable;
use crate::values::{object, pair};

/// Options of `import`.
#[derive(clap::Args)]
#[command(after_help = JOB_CODES)]
pub struct ImportOptions {
    /// CSV or JSON Lines, also compressed with gzip, zstd or ZIP, or XLSX; `-` reads standard input
    file: PathBuf,
    /// Dataset to import into
    #[arg(long, value_name = "NAME")]
    dataset: String,
    /// Property that identifies a record
    #[arg(long, value_name = "PROPERTY")]
    key: String,
    /// Effect on existing records
    #[arg(long, value_name = "MODE", default_value = "upsert", value_parser = ["upsert", "insert", "update", "delete", "validate"])]
    mode: String,
    /// JSON Schema that every row must satisfy
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Map a column to a property, such as Preis=price; repeatable
    #[arg(long = "column", value_name = "COLUMN=PROPERTY", value_parser = pair)]
    columns: Vec<(String, String)>,
    /// Ignore this column; repeatable
    #[arg(long, value_name = "COLUMN")]
    ignore_column: Vec<String>,
    /// Further options of the import as a JSON object, or @FILE with it, such as '{"decimalSeparator":","}'
    #[arg(long, value_name = "JSON")]
    options: Option<String>,
    #[command(flatten)]
    reading: ReadingOptions,
    /// Write the rows that fail to this file: a workbook if its name ends with .xlsx, else CSV
    #[arg(long, value_name = "FILE", conflicts_with = "no_wait")]
    failures: Option<PathBuf>,
    #[command(flatten)]
    shared: SharedOptions,
    #[command(flatten)]
    wait: WaitOptions,
    #[command(flatten)]
    connection: ConnectionOptions,
}

/// Reading options; absent ones are detected.
#[derive(clap::Args)]
pub(super) struct ReadingOptions {
    /// File name for the API; its extension selects the format [default: that of the file, or standard-input.csv]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Format: csv or jsonl [default: by the name]
    #[arg(long, value_name = "FORMAT", value_parser = ["csv", "jsonl"])]
    format: Option<String>,
    /// Encoding, such as windows-1252 [default: detected]
    #[arg(long, value_name = "ENCODING")]
    encoding: Option<String>,
    /// Character between cells: a comma, a semicolon, a vertical bar or `tab` [default: detected]
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<String>,
    /// Row with the column names; 0 for a file without one [default: detected]
    #[arg(long, value_name = "ROW")]
    header_row: Option<u32>,
    /// Sheet of a workbook, by name or number [default: the first visible one]
    #[arg(long, value_name = "SHEET")]
    sheet: Option<String>,
}

/// Members of every request.
#[derive(clap::Args)]
pub(super) struct SharedOptions {
    /// Priority of the job
    #[arg(long, value_name = "PRIORITY", value_parser = ["high", "normal", "low"])]
    priority: Option<String>,
    /// Metadata of the job, such as source=crm; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    metadata: Vec<(String, String)>,
    /// Maximum cost of a run in US dollars, such as 0.25; the job stops before it is exceeded
    #[arg(long, value_name = "DOLLARS", value_parser = crate::values::dollars)]
    max_cost: Option<f64>,
    /// Time limit of the job, such as 90, 15m or 2h, after which it is stopped
    #[arg(long, value_name = "TIME", value_parser = crate::values::duration)]
    time_limit: Option<Duration>,
}

impl ReadingOptions {
    /// Returns the file's name, if it is given.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the request's `reading`; `None` if everything is detected.
    pub(super) fn request(&self) -> Option<Value> {
        let mut reading = Map::new();
        let mut put = |name: &str, value: Option<Value>| value.map(|value| reading.insert(name.to_owned(), value));
        put("format", self.format.clone().map(Value::from));
        put("encoding", self.encoding.clone().map(Value::from));
        let tab = |text: &String| Value::from(if matches!(text.as_str(), "tab" | "\\t") { "\t" } else { text });
        put("delimiter", self.delimiter.as_ref().map(tab));
        put("headerRow", self.header_row.map(Value::from));
        // A sheet whose name is a number is chosen by its position.
        let sheet = |sheet: &String| sheet.parse::<u32>().map_or_else(|_| Value::from(sheet.as_str()), Value::from);
        put("sheet", self.sheet.as_ref().map(sheet));
        (!reading.is_empty()).then_some(Value::Object(reading))
    }
}

impl SharedOptions {
    /// Adds the members to a request.
    pub(super) fn add_to(&self, request: &mut Value) {
        if let Some(priority) = &self.priority {
            request["priority"] = priority.as_str().into();
        }
        if !self.metadata.is_empty() {
            request["metadata"] =
                self.metadata.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
        }
        if let Some(dollars) = self.max_cost {
            request["maxCost"] = dollars.into();
        }
        if let Some(limit) = self.time_limit {
            request["timeoutSeconds"] = limit.as_secs().into();
        }
    }
}

impl ImportOptions {
    /// Imports the file.
    ///
    /// # Errors
    /// If the API refuses it.
    pub fn execute(&self) -> Result<Exit> {
        self.failures.as_deref().map_or(Ok(()), download::check)?;
        let api = self.connection.api(None)?;
        let mut request = json!({ "jobType": "import", "options": self.job_options()? });
        if let Some(reading) = self.reading.request() {
            request["reading"] = reading;
        }
        self.shared.add_to(&mut request);
        let file = upload::open(&self.file, self.reading.name(), "standard-input.csv")?;
        let url = upload::create_job(&api, &file, &request)?;
        let Some(ended) = self.wait.follow(&api, &url)? else { return Ok(Exit::Success) };
        let exit = self.wait.watch.report(&ended)?;
        if let Some(file) = self.failures.as_deref().filter(|_| ended.job.counts.failed > 0) {
            // The exit code stays that of the job.
            match download::failures(&api, &ended.job.job_id, file) {
                Ok(()) => eprintln!(
                    "  The failed rows are in {0}; correct them, then run `longshore jobs retry {1} --corrected {0}`",
                    file.display(),
                    ended.job.job_id
                ),
                Err(error) => eprintln!("error: the failed rows are not saved: {}", printable(&format!("{error:#}"))),
            }
        }
        Ok(exit)
    }

    fn job_options(&self) -> Result<Map<String, Value>> {
        let mut options =
            self.options.as_deref().map(|text| object("--options", text)).transpose()?.unwrap_or_default();
        options.insert("dataset".to_owned(), self.dataset.as_str().into());
        options.insert("key".to_owned(), self.key.as_str().into());
        options.insert("mode".to_owned(), self.mode.as_str().into());
        if let Some(schema) = &self.schema {
            options.insert("schema".to_owned(), object("--schema", &format!("@{}", schema.display()))?.into());
        }
        let mapped = self.columns.iter().map(|(column, property)| (column.clone(), Value::from(property.as_str())));
        let columns: Map<_, _> =
            mapped.chain(self.ignore_column.iter().map(|column| (column.clone(), Value::Null))).collect();
        if !columns.is_empty() {
            options.insert("columns".to_owned(), columns.into());
        }
        Ok(options)
    }
}
