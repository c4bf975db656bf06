//! The files that are measured.

use std::io::Write;

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use rust_xlsxwriter::Workbook;

/// Bytes of the file that is compressed, and of the one that is inspected.
pub(crate) const TEXT_BYTES: usize = 100_000_000;

/// Returns rows of at least this size.
pub(crate) fn csv(bytes: usize) -> Vec<u8> {
    let mut file = csv_rows(bytes as u64 / 80, false);
    file.truncate(file.len().max(bytes));
    file
}

pub(crate) fn csv_rows(rows: u64, is_windows: bool) -> Vec<u8> {
    let delimiter = if is_windows { ';' } else { ',' };
    let mut file = Vec::new();
    let mut push = |text: String| match is_windows {
        true => file.extend(text.chars().map(|c| c as u8)),
        false => file.extend_from_slice(text.as_bytes()),
    };
    let d = delimiter;
    push(format!("id{d}name{d}email{d}street{d}city{d}amount\n"));
    for n in 0..rows {
        push(format!(
            "{n}{d}J\u{fc}rgen M\u{fc}ller {n}{d}person{n}@example.com{d}Stra\u{df}e der Freiheit {n}{d}K\u{f6}ln{d}{n}.5\n"
        ));
    }
    file
}

pub(crate) fn gzip() -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&csv(TEXT_BYTES))?;
    Ok(encoder.finish()?)
}

pub(crate) fn workbook(rows: u32) -> Result<Vec<u8>> {
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
