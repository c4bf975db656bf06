//! The conversion.

use std::io::{Read, Seek, Write};

use longshore_workbooks::SheetChoice;

use crate::archive;
use crate::error::PreparationError;
use crate::limits::{Bounded, Counted, Limits};
use crate::sink::{Sink, copy};
use crate::table;
use crate::text::Text;
use crate::unpack;
use longshore_domain::job::{JobError, Original, SourceFile};
use longshore_domain::records::{Form, Format, GivenSheet};
use longshore_domain::sheet_rows::RowSteps;

/// The result of a conversion.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct Prepared {
    /// Size of the text.
    pub bytes: u64,
    /// Name of the file in an archive.
    pub file: Option<String>,
    /// Name of the sheet of a workbook.
    pub sheet: Option<String>,
    /// The sheets of a workbook, in order.
    pub sheets: Vec<FoundSheet>,
    /// The rows of the sheet. Empty for other files.
    pub row_steps: RowSteps,
    /// Number of these rows that the sheet hides.
    pub hidden_rows: u32,
    /// Number of merged ranges of the sheet, if it was read to its end.
    pub merged_ranges: u32,
}

impl Prepared {
    /// Refuses a sheet whose rows would be read in another format than CSV.
    ///
    /// # Errors
    /// `sheet_as_json_lines`.
    pub fn check_format(&self, format: Format) -> Result<(), JobError> {
        if self.sheet.is_none() || format == Format::Csv {
            return Ok(());
        }
        let message =
            "the file is a workbook, and its rows are no JSON Lines; give reading.format csv, or rename the file";
        Err(JobError::new("sheet_as_json_lines", message))
    }

    /// Returns what the job keeps of the file of this form that was converted.
    pub fn original(&self, file: &SourceFile, form: Form) -> Original {
        Original {
            key: file.key.clone(),
            size_bytes: file.size_bytes,
            etag: file.etag.clone(),
            // Some programs do not write first the parts that tell a workbook from an archive.
            form: if self.sheet.is_some() { Form::Workbook } else { form },
            file: self.file.clone(),
            sheet: self.sheet.clone(),
            first_row: self.row_steps.first_row(),
            has_row_gaps: self.row_steps.has_gaps(),
            hidden_rows: self.hidden_rows,
            merged_ranges: self.merged_ranges,
        }
    }
}

/// Maximum characters of a name that is kept: more than any program permits in a sheet, or an operating system in a
/// file.
const NAME_CHARS: usize = 255;

/// Maximum number of sheets that are listed.
pub(crate) const LISTED_SHEETS: usize = 500;

/// Returns a name of a sheet or file as it is shown and stored. The whole name is untrusted, and can be long.
pub(crate) fn shown_name(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(NAME_CHARS).collect()
}

/// Returns the choice of the sheet that a client has named.
pub fn sheet_choice(sheet: Option<GivenSheet>) -> SheetChoice {
    match sheet {
        None => SheetChoice::FirstVisible,
        Some(GivenSheet::Name(name)) => SheetChoice::Name(name),
        Some(GivenSheet::Number(number)) => SheetChoice::Number(number as usize),
    }
}

/// A sheet of a workbook.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct FoundSheet {
    /// Its name.
    pub name: String,
    /// True if it is hidden.
    pub is_hidden: bool,
}

/// Converts a file into text that can be split, and writes it.
///
/// # Errors
/// If the file is refused, or cannot be read or written.
pub fn convert<R: Read + Seek>(
    form: Form,
    file: R,
    sheet: &SheetChoice,
    limits: &Limits,
    sink: impl Sink,
) -> Result<Prepared, PreparationError> {
    let mut file = Counted::new(file);
    let read = file.read_bytes();
    let mut bounded = Bounded::new(sink, *limits, read);
    let mut prepared = Prepared::default();
    if form == Form::Workbook || (form == Form::Zip && archive::is_workbook(&mut file)?) {
        PreparationError::or_enough(table::sheet(file, sheet, limits, &mut bounded, &mut prepared))?;
        bounded.flush()?;
        prepared.bytes = bounded.written;
        return Ok(prepared);
    }
    let mut text = Text::new(bounded);
    let copied = match form {
        Form::Gzip => unpack::gzip(file, &mut text),
        Form::Zstd => unpack::zstandard(file, limits, &mut text),
        Form::Zip => archive::only_file(&mut file, &mut text, &mut prepared.file),
        Form::Utf16 | Form::Workbook => copy(file, &mut text),
    };
    PreparationError::or_enough(copied)?;
    prepared.bytes = text.finish()?.written;
    Ok(prepared)
}
