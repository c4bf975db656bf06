//! The inspection of a file before it becomes a job: how it is written, its columns, its first rows, and what would
//! fail.
//!
//! It calls the same code as the job: what the splitter finds in the header, what the job type detects in the first
//! rows, and what a worker says about each row. So an inspection, a validation and an import agree.

mod columns;
mod intended;
mod rows;

use longshore_domain::job::{JobError, SourceFile};
use longshore_domain::ports::{Files, PortError};
use longshore_domain::preset::Preset;
use longshore_domain::records::{Form, GivenReading, Reading};
use serde_json::Value;

use crate::chunk::source_changed;

pub use columns::{CellType, FoundColumn, Question, QuestionReading};
pub use intended::Intended;
pub use rows::FoundRow;

use crate::handler::Header;
use crate::header::{FileHeader, HeaderError, read_header};

/// The result of an inspection.
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
    if let Some(intended) = intended {
        let (preset, checked) = match reading {
            Some(_) => intended.check(&Header { columns: &names, rows: &rows, detected: None }),
            // JSON Lines have no header that could be checked.
            None if intended.presets.is_empty() => (None, Ok(intended.unchecked())),
            None => {
                let (preset, mapped) = intended.map_members(&rows::member_names(files, &source, start).await?);
                (preset, Ok(mapped))
            }
        };
        inspection.preset = preset;
        match checked {
            Ok(checked) => {
                issues.extend(checked.issues);
                inspection.options = Some(checked.options);
                job = Some(checked.prepared);
            }
            Err(error) => inspection.error = Some(error),
        }
    }
    inspection.issues = issues;
    let rows = rows::first(files, &source, start, &names, job.as_deref()).await?;
    Ok(Inspected::Found(match rows {
        Some(rows) => Inspection { rows, ..inspection },
        None => Inspection::refused(source_changed(&source)),
    }))
}

#[cfg(test)]
mod tests;
