//! Malformed workbooks, and ZIP bombs: each is refused, in bounded memory.

use std::fs;
use std::io::{Cursor, Write};
use std::ops::ControlFlow;

use longshore_workbooks::{CellError, Limits, Row, SheetChoice, Workbook, WorkbookError};
use rust_xlsxwriter::Workbook as Writer;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

const SHEET: &str = "xl/worksheets/sheet1.xml";
const STRINGS: &str = "xl/sharedStrings.xml";
const STYLES: &str = "xl/styles.xml";
const WORKBOOK: &str = "xl/workbook.xml";
const SHEET_START: &str = "<worksheet><sheetData>";
const SHEET_END: &str = "</sheetData></worksheet>";

/// Size of the blocks in which a repeated piece is written.
const BLOCK_BYTES: usize = 64 << 10;

/// Maximum memory of this process. The largest workbooks within the limits take 64 MiB for their strings.
const MEMORY_KIB: u64 = 160 << 10;

fn plain() -> Vec<u8> {
    let mut writer = Writer::new();
    let _ = writer.add_worksheet().write(0, 0, "a");
    writer.save_to_buffer().unwrap_or_default()
}

/// Returns a workbook in which a part is replaced by these pieces, each repeated.
fn with_part(name: &str, pieces: &[(&str, usize)]) -> Vec<u8> {
    let build = || -> zip::result::ZipResult<Vec<u8>> {
        let mut source = ZipArchive::new(Cursor::new(plain()))?;
        let mut target = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
        for index in 0..source.len() {
            let entry = source.by_index_raw(index)?;
            if entry.name_raw() != name.as_bytes() {
                target.raw_copy_file(entry)?;
            }
        }
        target.start_file(name, options)?;
        for (piece, times) in pieces {
            let in_block = BLOCK_BYTES / piece.len().max(1) + 1;
            let block = piece.repeat(in_block);
            for _ in 0..times / in_block {
                target.write_all(block.as_bytes())?;
            }
            target.write_all(piece.repeat(times % in_block).as_bytes())?;
        }
        Ok(target.finish()?.into_inner())
    };
    build().unwrap_or_else(|error| panic!("the archive is not written: {error}"))
}

fn rows(bytes: Vec<u8>) -> Result<Vec<Row>, WorkbookError> {
    let mut workbook = Workbook::open(Cursor::new(bytes), Limits::default())?;
    let mut rows = Vec::new();
    let keep = |row: &Row| {
        if rows.len() < 10 {
            rows.push(row.clone());
        }
        ControlFlow::Continue(())
    };
    workbook.for_each_row(&SheetChoice::FirstVisible, 10_000, keep)?;
    Ok(rows)
}

fn read(name: &str, pieces: &[(&str, usize)]) -> Result<usize, WorkbookError> {
    rows(with_part(name, pieces)).map(|rows| rows.len())
}

fn sheet(pieces: &[(&str, usize)]) -> Result<usize, WorkbookError> {
    read(SHEET, &[&[(SHEET_START, 1)], pieces, &[(SHEET_END, 1)]].concat())
}

fn is_damaged(read: Result<usize, WorkbookError>) -> bool {
    matches!(read, Err(WorkbookError::Damaged(_)))
}

/// One test, because it measures the memory of the whole process.
#[test]
fn hostile_workbooks_are_refused_in_bounded_memory() {
    let mib = 1 << 20;
    // Events without an end.
    for start in ["", "<row x=\"", "<a ", "<?x ", "<!-- ", "<!-->", "<![CDATA[", "<!DOCTYPE a SYSTEM \">"] {
        let filler = if start.is_empty() { "xxx" } else { "<a " };
        let refused = sheet(&[(start, 1), (filler, 40 * mib)]);
        assert!(refused == Err(WorkbookError::TextTooLong) || is_damaged(refused.clone()), "{start:?}: {refused:?}");
    }
    // Texts of many events.
    for start in ["<row><c t=\"str\"><v>", "<row><c t=\"inlineStr\"><is><t>"] {
        assert_eq!(sheet(&[(start, 1), ("<x/>xxx", 20 * mib)]), Err(WorkbookError::TextTooLong), "{start}");
    }
    assert_eq!(sheet(&[("<row><c><is>", 1), ("<r/><t>xxxx</t>", 10 * mib)]), Err(WorkbookError::TextTooLong));
    assert_eq!(read(STRINGS, &[("<sst><si>", 1), ("<t>xxxx</t>", 10 * mib)]), Err(WorkbookError::TextTooLong));
    // Formulas are not kept.
    assert!(is_damaged(sheet(&[("<row><c><f>", 1), ("xxxx<y/>", 10 * mib)])));
    // Declared numbers.
    for count in ["99999999999999", "0000000000000000000000000000000000000000000000000000000009999999999"] {
        let start = format!("<sst uniqueCount=\"{count}\"><si><t>a</t></si></sst>");
        assert_eq!(read(STRINGS, &[(&start, 1)]), Ok(1));
    }
    let dimension = "<worksheet><dimension ref=\"A1:XFD1048576\"/><sheetData>";
    assert_eq!(read(SHEET, &[(dimension, 1), (SHEET_END, 1)]), Ok(0));
    let shared = "<row><c><f t=\"shared\" ref=\"A1:B1\" si=\"9999999999\">1</f><v>1</v></c></row>";
    assert_eq!(sheet(&[(shared, 1)]), Ok(1));
    // Many strings, and many texts.
    let many = read(STRINGS, &[("<sst>", 1), ("<si><t/></si>", 4_000_001), ("</sst>", 1)]);
    assert_eq!(many, Err(WorkbookError::TooManyStrings(4_000_000)));
    let text = format!("<si><t>{}</t></si>", "x".repeat(30_000));
    assert_eq!(read(STRINGS, &[("<sst>", 1), (&text, 3_000), ("</sst>", 1)]), Err(WorkbookError::TooLarge(64 << 20)));
    // Many formats, sheets, relationships; and long ones.
    let formats = [("<styleSheet><cellXfs>", 1), ("<xf/>", 65_537)];
    assert_eq!(read(STYLES, &formats), Err(WorkbookError::TooMany("cell formats")));
    let code = format!(
        "<styleSheet><numFmts><numFmt numFmtId=\"200\" formatCode=\"{}\"/></numFmts><cellXfs>",
        "[h".repeat(100_000)
    );
    assert_eq!(read(STYLES, &[(&code, 1), ("<xf numFmtId=\"200\"/>", 60_000), ("</cellXfs></styleSheet>", 1)]), Ok(1));
    assert_eq!(read(STYLES, &[("<font/>", 9 << 18)]), Err(WorkbookError::TooLarge(8 << 20)));
    let sheets = [("<workbook>", 1), ("<sheet name=\"a\" id=\"rId1\"/>", 10_001)];
    assert_eq!(read(WORKBOOK, &sheets), Err(WorkbookError::TooMany("sheets")));
    assert!(is_damaged(read(WORKBOOK, &[("<workbook>", 1), ("<a>", mib)])));
    // Rows and cells.
    assert!(is_damaged(sheet(&[("<row/>", 20 * mib)])));
    assert!(is_damaged(sheet(&[("<x/>", 20 * mib)])));
    assert!(is_damaged(sheet(&[("<row><c>", 1), ("<a/>", 12 * mib), ("</c></row>", 1)])));
    assert_eq!(sheet(&[("<row><c t=\"inlineStr\"><is>", 1), ("<r/>", 2 * mib)]), Err(WorkbookError::TextTooLong));
    assert!(is_damaged(read(STRINGS, &[("<sst>", 1), ("<x/>", 40 * mib)])));
    // Memory that is reused for the next row.
    assert_eq!(sheet(&[("<row><c r=\"NTP1\" t=\"str\"><f/></c></row>", 4_000)]), Ok(10));
    let far = "<row r=\"1\"><c r=\"XFD1\"><v>1</v></c></row><row r=\"1048576\"><c r=\"A1048576\"><v>1</v></c></row>";
    assert_eq!(sheet(&[(far, 1)]), Ok(2));
    let amplified = [("<sst><si><t>", 1), ("x", 130_000), ("</t></si></sst>", 1)];
    let references = with_part(STRINGS, &amplified);
    assert_eq!(rows(references).map(|rows| rows.len()), Ok(1));
    let long_row = format!("<c t=\"inlineStr\"><is><t>{}</t></is></c>", "x".repeat(100_000));
    assert_eq!(sheet(&[("<row>", 1), (&long_row, 60), ("</row>", 1)]), Err(WorkbookError::RowTooLarge(1)));
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < MEMORY_KIB, "the process took {peak} KiB");
}

#[test]
fn the_fixture_replaces_a_part() {
    assert_eq!(sheet(&[("<row r=\"1\"><c r=\"A1\"><v>1</v></c></row>", 1)]), Ok(1));
}

#[test]
fn an_archive_has_a_limited_number_of_parts() {
    let limits = Limits { parts: 3, ..Limits::default() };
    assert_eq!(Workbook::open(Cursor::new(plain()), limits).err(), Some(WorkbookError::TooManyParts(3)));
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    for n in 0..30_000 {
        writer.start_file(format!("{n:0>30}"), options).unwrap();
    }
    let bytes = writer.finish().unwrap().into_inner();
    let refused = Workbook::open(Cursor::new(bytes), Limits::default()).err().unwrap();
    assert_eq!(refused, WorkbookError::TooManyParts(2_000));
}

#[test]
fn rows_in_another_order_and_cells_outside_of_the_sheet_are_refused() {
    for rows in [
        "<row r=\"2\"/><row r=\"1\"/>",
        "<row r=\"1\"/><row r=\"1\"/>",
        "<row r=\"0\"/>",
        "<row r=\"1048577\"/>",
        "<row r=\"99999999999\"/>",
        "<row r=\"x\"/>",
        "<row><c r=\"XFE1\"><v>1</v></c></row>",
        "<row><c r=\"1\"><v>1</v></c></row>",
        "<c r=\"A1\"><v>1</v></c>",
        "<row><c><v>1</v></c></row><c><v>1</v></c>",
        "<row><c><v>1</v></c><row/></row>",
        "<row><c t=\"s\"><v>7</v></c></row>",
        "<row><c><v>1</v>",
    ] {
        assert!(is_damaged(sheet(&[(rows, 1)])), "{rows}");
    }
}

/// openpyxl writes formulas without values.
#[test]
fn a_formula_without_a_value_is_an_error() {
    let row = "<row r=\"1\"><c r=\"A1\"><f>1+1</f></c><c r=\"B1\"><f>1+1</f><v></v></c>\
        <c r=\"C1\"><f t=\"shared\" ref=\"C1:D1\" si=\"0\">1+1</f></c><c r=\"D1\"><f t=\"shared\" si=\"0\"/></c></row>";
    let found = rows(with_part(SHEET, &[(SHEET_START, 1), (row, 1), (SHEET_END, 1)])).unwrap();
    assert_eq!(found[0].cells, vec![Err(CellError::FormulaWithoutResult); 4]);
}

/// Both forms of an element without content are the same, whichever a program writes.
#[test]
fn an_empty_element_is_one_without_content() {
    let empty = "<row/><row><c/><c><v>1</v></c><c r=\"D2\"/><c><v>2</v><v/></c><c t=\"inlineStr\"><is/></c><c><f/></c></row>\
        <row><c t=\"inlineStr\"><is><t>a</t><t/><r/></is></c></row><row r=\"9\"/><row><c><v>3</v></c></row>";
    let mut full = empty.to_owned();
    for name in ["row", "c", "v", "is", "f", "t", "r"] {
        full = full.replace(&format!("<{name}/>"), &format!("<{name}></{name}>"));
    }
    full = full.replace("<c r=\"D2\"/>", "<c r=\"D2\"></c>").replace("<row r=\"9\"/>", "<row r=\"9\"></row>");
    let read = |sheet: &str| rows(with_part(SHEET, &[(SHEET_START, 1), (sheet, 1), (SHEET_END, 1)])).unwrap();
    let found = read(empty);
    assert_eq!(found, read(&full));
    let texts = found.iter().map(|row| (row.number, row.cells.iter().map(|cell| cell.as_deref()).collect::<Vec<_>>()));
    let formula = Err(&CellError::FormulaWithoutResult);
    let expected =
        [(2, vec![Ok(""), Ok("1"), Ok(""), Ok(""), Ok(""), Ok(""), formula]), (3, vec![Ok("a")]), (10, vec![Ok("3")])];
    assert_eq!(texts.collect::<Vec<_>>(), expected);
    assert_eq!(rows(with_part(SHEET, &[("<worksheet><sheetData/></worksheet>", 1)])), Ok(vec![]));
}

/// What follows the cells is not needed, so it makes no workbook unreadable.
#[test]
fn the_rest_of_a_sheet_can_be_damaged_or_long() {
    for rest in ["", "</sheetData><mergeCells><mergeCell ref=\"A1:B1\"", "</sheetData><<", "</sheetData>\u{1}&x;"] {
        let parts = [("<worksheet><sheetData><row><c><v>1</v></c></row>", 1), (rest, 1)];
        let found = rows(with_part(SHEET, &parts)).map(|rows| rows.len());
        assert_eq!(found.is_ok(), !rest.is_empty(), "{rest}");
    }
    let merged =
        [("<worksheet><sheetData><row><c><v>1</v></c></row></sheetData><mergeCells>", 1), ("<mergeCell/>", 9_000_000)];
    assert_eq!(rows(with_part(SHEET, &merged)).map(|rows| rows.len()), Ok(1));
}

/// A code that only some programs write must not make the workbook unreadable.
#[test]
fn any_error_code_is_an_error_of_its_cell() {
    let row = "<row><c t=\"e\"><v>#GETTING_DATA</v></c><c t=\"e\"><v>Err:522</v></c></row>";
    let found = rows(with_part(SHEET, &[(SHEET_START, 1), (row, 1), (SHEET_END, 1)])).unwrap();
    let error = |code: &str| Err(CellError::Formula(code.to_owned()));
    assert_eq!(found[0].cells, [error("#GETTING_DATA"), error("Err:522")]);
}

#[test]
fn files_that_are_no_workbooks_are_refused() {
    let open = |bytes: &[u8]| Workbook::open(Cursor::new(bytes.to_vec()), Limits::default()).err();
    for (bytes, code) in [
        (&b""[..], "workbook_invalid"),
        (b"PK", "workbook_invalid"),
        (b"name\nAnn\n", "workbook_invalid"),
        (b"PK\x03\x04", "workbook_damaged"),
        (&plain()[..1_000], "workbook_damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "workbook_old_format"),
    ] {
        assert_eq!(open(bytes).and_then(|error| error.code()), Some(code), "{:?}", bytes.get(..20));
    }
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let encrypted = [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", &[0; 600][..], &name].concat();
    assert_eq!(open(&encrypted), Some(WorkbookError::Password));
    let mut other = ZipWriter::new(Cursor::new(Vec::new()));
    other.start_file("people.csv", SimpleFileOptions::default()).unwrap();
    assert_eq!(open(&other.finish().unwrap().into_inner()), Some(WorkbookError::NotAWorkbook));
}

/// Bytes of a workbook, changed: it is read or refused, and no byte causes a panic.
#[test]
fn a_changed_byte_is_no_panic() {
    let plain = plain();
    for at in (0..plain.len()).step_by(5) {
        let mut bytes = plain.clone();
        bytes[at] ^= 0x81;
        // The result depends on the byte.
        let _ = rows(bytes);
    }
}
