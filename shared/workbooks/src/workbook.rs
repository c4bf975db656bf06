//! A workbook: its sheets, and the rows of one.

use std::io::{Read, Seek, SeekFrom};
use std::ops::ControlFlow;

use crate::archive::{Archive, Limits};
use crate::compound_file;
use crate::error::WorkbookError;
use crate::package::{Package, Sheet};
use crate::sheet::{Context, Row, SheetReader};
use crate::styles::{self, NumberFormat};
use crate::text::SharedStrings;

/// The first bytes of a ZIP archive with files.
const ZIP_SIGNATURE: &[u8] = b"PK\x03\x04";

/// Maximum number of sheets that a message names, and of the characters of each name.
const LISTED_SHEETS: usize = 10;
const LISTED_CHARS: usize = 31;

/// An open workbook.
pub struct Workbook<R> {
    archive: Archive<R>,
    package: Package,
    strings: SharedStrings,
    formats: Vec<NumberFormat>,
}

/// The sheet that is read.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub enum SheetChoice {
    /// The first visible sheet.
    #[default]
    FirstVisible,
    /// The sheet of this name, in any case.
    Name(String),
    /// The sheet at this position; the first is 1.
    Number(usize),
}

impl<R: Read + Seek> Workbook<R> {
    /// Opens a workbook, and reads its shared strings and formats.
    ///
    /// # Errors
    /// If it cannot be read, or exceeds a limit.
    pub fn open(mut file: R, limits: Limits) -> Result<Self, WorkbookError> {
        let mut start = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        (&mut file).take(ZIP_SIGNATURE.len() as u64).read_to_end(&mut start)?;
        compound_file::refuse(&mut file, &start)?;
        if start != ZIP_SIGNATURE {
            return Err(WorkbookError::NotAWorkbook);
        }
        let mut archive = Archive::open(file, limits)?;
        let package = Package::read(&mut archive)?;
        let strings = match &package.strings {
            Some(name) => archive.part(name, limits.string_bytes)?,
            None => None,
        };
        let strings = strings.map(|part| SharedStrings::read(part, &limits)).transpose()?.unwrap_or_default();
        let formats = match &package.styles {
            Some(name) => archive.part(name, limits.part_bytes)?,
            None => None,
        };
        let formats = formats.map(styles::read).transpose()?.unwrap_or_default();
        Ok(Self { archive, package, strings, formats })
    }

    /// Returns the worksheets, in order. Chart sheets are left out.
    pub fn sheets(&self) -> &[Sheet] {
        &self.package.sheets
    }

    /// Returns the chosen sheet.
    ///
    /// # Errors
    /// If there is none.
    pub fn sheet(&self, choice: &SheetChoice) -> Result<&Sheet, WorkbookError> {
        let sheets = self.sheets();
        let (found, chosen) = match choice {
            SheetChoice::FirstVisible => {
                return sheets.iter().find(|sheet| sheet.is_visible).ok_or(WorkbookError::NoVisibleSheet);
            }
            // Excel refuses two names that differ only in case.
            SheetChoice::Name(name) => {
                let lower = name.to_lowercase();
                (sheets.iter().find(|sheet| sheet.name.to_lowercase() == lower), quoted(name))
            }
            SheetChoice::Number(number) => {
                (number.checked_sub(1).and_then(|index| sheets.get(index)), number.to_string())
            }
        };
        found.ok_or_else(|| {
            let names: Vec<_> = sheets.iter().take(LISTED_SHEETS).map(|sheet| quoted(&sheet.name)).collect();
            let more = if sheets.len() > LISTED_SHEETS { ", …" } else { "" };
            WorkbookError::NoSuchSheet { chosen, sheets: names.join(", ") + more }
        })
    }

    /// Passes the rows of a sheet to `visit`, in order, until it breaks. Blank rows are left out. Cells beyond
    /// `max_columns` are not read, which the row says. Returns the number of merged ranges of the sheet, 0 after a break.
    ///
    /// # Errors
    /// If there is no such sheet, or it cannot be read, or exceeds a limit.
    pub fn for_each_row(
        &mut self,
        choice: &SheetChoice,
        max_columns: usize,
        visit: impl FnMut(&Row) -> ControlFlow<()>,
    ) -> Result<u32, WorkbookError> {
        let name = self.sheet(choice)?.part.clone();
        let Limits { sheet_bytes, cells, blank_cells, .. } = *self.archive.limits();
        let (dates, is_computed_on_load) = (self.package.dates, self.package.is_computed_on_load);
        let part = self.archive.part(&name, sheet_bytes)?;
        let part = part.ok_or_else(|| WorkbookError::damaged("the part of a sheet is missing"))?;
        let (strings, formats) = (&self.strings, self.formats.as_slice());
        let context = Context { strings, formats, dates, is_computed_on_load, cells, blank_cells, max_columns };
        SheetReader::new(part, context).read(visit)
    }
}

fn quoted(name: &str) -> String {
    let shown: String = name.chars().take(LISTED_CHARS).collect();
    format!("{shown:?}")
}
