//! Files in every form, made by other programs and libraries; and hostile ones, refused in bounded memory.

#![allow(clippy::expect_used, reason = "a failed step fails the test")]

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use longshore_domain::records::CellKind;
use longshore_domain::records::Form;
use longshore_preparation::{Limits, PreparationError, Prepared, SheetChoice, convert};
use rust_xlsxwriter::{Formula, Workbook};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const CSV: &str = "id;Straße\r\n1;Größe\r\n";

fn converted(bytes: &[u8]) -> Result<(String, Prepared), PreparationError> {
    let (form, mut text) = (Form::detect(bytes).expect("a form"), Vec::new());
    let prepared = convert(form, Cursor::new(bytes), &SheetChoice::default(), &Limits::default(), &mut text)?;
    assert_eq!(prepared.bytes, text.len() as u64);
    Ok((String::from_utf8(text).expect("UTF-8"), prepared))
}

fn code(bytes: &[u8]) -> Option<&'static str> {
    converted(bytes).expect_err("refused").code()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("compressed")
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        writer.start_file(*name, options).expect("a file");
        writer.write_all(bytes).expect("its bytes");
    }
    writer.finish().expect("an archive").into_inner()
}

fn utf16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn compressed_text_is_unpacked() {
    let members = [gzip(&CSV.as_bytes()[..5]), gzip(&CSV.as_bytes()[5..])].concat();
    let frames = [zstd::encode_all(&CSV.as_bytes()[..7], 3), zstd::encode_all(&CSV.as_bytes()[7..], 19)];
    let frames = frames.map(|frame| frame.expect("a frame")).concat();
    for bytes in [gzip(CSV.as_bytes()), members, frames, zip(&[("a.csv", CSV.as_bytes())])] {
        assert_eq!(converted(&bytes).expect("converted").0, CSV);
    }
}

#[test]
fn compressed_utf16_becomes_utf8() {
    for bytes in [utf16(CSV), gzip(&utf16(CSV)), zip(&[("a.txt", &utf16(CSV))])] {
        assert_eq!(converted(&bytes).expect("converted").0, CSV);
    }
}

#[test]
fn an_archive_has_exactly_one_file() {
    let files: [(&str, &[u8]); 3] =
        [("__MACOSX/._a.csv", b"x"), ("data/.DS_Store", b"x"), ("data/a.csv", CSV.as_bytes())];
    let (text, prepared) = converted(&zip(&files)).expect("converted");
    assert_eq!((text.as_str(), prepared.file.as_deref()), (CSV, Some("data/a.csv")));
    let two = converted(&zip(&[("a.csv", b"a"), ("b.csv", b"b")])).expect_err("refused");
    assert_eq!(two.code(), Some("archive_not_one_file"));
    assert!(two.to_string().contains("2 files (\"a.csv\", \"b.csv\")"), "{two}");
    assert_eq!(code(&zip(&[])), Some("archive_not_one_file"));
}

#[test]
fn archives_in_archives_are_refused() {
    let inner = gzip(CSV.as_bytes());
    for bytes in [gzip(&inner), zip(&[("a.gz", &inner)]), zip(&[("a.zip", &zip(&[("a", b"a")]))])] {
        assert_eq!(code(&bytes), Some("archive_not_text"));
    }
}

#[test]
fn damaged_files_are_refused() {
    let (whole, frame) = (gzip(&[b'a'; 10_000]), zstd::encode_all(&[b'a'; 10_000][..], 3).expect("a frame"));
    assert_eq!(code(&whole[..whole.len() - 9]), Some("archive_damaged"));
    assert_eq!(code(&frame[..frame.len() - 3]), Some("archive_damaged"));
    let mut archive = zip(&[("a.csv", CSV.as_bytes())]);
    archive.truncate(archive.len() - 10);
    assert_eq!(code(&archive), Some("archive_damaged"));
    let mut wrong = whole;
    wrong[20] ^= 0xff;
    assert_eq!(code(&wrong), Some("archive_damaged"));
}

#[test]
fn bombs_are_refused() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let block = vec![0; 1 << 20];
    for _ in 0..256 {
        encoder.write_all(&block).expect("compressed");
    }
    assert_eq!(code(&encoder.finish().expect("compressed")), Some("archive_too_large"));
    let frame = zstd::encode_all(std::io::Read::take(std::io::repeat(b'\n'), 1 << 30), 3).expect("a frame");
    assert_eq!(code(&frame), Some("archive_too_large"));
}

#[test]
fn a_window_of_zstandard_that_needs_too_much_memory_is_refused() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 19).expect("an encoder");
    encoder.window_log(27).expect("a window");
    encoder.write_all(&[b'x'; 100]).expect("compressed");
    let frame = encoder.finish().expect("a frame");
    assert_eq!(code(&frame), Some("archive_too_large"));
}

#[test]
fn the_first_visible_sheet_becomes_csv() {
    let mut workbook = Workbook::new();
    workbook.add_worksheet().set_name("Notes").expect("a name").set_hidden(true);
    let sheet = workbook.add_worksheet().set_name("Data").expect("a name");
    // A writer shows the active sheet, whether it is hidden or not.
    sheet.set_active(true);
    sheet.write(1, 0, "id").expect("a cell");
    sheet.write(1, 1, "text, \"quoted\"").expect("a cell");
    sheet.write(4, 0, 1.5).expect("a cell");
    sheet.write_formula(4, 1, Formula::new("=NA()").set_result("#N/A")).expect("a cell");
    let (text, prepared) = converted(&workbook.save_to_buffer().expect("a workbook")).expect("converted");
    let (head, row) = text.split_once("\r\n").expect("two rows");
    assert_eq!(head, "\"id\",\"text, \"\"quoted\"\"\"");
    let error = "the cell shows #N/A; correct its formula or its value";
    let cells = [CellKind::Number.encode("1.5"), CellKind::Error(error).encode("#N/A")];
    assert_eq!(row, format!("\"{}\",\"{}\"\r\n", cells[0], cells[1]));
    assert_eq!((prepared.sheet.as_deref(), prepared.row_steps.as_bytes()), (Some("Data"), &[2, 3][..]));
}

#[test]
fn a_wide_row_below_the_first_ones_does_not_widen_the_others() {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    for row in 0..1_200 {
        sheet.write_row(row, 0, ["a", "b"]).expect("a row");
    }
    sheet.write(1_100, 2, "stray").expect("a cell");
    let (text, _) = converted(&workbook.save_to_buffer().expect("a workbook")).expect("converted");
    let commas: Vec<_> = text.lines().map(|line| line.matches(',').count()).collect();
    assert_eq!((commas[1_099], commas[1_100], commas[1_101]), (1, 2, 1));
}
