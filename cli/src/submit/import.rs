//! `import`: a file, or standard input, into a dataset.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::download;
use super::input::Input;
use super::options::{object, pair};
use super::wait::WaitOptions;
use crate::connection::ConnectionOptions;
use crate::exit::{Exit, JOB_CODES};

/// Options of `import`.
#[derive(clap::Args)]
#[command(after_help = JOB_CODES)]
pub struct ImportOptions {
    /// CSV, JSON Lines or XLSX, also compressed with gzip, zstd or ZIP; `-` reads standard input
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
    /// Property of a column, such as Preis=price; repeat it for each column
    #[arg(long = "column", value_name = "COLUMN=PROPERTY", value_parser = pair)]
    columns: Vec<(String, String)>,
    /// Column that is left out; repeat it for each
    #[arg(long, value_name = "COLUMN")]
    leave_out: Vec<String>,
    /// Further options of the import as a JSON object, or @FILE with it, such as '{"decimalSeparator":","}'
    #[arg(long, value_name = "JSON")]
    options: Option<String>,
    #[command(flatten)]
    reading: ReadingOptions,
    /// Write the rows that fail to this file: a workbook if its name ends with .xlsx, else CSV
    #[arg(long, value_name = "FILE")]
    failures: Option<PathBuf>,
    #[command(flatten)]
    shared: SharedOptions,
    #[command(flatten)]
    wait: WaitOptions,
    #[command(flatten)]
    connection: ConnectionOptions,
}

/// How a file is read. What is not given is detected.
#[derive(clap::Args)]
pub(super) struct ReadingOptions {
    /// Name of the file: its end tells the format [default: that of the file, or standard-input.csv]
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
    /// Metadata of the job, such as source=crm; repeat it for each
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    metadata: Vec<(String, String)>,
    /// Time limit of the job in seconds, after which it is stopped
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<u64>,
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
        if let Some(seconds) = self.time_limit {
            request["timeoutSeconds"] = seconds.into();
        }
    }
}

impl ImportOptions {
    /// Imports the file.
    ///
    /// # Errors
    /// If the API refuses it.
    pub fn execute(&self) -> Result<Exit> {
        let api = self.connection.api(None)?;
        let options = self.job_options()?;
        let input = Input::open(&self.file, self.reading.name(), "standard-input.csv")?;
        let mut request = json!({ "jobType": "import", "options": options });
        if let Some(reading) = self.reading.request() {
            request["reading"] = reading;
        }
        self.shared.add_to(&mut request);
        request["fileGuid"] = input.upload(&api, &request.to_string())?.into();
        let Some(ended) = self.wait.create(&api, &request, "rows")? else { return Ok(Exit::Success) };
        if let Some(file) = self.failures.as_deref().filter(|_| ended.job.counts.failed > 0) {
            let format = if file.extension().is_some_and(|end| end == "xlsx") { "xlsx" } else { "csv" };
            let path = format!("/api/jobs/{}/failures?format={format}", ended.job.job_id);
            download::save(api.file(&path, "reading the failures")?, file)?;
            eprintln!("  The failed rows are in {}", file.display());
        }
        self.wait.report(&ended, "rows")
    }

    fn job_options(&self) -> Result<Map<String, Value>> {
        let mut options = self.options.as_deref().map(object).transpose()?.unwrap_or_default();
        options.insert("dataset".to_owned(), self.dataset.as_str().into());
        options.insert("key".to_owned(), self.key.as_str().into());
        options.insert("mode".to_owned(), self.mode.as_str().into());
        if let Some(schema) = &self.schema {
            options.insert("schema".to_owned(), object(&format!("@{}", schema.display()))?.into());
        }
        let mapped = self.columns.iter().map(|(column, property)| (column.clone(), Value::from(property.as_str())));
        let columns: Map<_, _> =
            mapped.chain(self.leave_out.iter().map(|column| (column.clone(), Value::Null))).collect();
        if !columns.is_empty() {
            options.insert("columns".to_owned(), columns.into());
        }
        Ok(options)
    }
}
