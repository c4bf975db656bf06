//! The files that are measured.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use rust_xlsxwriter::Workbook;

/// Bytes of the file that is compressed, and of the one that is inspected.
pub(crate) const TEXT_BYTES: usize = 100_000_000;

/// Rows of the CSV files that are validated.
pub(crate) const CSV_ROWS: u64 = 1_000_000;

/// Rows of the workbook that is prepared.
pub(crate) const SHEET_ROWS: u32 = 500_000;

/// Rows of the workbook that is inspected: about 20 MB.
const INSPECTED_ROWS: u32 = 700_000;

/// A file of one or more measurements.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Input {
    /// Rows of CSV in UTF-8.
    Utf8,
    /// The same rows in windows-1252.
    Windows1252,
    /// CSV with gzip.
    Gzip,
    /// The workbook that is prepared.
    Workbook,
    /// The CSV file that is inspected.
    InspectedCsv,
    /// The workbook that is inspected.
    InspectedWorkbook,
}

impl Input {
    const ALL: [Self; 6] =
        [Self::Utf8, Self::Windows1252, Self::Gzip, Self::Workbook, Self::InspectedCsv, Self::InspectedWorkbook];

    /// Writes all files to a folder.
    pub(crate) fn write_all(folder: &Path) -> Result<()> {
        for input in Self::ALL {
            std::fs::write(input.path(folder), input.bytes()?)?;
        }
        Ok(())
    }

    /// Returns the path of the file in its folder.
    pub(crate) fn path(self, folder: &Path) -> PathBuf {
        folder.join(format!("{self:?}"))
    }

    fn bytes(self) -> Result<Vec<u8>> {
        Ok(match self {
            Self::Utf8 => csv_rows(CSV_ROWS, Encoding::Utf8),
            Self::Windows1252 => csv_rows(CSV_ROWS, Encoding::Windows1252),
            Self::Gzip => gzip()?,
            Self::Workbook => workbook(SHEET_ROWS)?,
            Self::InspectedCsv => csv(TEXT_BYTES),
            Self::InspectedWorkbook => workbook(INSPECTED_ROWS)?,
        })
    }
}

/// An encoding of CSV, with the delimiter that its files have.
#[derive(Copy, Clone)]
enum Encoding {
    /// UTF-8 with commas.
    Utf8,
    /// windows-1252 with semicolons.
    Windows1252,
}

impl Encoding {
    fn delimiter(self) -> char {
        match self {
            Self::Utf8 => ',',
            Self::Windows1252 => ';',
        }
    }

    /// Appends a text whose characters are all in Latin-1, which windows-1252 encodes with the same numbers.
    fn push(self, file: &mut Vec<u8>, text: &str) {
        match self {
            Self::Utf8 => file.extend_from_slice(text.as_bytes()),
            Self::Windows1252 => file.extend(text.chars().map(|c| c as u8)),
        }
    }

    fn push_names(self, file: &mut Vec<u8>) {
        let d = self.delimiter();
        self.push(file, &format!("id{d}name{d}email{d}street{d}city{d}amount\n"));
    }

    fn push_row(self, file: &mut Vec<u8>, n: u64) {
        let d = self.delimiter();
        let (name, street) = (format!("J\u{fc}rgen M\u{fc}ller {n}"), format!("Stra\u{df}e der Freiheit {n}"));
        self.push(file, &format!("{n}{d}{name}{d}person{n}@example.com{d}{street}{d}K\u{f6}ln{d}{n}.5\n"));
    }
}

/// Returns `bytes` bytes of rows. The last row may be cut.
fn csv(bytes: usize) -> Vec<u8> {
    let mut file = Vec::new();
    Encoding::Utf8.push_names(&mut file);
    let mut n = 0;
    while file.len() < bytes {
        Encoding::Utf8.push_row(&mut file, n);
        n += 1;
    }
    file.truncate(bytes);
    file
}

fn csv_rows(rows: u64, encoding: Encoding) -> Vec<u8> {
    let mut file = Vec::new();
    encoding.push_names(&mut file);
    for n in 0..rows {
        encoding.push_row(&mut file, n);
    }
    file
}

fn gzip() -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&csv(TEXT_BYTES))?;
    Ok(encoder.finish()?)
}

fn workbook(rows: u32) -> Result<Vec<u8>> {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, name) in ["id", "name", "email", "amount"].into_iter().enumerate() {
        sheet.write(0, column as u16, name)?;
    }
    for row in 1..=rows {
        sheet.write(row, 0, row)?;
        sheet.write(row, 1, format!("J\u{fc}rgen {row}"))?;
        sheet.write(row, 2, format!("person{row}@example.com"))?;
        sheet.write(row, 3, f64::from(row) / 8.0)?;
    }
    Ok(workbook.save_to_buffer()?)
}
