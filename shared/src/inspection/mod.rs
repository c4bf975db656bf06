//! The inspection of a file before it becomes a job: how it is written, its columns, its first rows, and what would fail.
//!
//! It calls the same code as the job: what the splitter finds in the header, what the job type detects in the first rows,
//! and what a worker says about each row. So an inspection, a validation and an import agree.

mod columns;
mod rows;

use std::mem;

use longshore_domain::job::{JobError, SourceFile};
use longshore_domain::ports::{Definition, Files, PortError};
use longshore_domain::preset::{LearntPreset, Preset};
use longshore_domain::records::{Form, GivenReading, Reading};
use longshore_domain::text::listed;
use serde_json::{Value, json};

pub use columns::{CellType, FoundColumn, Question, QuestionReading};
pub use rows::FoundRow;

use crate::handler::{AnyJobType, Header, PreparedJob};
use crate::header::{FileHeader, HeaderError, read_header};

/// What was found in a file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Inspection {
    /// How CSV is written; `None` for JSON Lines, or if the file cannot be read.
    pub reading: Option<Reading>,
    /// The columns of CSV, in order.
    pub columns: Vec<FoundColumn>,
    /// The first rows.
    pub rows: Vec<FoundRow>,
    /// Guesses that a person should check.
    pub issues: Vec<JobError>,
    /// The error with which a job would fail before its first row.
    pub error: Option<JobError>,
    /// What the file can use of the presets of its dataset; `None` if that is nothing.
    pub preset: Option<Preset>,
    /// The options with what the first rows have decided; `None` if a job would fail, or none is intended.
    pub options: Option<Value>,
}

impl Inspection {
    /// Creates the inspection of a file that no job can read.
    pub fn refused(error: JobError) -> Self {
        Self { error: Some(error), ..Self::default() }
    }
}

/// The job that the file is inspected for.
pub struct Intended<'a> {
    /// Its type.
    pub job_type: &'a dyn AnyJobType,
    /// Its options.
    pub options: Value,
    /// The same options, compiled.
    pub prepared: Box<dyn PreparedJob>,
    /// The presets of the dataset.
    pub presets: Vec<LearntPreset>,
}

impl Intended<'_> {
    /// Returns true if the options leave the mapping to a preset, and their key is one of its properties.
    fn takes(&self, preset: &Preset, columns: &[String]) -> bool {
        let is_open = ["columns", "values"].iter().all(|member| self.options.get(member).is_none());
        let key = self.options.get("key").and_then(Value::as_str);
        is_open && !preset.maps_nothing() && key.is_some_and(|key| preset.has_property(key, columns))
    }

    /// Takes the mapping of a preset. Returns the notice of it; `None` if the job type refuses it.
    fn apply(&mut self, preset: &Preset) -> Option<JobError> {
        let mut options = self.options.clone();
        let members = options.as_object_mut()?;
        members.insert("columns".into(), json!(preset.columns));
        members.insert("values".into(), json!(preset.values));
        self.prepared = self.job_type.prepare(&options).ok()?;
        self.options = options;
        let columns = listed(preset.columns.keys().map(String::as_str));
        let message = format!(
            "the mapping is that of the dataset's last import or export: {columns}; give the option columns to map in \
             another way"
        );
        Some(JobError::new("preset_used", message))
    }
}

/// What is known after the first bytes of a file.
pub enum Inspected<'a> {
    /// The file, as it is read.
    Found(Inspection),
    /// The file must be converted before it is read.
    Unprepared(Form, Option<Intended<'a>>),
}

/// Inspects a file. Reads 64 KiB for the header, and as much for the first rows.
///
/// # Errors
/// If the bucket fails.
pub async fn inspect<'a>(
    files: &impl Files,
    source: &SourceFile,
    given: GivenReading,
    intended: Option<Intended<'a>>,
) -> Result<Inspected<'a>, PortError> {
    let header = match read_header(files, source, given, given).await {
        Ok(header) => header,
        Err(HeaderError::Port(error)) => return Err(error),
        Err(HeaderError::Source(error)) => return Ok(Inspected::Found(Inspection::refused(error))),
        Err(HeaderError::Unprepared(form)) => return Ok(Inspected::Unprepared(form, intended)),
    };
    let FileHeader { start, columns, rows, reading, mut issues } = header;
    let source = SourceFile { reading, ..source.clone() };
    let names = columns.unwrap_or_default();
    let mut inspection = Inspection { reading, columns: columns::describe(&names, &rows), ..Inspection::default() };
    let mut job = None;
    if let Some(mut intended) = intended {
        inspection.preset = Preset::for_columns(mem::take(&mut intended.presets), &names);
        let preset = inspection.preset.as_ref().filter(|preset| intended.takes(preset, &names));
        issues.extend(preset.and_then(|preset| intended.apply(preset)));
        match checked(intended, &Header { columns: &names, rows: &rows, detected: None }, reading.is_some()) {
            Ok(checked) => {
                issues.extend(checked.issues);
                inspection.options = Some(checked.options);
                job = Some(checked.prepared);
            }
            Err(error) => inspection.error = Some(error),
        }
    }
    inspection.rows = rows::first(files, &source, start, &names, job.as_deref()).await?;
    inspection.issues = issues;
    Ok(Inspected::Found(inspection))
}

/// A job whose header has been checked.
struct CheckedJob {
    issues: Vec<JobError>,
    options: Value,
    prepared: Box<dyn PreparedJob>,
}

/// Checks a header, and compiles the options with what was detected. JSON Lines have no header.
fn checked(intended: Intended<'_>, header: &Header<'_>, has_header: bool) -> Result<CheckedJob, JobError> {
    let Intended { job_type, options, prepared, .. } = intended;
    let mut job = CheckedJob { issues: Vec::new(), options, prepared };
    if !has_header {
        return Ok(job);
    }
    let checked = job.prepared.check_header(header)?;
    job.issues = checked.issues;
    if let Some(detected) = checked.detected {
        job.options = detected.into_options(&Definition::new(job.options), header.columns)?.options;
        // What was detected is valid: the job itself reads it from its definition.
        if let Ok(prepared) = job_type.prepare(&job.options) {
            job.prepared = prepared;
        }
    }
    Ok(job)
}

#[cfg(test)]
mod tests;
