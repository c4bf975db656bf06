//! The inspection of a file before it becomes a job: how it is written, its columns, its first rows, and what would fail.
//!
//! It calls the same code as the job: what the splitter finds in the header, what the job type detects in the first rows,
//! and what a worker says about each row. So an inspection, a validation and an import agree.

mod columns;
mod rows;

use longshore_domain::job::{JobError, SourceFile};
use longshore_domain::ports::{Definition, Files, PortError};
use longshore_domain::records::{GivenReading, Reading};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

pub use columns::{CellType, FoundColumn, Question, QuestionReading};
pub use rows::FoundRow;

use crate::handler::{AnyJobType, Header};
use crate::header::{FileHeader, HeaderError, read_header};

/// What was found in a file.
#[derive(Clone, PartialEq, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FileInspection)]
pub struct Inspection {
    /// How CSV is written; `null` for JSON Lines, or if the file cannot be read.
    #[schema(required = true)]
    pub reading: Option<Reading>,
    /// The columns of CSV, in order.
    pub columns: Vec<FoundColumn>,
    /// The first rows.
    pub rows: Vec<FoundRow>,
    /// Guesses that a person should check.
    pub issues: Vec<JobError>,
    /// The error with which a job would fail before its first row.
    #[schema(required = true)]
    pub error: Option<JobError>,
    /// The options with what the first rows have decided; `null` if a job would fail.
    #[schema(required = true)]
    pub options: Option<Value>,
}

/// The job that the file is inspected for: its type, and its options, which are valid.
#[derive(Copy, Clone)]
pub struct Intended<'a> {
    /// The type.
    pub job_type: &'a dyn AnyJobType,
    /// The options.
    pub options: &'a Value,
}

/// Inspects a file. Reads 64 KiB for the header, and as much for the first rows.
///
/// # Errors
/// If the bucket fails.
pub async fn inspect(
    files: &impl Files,
    source: &SourceFile,
    given: GivenReading,
    intended: Option<Intended<'_>>,
) -> Result<Inspection, PortError> {
    let header = match read_header(files, source, given, given).await {
        Ok(header) => header,
        Err(HeaderError::Port(error)) => return Err(error),
        Err(HeaderError::Source(error)) => return Ok(Inspection { error: Some(error), ..Inspection::default() }),
    };
    let FileHeader { start, columns, rows, reading, mut issues } = header;
    let source = SourceFile { reading, ..source.clone() };
    let names = columns.unwrap_or_default();
    let mut inspection = Inspection { reading, columns: columns::describe(&names, &rows), ..Inspection::default() };
    let mut prepared = None;
    if let Some(Intended { job_type, options }) = intended {
        match checked(job_type, options, &Header { columns: &names, rows: &rows, detected: None }, reading.is_some()) {
            Ok((found, options)) => {
                issues.extend(found);
                prepared = job_type.prepare(&options).ok();
                inspection.options = Some(options);
            }
            Err(error) => inspection.error = Some(error),
        }
    }
    inspection.rows = rows::first(files, &source, start, &names, prepared.as_deref()).await?;
    inspection.issues = issues;
    Ok(inspection)
}

/// Returns the issues of a header, and the options with what was detected. JSON Lines have no header.
fn checked(
    job_type: &dyn AnyJobType,
    options: &Value,
    header: &Header<'_>,
    has_header: bool,
) -> Result<(Vec<JobError>, Value), JobError> {
    let Some(prepared) = job_type.prepare(options).ok().filter(|_| has_header) else {
        return Ok((Vec::new(), options.clone()));
    };
    let checked = prepared.check_header(header)?;
    let options = match checked.detected {
        Some(detected) => detected.into_options(&Definition::new(options.clone()), header.columns)?.options,
        None => options.clone(),
    };
    Ok((checked.issues, options))
}

#[cfg(test)]
mod tests;
