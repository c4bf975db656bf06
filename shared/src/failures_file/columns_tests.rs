//! The layout of failures files, as spreadsheets save them.

use super::*;

fn named(names: &[&str]) -> Columns {
    Columns::Named(names.iter().map(|name| (*name).to_owned()).collect())
}

fn find(file: &str, columns: &Columns) -> Result<ColumnLayout, String> {
    ColumnLayout::find(file.as_bytes(), Extent::Whole, columns).map_err(|error| error.to_string())
}

#[test]
fn columns_are_found_by_name_in_any_order() {
    for (file, delimiter, number, own) in [
        ("row,id,name,code,field,message\r\n", Delimiter::Comma, 0, [1, 2]),
        ("\u{feff}row;id;name;code;field;message\r\n", Delimiter::Semicolon, 0, [1, 2]),
        ("row\tid\tname\n", Delimiter::Tab, 0, [1, 2]),
        ("message,name,,id,row,,\n", Delimiter::Comma, 4, [3, 1]),
        ("\"row\";\" id \"; name\r", Delimiter::Semicolon, 0, [1, 2]),
        ("name;row;id", Delimiter::Semicolon, 1, [2, 0]),
    ] {
        let layout = find(file, &named(&["id", "name"])).unwrap();
        assert_eq!(
            (layout.dialect.delimiter, layout.number, &layout.own[..]),
            (delimiter, number, &own[..]),
            "{file:?}"
        );
        assert_eq!(layout.rows_from, file.len());
    }
}

#[test]
fn names_are_recognized_as_a_report_writes_them() {
    let columns = named(&["row", "=a;b", "'=x", "code"]);
    let layout = find("row_2,row,'=a;b,''=x,code,code_2,field,message\r\n1,,,,,,,\r\n", &columns).unwrap();
    assert_eq!((layout.number, &layout.own[..]), (0, &[1, 2, 3, 4][..]));
    let raw = find("row;item;code\n", &Columns::Raw).unwrap();
    assert_eq!((raw.number, raw.own), (0, vec![1]));
}

#[test]
fn the_error_names_the_missing_columns_and_a_solution() {
    let columns = named(&["id", "name"]);
    for (file, expected) in [
        ("", "The file is empty"),
        ("id,name\n1,Ann\n", "no column \"row\"; download"),
        ("row;id\n1;2\n", "no column \"name\"; download"),
        ("row\n1\n", "no column \"id\", \"name\"; download"),
        ("row,id,name,id\n", "two columns are called \"id\""),
        ("row,id,name,row\n", "two columns are called \"row\""),
        ("row,id,\"name\n1,2,3\n", "check it for a quote that is not closed"),
        ("%PDF-1.7\n", "PDF document"),
        ("r\0o\0w\0,\0i\0d\0", "UTF-16"),
    ] {
        let error = find(file, &columns).unwrap_err();
        assert!(error.contains(expected), "{file:?}: {error}");
    }
}

#[test]
fn the_first_line_can_be_in_an_encoding_of_windows() {
    let columns = named(&["id", "Gr\u{f6}\u{df}e"]);
    let latin = b"row;id;Gr\xf6\xdfe\n1;2;3\n";
    let layout = ColumnLayout::find(latin, Extent::Whole, &columns).unwrap();
    assert_eq!((layout.encoding.name(), &layout.own[..]), ("windows-1252", &[1, 2][..]));
    let unassigned = b"row;id;Gr\x81\x8d\xdfe\n1;2;3\n";
    let error = ColumnLayout::find(unassigned, Extent::Whole, &columns).unwrap_err().to_string();
    assert!(error.contains("save the file as CSV UTF-8"), "{error}");
}

#[test]
fn a_first_line_must_end_within_the_first_bytes() {
    let columns = named(&["id", "name"]);
    for (header, taken) in [("row,id,name", false), ("row,id,name\n", false), ("row,id,name\n1", true)] {
        assert_eq!(ColumnLayout::find(header.as_bytes(), Extent::Start, &columns).is_ok(), taken, "{header:?}");
    }
}
