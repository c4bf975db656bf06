//! Rows of workbooks that rust_xlsxwriter has written.

use std::io::{Cursor, Write};
use std::ops::ControlFlow;

use longshore_workbooks::{CellContent, CellError, Limits, Row, SheetChoice, Workbook, WorkbookError};
use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook as Writer};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn open(bytes: Vec<u8>) -> Workbook<Cursor<Vec<u8>>> {
    Workbook::open(Cursor::new(bytes), Limits::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn rows(workbook: &mut Workbook<Cursor<Vec<u8>>>, max_columns: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let keep = |row: &Row| {
        rows.push(row.clone());
        ControlFlow::Continue(())
    };
    let read = workbook.for_each_row(&SheetChoice::FirstVisible, max_columns, keep);
    read.unwrap_or_else(|error| panic!("{error}"));
    rows
}

fn texts(row: &Row) -> Vec<&str> {
    row.cells.iter().map(|cell| cell.as_deref().unwrap_or("error")).collect()
}

#[test]
fn files_of_other_programs_are_named() {
    let refusal = |parts: &[(&str, &str)]| {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in parts {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap_or_else(|error| panic!("{error}"));
            writer.write_all(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        }
        let bytes = writer.finish().unwrap_or_else(|error| panic!("{error}")).into_inner();
        Workbook::open(Cursor::new(bytes), Limits::default()).err().map(|error| error.to_string())
    };
    let roots = |target: &str| {
        format!("<Relationships><Relationship Id=\"r\" Type=\"x/officeDocument\" Target=\"{target}\"/></Relationships>")
    };
    for (name, content, expected) in [
        ("word/document.xml", "<document/>", "a document of another program of Office"),
        ("xl/workbook.bin", "", "a binary workbook (.xlsb)"),
    ] {
        let message = refusal(&[("_rels/.rels", &roots(name)), (name, content)]).unwrap_or_default();
        assert!(message.contains(expected), "{name}: {message}");
    }
    let message = refusal(&[("mimetype", "application/vnd.oasis.opendocument.spreadsheet")]).unwrap_or_default();
    assert!(message.contains("OpenDocument"), "{message}");
}

#[test]
fn cells_have_the_text_of_their_values() {
    let mut writer = Writer::new();
    let sheet = writer.add_worksheet();
    let date = Format::new().set_num_format("dd.mm.yyyy");
    let time = Format::new().set_num_format("hh:mm:ss");
    let both = Format::new().set_num_format("m/d/yyyy h:mm");
    let hours = Format::new().set_num_format("[h]:mm:ss");
    sheet.write(0, 0, "ä & <b>").unwrap();
    sheet.write(0, 1, "007").unwrap();
    for (column, number) in (2..).zip([42.0, 0.1, 1e21, -0.0, 1_234_567_890_123_456.0, 1e-7]) {
        sheet.write(0, column, number).unwrap();
    }
    sheet.write(1, 0, true).unwrap();
    sheet.write_with_format(1, 1, ExcelDateTime::from_ymd(2024, 2, 29).unwrap(), &date).unwrap();
    sheet.write_with_format(1, 2, ExcelDateTime::from_hms(18, 30, 0).unwrap(), &time).unwrap();
    let moment = ExcelDateTime::from_ymd(2024, 2, 1).unwrap().and_hms(18, 30, 15.25).unwrap();
    sheet.write_with_format(1, 3, moment, &both).unwrap();
    for (column, serial) in (4..).zip([1.5, 26.25, -0.5]) {
        sheet.write_with_format(1, column, serial, &hours).unwrap();
    }
    let mut workbook = open(writer.save_to_buffer().unwrap());
    let rows = rows(&mut workbook, 100);
    assert_eq!(
        texts(&rows[0]),
        ["ä & <b>", "007", "42", "0.1", "1000000000000000000000", "0", "1234567890123456", "0.0000001"]
    );
    assert_eq!(
        texts(&rows[1]),
        ["true", "2024-02-29", "18:30:00", "2024-02-01T18:30:15.250", "36:00:00", "630:00:00", "-12:00:00"]
    );
}

#[test]
fn dates_that_do_not_exist_are_errors() {
    let mut writer = Writer::new();
    let date = Format::new().set_num_format("yyyy-mm-dd");
    let sheet = writer.add_worksheet();
    for (row, serial) in (0..).zip([0.5, 1.0, 59.0, 60.0, 60.5, 61.0, -1.0, 2_958_465.0, 2_958_466.0]) {
        sheet.write_with_format(row, 0, serial, &date).unwrap();
    }
    let mut workbook = open(writer.save_to_buffer().unwrap());
    let rows = rows(&mut workbook, 1);
    let cells: Vec<_> = rows.iter().map(|row| texts(row)[0]).collect();
    let expected =
        ["12:00:00", "1900-01-01", "1900-02-28", "error", "error", "1900-03-01", "error", "9999-12-31", "error"];
    assert_eq!(cells, expected);
    assert_eq!(rows[3].cells[0], Err(CellError::NoSuchDate));
}

#[test]
fn a_formula_has_its_stored_value() {
    let mut writer = Writer::new();
    let sheet = writer.add_worksheet();
    sheet.write(0, 0, Formula::new("=1+1").set_result("2")).unwrap();
    sheet.write(0, 1, Formula::new("=NA()").set_result("#N/A")).unwrap();
    sheet.write(0, 2, Formula::new("=\"x\"").set_result("x")).unwrap();
    let mut workbook = open(writer.save_to_buffer().unwrap());
    let cells = &rows(&mut workbook, 10)[0].cells;
    assert_eq!(cells[0], Ok(CellContent::Number("2".into())));
    assert_eq!(cells[1], Err(CellError::Formula("#N/A".into())));
    assert_eq!(cells[2], Ok(CellContent::Text("x".into())));
}

#[test]
fn the_zero_of_a_formula_that_is_computed_on_load_is_no_result() {
    let mut writer = Writer::new();
    let sheet = writer.add_worksheet();
    sheet.write(0, 0, Formula::new("=1+1")).unwrap();
    sheet.write(0, 1, 0).unwrap();
    let mut workbook = open(writer.save_to_buffer().unwrap());
    let zero = CellContent::Number("0".into());
    assert_eq!(rows(&mut workbook, 10)[0].cells, [Err(CellError::FormulaWithoutResult), Ok(zero)]);
}

#[test]
fn blank_rows_are_left_out_and_numbers_are_those_of_the_sheet() {
    let mut writer = Writer::new();
    let sheet = writer.add_worksheet();
    sheet.write(2, 1, "b").unwrap();
    sheet.write_blank(4, 0, &Format::new().set_bold()).unwrap();
    sheet.write(9, 0, "a").unwrap();
    sheet.write(9, 16_383, "far").unwrap();
    let mut workbook = open(writer.save_to_buffer().unwrap());
    let rows = rows(&mut workbook, 3);
    assert_eq!(rows.iter().map(|row| row.number).collect::<Vec<_>>(), [3, 10]);
    assert_eq!((texts(&rows[0]), texts(&rows[1])), (vec!["", "b"], vec!["a"]));
    assert_eq!((rows[0].is_truncated, rows[1].is_truncated), (false, true));
}

#[test]
fn a_reader_stops_when_it_has_enough() {
    let mut writer = Writer::new();
    let sheet = writer.add_worksheet();
    (0..100).for_each(|row| _ = sheet.write(row, 0, row).unwrap());
    let mut workbook = open(writer.save_to_buffer().unwrap());
    let mut seen = 0;
    let count = |_: &Row| {
        seen += 1;
        if seen < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    workbook.for_each_row(&SheetChoice::FirstVisible, 1, count).unwrap();
    assert_eq!(seen, 5);
}

#[test]
fn a_sheet_is_chosen_by_name_or_number_or_is_the_first_visible_one() {
    let mut writer = Writer::new();
    writer.add_worksheet().set_name("hidden").unwrap().set_hidden(true);
    writer.add_worksheet().set_name("Länder").unwrap().set_active(true);
    writer.add_worksheet().set_name("3").unwrap();
    let workbook = open(writer.save_to_buffer().unwrap());
    let sheets: Vec<_> = workbook.sheets().iter().map(|sheet| (sheet.name.as_str(), sheet.is_visible)).collect();
    assert_eq!(sheets, [("hidden", false), ("Länder", true), ("3", true)]);
    let choose = |choice| workbook.sheet(&choice).map(|sheet| sheet.name.as_str()).map_err(|error| error.to_string());
    assert_eq!(choose(SheetChoice::FirstVisible), Ok("Länder"));
    assert_eq!(choose(SheetChoice::Name("3".into())), Ok("3"));
    assert_eq!(choose(SheetChoice::Name("LÄNDER".into())), Ok("Länder"));
    assert_eq!(choose(SheetChoice::Number(1)), Ok("hidden"));
    let missing = |chosen: &str| {
        Err(format!("The workbook has no sheet {chosen}. Its sheets are \"hidden\", \"Länder\", \"3\"."))
    };
    assert_eq!(choose(SheetChoice::Name("Land".into())), missing("\"Land\""));
    assert_eq!(choose(SheetChoice::Number(0)), missing("0"));
    assert_eq!(choose(SheetChoice::Number(4)), missing("4"));
}

#[test]
fn a_sheet_has_a_limited_number_of_cells() {
    let mut writer = Writer::new();
    let sheet = writer.add_worksheet();
    (0..5).for_each(|row| _ = sheet.write(row, 0, row).unwrap());
    let bold = Format::new().set_bold();
    (0..3).for_each(|row| _ = sheet.write_blank(row, 1, &bold).unwrap());
    let bytes = writer.save_to_buffer().unwrap();
    let read = |limits| {
        let mut workbook = Workbook::open(Cursor::new(bytes.clone()), limits).unwrap();
        workbook.for_each_row(&SheetChoice::FirstVisible, 1, |_| ControlFlow::Continue(()))
    };
    let limits = Limits { cells: 8, blank_cells: 3, ..Limits::default() };
    assert_eq!(read(limits), Ok(0));
    assert_eq!(read(Limits { cells: 7, ..limits }), Err(WorkbookError::TooManyCells(7)));
    assert_eq!(read(Limits { blank_cells: 2, ..limits }), Err(WorkbookError::TooMany("cells without a value")));
}

#[test]
fn hidden_rows_are_read_and_marked() {
    let mut writer = Writer::new();
    let sheet = writer.add_worksheet();
    sheet.write(0, 0, "shown").unwrap();
    sheet.write(1, 0, "hidden").unwrap();
    sheet.set_row_hidden(1).unwrap();
    let mut workbook = open(writer.save_to_buffer().unwrap());
    let rows = rows(&mut workbook, 1);
    assert_eq!(rows.iter().map(|row| row.is_hidden).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn merged_ranges_are_counted_and_the_first_cell_has_the_value() {
    let mut writer = Writer::new();
    let sheet = writer.add_worksheet();
    for first in [0, 5] {
        sheet.merge_range(first, 0, first + 1, 1, "merged", &Format::new()).unwrap();
    }
    sheet.write(9, 0, "last").unwrap();
    let mut workbook = open(writer.save_to_buffer().unwrap());
    let mut rows = Vec::new();
    let mut read = |most: usize| {
        rows.clear();
        let keep = |row: &Row| {
            rows.push(texts(row).join("|"));
            if rows.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        (workbook.for_each_row(&SheetChoice::FirstVisible, 2, keep), rows.clone())
    };
    assert_eq!(read(10), (Ok(2), vec!["merged".to_owned(), "merged".to_owned(), "last".to_owned()]));
    assert_eq!(read(1), (Ok(0), vec!["merged".to_owned()]));
}

/// calamine is another reader of the format.
#[test]
fn cells_are_those_that_calamine_reads() {
    use calamine::{Data, Reader, Xlsx};

    let mut writer = Writer::new();
    let sheet = writer.add_worksheet();
    let date = Format::new().set_num_format("dd.mm.yyyy hh:mm");
    for row in 0..500_u32 {
        let number = f64::from(row) * 1.37 - 100.0;
        sheet.write(row, 0, format!("text {} \u{e4} <&> \"{}\"", row % 7, row)).unwrap();
        sheet.write(row, 1, number).unwrap();
        sheet.write(row, 2, row % 2 == 0).unwrap();
        sheet.write_with_format(row, 3, 40_000.0 + f64::from(row) / 3.0, &date).unwrap();
        sheet.write(row, 5 + (row % 3) as u16, row).unwrap();
    }
    let bytes = writer.save_to_buffer().unwrap();
    let mut other: Xlsx<_> = Xlsx::new(Cursor::new(bytes.clone())).unwrap();
    let other = other.worksheet_range("Sheet1").unwrap();
    let ours = rows(&mut open(bytes), 100);
    assert_eq!(ours.len(), 500);
    for (row, others) in ours.iter().zip(other.rows()) {
        for (column, value) in others.iter().enumerate() {
            let expected = match value {
                Data::Empty => String::new(),
                Data::DateTime(time) => {
                    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
                    let day = format!("{year}-{month:02}-{day:02}");
                    if (hour, minute, second) == (0, 0, 0) {
                        day
                    } else {
                        format!("{day}T{hour:02}:{minute:02}:{second:02}")
                    }
                }
                value => value.to_string(),
            };
            assert_eq!(
                row.cells
                    .get(column)
                    .cloned()
                    .unwrap_or_else(|| Ok(CellContent::default()))
                    .map(CellContent::into_text),
                Ok(expected),
                "{} {column}",
                row.number
            );
        }
    }
}
