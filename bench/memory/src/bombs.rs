//! Files that unpack to far more than their size, or declare so.

use std::io::{Cursor, Write};

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const SHEET: &str = "xl/worksheets/sheet1.xml";
const STRINGS: &str = "xl/sharedStrings.xml";

/// The parts that every workbook has.
const PARTS: [(&str, &str); 4] = [
    ("[Content_Types].xml", "<Types/>"),
    (
        "_rels/.rels",
        "<Relationships><Relationship Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/\
         relationships/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>",
    ),
    (
        "xl/workbook.xml",
        "<workbook xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets>\
         <sheet name=\"a\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>",
    ),
    (
        "xl/_rels/workbook.xml.rels",
        "<Relationships><Relationship Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/\
         relationships/worksheet\" Target=\"worksheets/sheet1.xml\"/><Relationship Id=\"rId2\" \
         Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings\" \
         Target=\"sharedStrings.xml\"/></Relationships>",
    ),
];

/// Size of the blocks in which a repeated piece is written.
const BLOCK_BYTES: usize = 1 << 20;

/// Bytes that are repeated.
type Piece<'a> = (&'a [u8], usize);

/// Returns the files with their names.
pub(crate) fn files() -> Result<Vec<(&'static str, Vec<u8>)>> {
    let mut nested = zip("a.csv", &[(b"0,", 512 << 20)])?;
    for _ in 0..5 {
        nested = zip("a.zip", &[(&nested, 1)])?;
    }
    let long = [b"<si><t>", "x".repeat(32_000).as_bytes(), b"</t></si>"].concat();
    let empty_texts = b"<row><c r=\"NTP1\" t=\"str\"><f/></c></row>";
    let last_cell = b"<row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row>";
    Ok(vec![
        ("ZIP files in each other", nested),
        ("1 GB of one character in a ZIP", zip("a.csv", &[(b"0", 1_000_000_000)])?),
        ("a ZIP that declares 4 GB for 77 bytes", lying_size()?),
        ("1,000,000,000 blank rows of CSV with gzip", gzip(&[(b"\n", 1_000_000_000)])?),
        ("150,000,000 blank rows of a sheet, 1 GB", workbook(&[(b"<row/>", 150_000_000)], &[])?),
        ("1,000,000 rows of 150 cells without values", workbook(&[(&row_of_blanks(), 1_000_000)], &[])?),
        ("a cell at XFD1048576", workbook(&[(last_cell, 1)], &[])?),
        ("1 GB of shared strings", workbook(&[], &[(&long, 30_000)])?),
        ("40,000,000 short shared strings", workbook(&[], &[(b"<si><t>x</t></si>", 40_000_000)])?),
        (
            "1,000,000 cells of one shared string of 32 KB",
            workbook(&[(b"<row><c t=\"s\"><v>0</v></c></row>", 1_000_000)], &[(&long, 1)])?,
        ),
        ("7,800 rows of 10,000 empty texts", workbook(&[(empty_texts, 7_800)], &[])?),
        (
            "a cell of 250,000,000 elements",
            workbook(&[(b"<row><c>", 1), (b"<a/>", 250_000_000), (b"</c></row>", 1)], &[])?,
        ),
        ("long shared strings in changing columns", changing_columns()?),
    ])
}

/// Returns a workbook whose rows refer to one long shared string, each in other columns. Over all rows, each of 10,000
/// columns has it. The sheet is stored, so that it is not refused because of its compression.
fn changing_columns() -> Result<Vec<u8>> {
    const ROWS: usize = 330;
    const COLUMNS: usize = 10_000;
    /// Cells of a row, whose texts are just below the maximum size of a row.
    const CELLS: usize = 31;
    let mut rows = String::new();
    for row in 0..ROWS {
        rows.push_str("<row>");
        for cell in row * CELLS..(row + 1) * CELLS {
            let column = column_name(cell % COLUMNS);
            rows.push_str(&format!("<c r=\"{column}{}\" t=\"s\"><v>0</v></c>", row + 1));
        }
        rows.push_str("</row>");
    }
    let string: &[Piece<'_>] = &[(b"<si><t>", 1), (b"x", 130_000), (b"</t></si>", 1)];
    workbook_with_sheet(CompressionMethod::Stored, &[(rows.as_bytes(), 1)], string)
}

/// Returns the name of the column with this index: `A`, `B`, ..., `Z`, `AA`, ...
fn column_name(index: usize) -> String {
    let last = char::from(b'A' + (index % 26) as u8);
    match index / 26 {
        0 => last.to_string(),
        rest => format!("{}{last}", column_name(rest - 1)),
    }
}

fn row_of_blanks() -> Vec<u8> {
    [&b"<row>"[..], &b"<c/>".repeat(150), b"</row>"].concat()
}

/// Returns a workbook whose sheet declares the largest size, with these rows and shared strings.
fn workbook(rows: &[Piece<'_>], strings: &[Piece<'_>]) -> Result<Vec<u8>> {
    workbook_with_sheet(CompressionMethod::Deflated, rows, strings)
}

/// Returns the workbook, with its sheet compressed by this method.
fn workbook_with_sheet(method: CompressionMethod, rows: &[Piece<'_>], strings: &[Piece<'_>]) -> Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in PARTS {
        part(&mut archive, name, CompressionMethod::Deflated, &[(text.as_bytes(), 1)])?;
    }
    let sheet = &b"<worksheet><dimension ref=\"A1:XFD1048576\"/><sheetData>"[..];
    part(&mut archive, SHEET, method, &[&[(sheet, 1)], rows, &[(b"</sheetData></worksheet>", 1)]].concat())?;
    part(
        &mut archive,
        STRINGS,
        CompressionMethod::Deflated,
        &[&[(&b"<sst uniqueCount=\"4294967295\">"[..], 1)], strings, &[(b"</sst>", 1)]].concat(),
    )?;
    Ok(archive.finish()?.into_inner())
}

fn zip(name: &str, pieces: &[Piece<'_>]) -> Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    part(&mut archive, name, CompressionMethod::Deflated, pieces)?;
    Ok(archive.finish()?.into_inner())
}

/// Returns an archive whose sizes, in the header of its file and in the directory, are not those of the file.
fn lying_size() -> Result<Vec<u8>> {
    const SIZE: [u8; 4] = 77_u32.to_le_bytes();
    let mut archive = zip("a.csv", &[(b"1234567", 11)])?;
    let declared: Vec<usize> = (0..archive.len() - 4).filter(|at| archive[*at..at + 4] == SIZE).collect();
    for at in declared {
        archive[at..at + 4].copy_from_slice(&u32::MAX.wrapping_sub(1).to_le_bytes());
    }
    Ok(archive)
}

fn gzip(pieces: &[Piece<'_>]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    write(&mut encoder, pieces)?;
    Ok(encoder.finish()?)
}

fn part(
    archive: &mut ZipWriter<Cursor<Vec<u8>>>,
    name: &str,
    method: CompressionMethod,
    pieces: &[Piece<'_>],
) -> Result<()> {
    let options = SimpleFileOptions::default().compression_method(method).large_file(true);
    archive.start_file(name, options)?;
    write(archive, pieces)
}

fn write(target: &mut impl Write, pieces: &[Piece<'_>]) -> Result<()> {
    for (piece, times) in pieces {
        let in_block = BLOCK_BYTES / piece.len() + 1;
        let block = piece.repeat(in_block.min(*times));
        for _ in 0..times / in_block {
            target.write_all(&block)?;
        }
        target.write_all(&piece.repeat(times % in_block))?;
    }
    Ok(())
}
