//! The conversion.

use std::io::{Read, Seek, Write};

use longshore_workbooks::SheetChoice;

use crate::archive;
use crate::error::PreparationError;
use crate::form::Form;
use crate::limits::{Bounded, Counted, Limits};
use crate::table;
use crate::text::Text;
use crate::unpack;

/// What a conversion has written.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct Prepared {
    /// Size of the text.
    pub bytes: u64,
    /// Name of the file in an archive.
    pub file: Option<String>,
    /// Name of the sheet of a workbook.
    pub sheet: Option<String>,
    /// The numbers of the rows in the sheet: for each row the step from the one before, in LEB128. Empty for other files.
    pub row_steps: Vec<u8>,
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
    sink: impl Write,
) -> Result<Prepared, PreparationError> {
    let mut file = Counted::new(file);
    let read = file.read_bytes();
    let mut bounded = Bounded::new(sink, *limits, read);
    let mut prepared = Prepared::default();
    if form == Form::Workbook || (form == Form::Zip && archive::is_workbook(&mut file)?) {
        let (name, steps) = table::sheet(file, sheet, limits, &mut bounded)?;
        bounded.flush()?;
        return Ok(Prepared { bytes: bounded.written, sheet: Some(name), row_steps: steps, ..prepared });
    }
    let mut text = Text::new(bounded);
    match form {
        Form::Gzip => unpack::gzip(file, &mut text)?,
        Form::Zstd => unpack::zstandard(file, limits, &mut text)?,
        Form::Zip => prepared.file = Some(archive::only_file(file, &mut text)?),
        Form::Utf16 | Form::Workbook => unpack::copy(file, &mut text)?,
    }
    prepared.bytes = text.finish()?.written;
    Ok(prepared)
}
