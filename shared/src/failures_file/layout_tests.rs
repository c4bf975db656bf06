//! First lines as spreadsheets write them, and lines that do not belong to a failures file.

use super::*;

fn named(names: &[&str]) -> Columns {
    Columns::Named(names.iter().map(|name| (*name).to_owned()).collect())
}

fn find(file: &str, columns: &Columns) -> Result<Layout, String> {
    Layout::find(file.as_bytes(), true, columns).map_err(|error| error.to_string())
}

#[test]
fn columns_are_found_by_name_wherever_a_spreadsheet_puts_them() {
    for (file, delimiter, number, own) in [
        ("row,id,name,code,field,message\r\n", b',', 0, [1, 2]),
        ("\u{feff}row;id;name;code;field;message\r\n", b';', 0, [1, 2]),
        ("row\tid\tname\n", b'\t', 0, [1, 2]),
        ("message,name,,id,row,,\n", b',', 4, [3, 1]),
        ("\"row\";\" id \"; name\r", b';', 0, [1, 2]),
        ("name;row;id", b';', 1, [2, 0]),
    ] {
        let layout = find(file, &named(&["id", "name"])).unwrap();
        assert_eq!((layout.delimiter, layout.number, &layout.own[..]), (delimiter, number, &own[..]), "{file:?}");
        assert_eq!(layout.rows_from, file.len());
    }
}

#[test]
fn names_of_the_job_are_known_as_a_report_shows_them() {
    let columns = named(&["row", "=a;b", "'=x", "code"]);
    let layout = find("row_2,row,'=a;b,''=x,code,code_2,field,message\r\n1,,,,,,,\r\n", &columns).unwrap();
    assert_eq!((layout.number, &layout.own[..]), (0, &[1, 2, 3, 4][..]));
    let raw = find("row;item;code\n", &Columns::Raw).unwrap();
    assert_eq!((raw.number, raw.own), (0, vec![1]));
}

#[test]
fn what_is_no_failures_file_says_what_is_missing_and_the_way_out() {
    let columns = named(&["id", "name"]);
    for (file, expected) in [
        ("", "The file is empty"),
        ("id,name\n1,Ann\n", "no column \"row\"; download"),
        ("row;id\n1;2\n", "no column \"name\"; download"),
        ("row\n1\n", "no column \"id\", \"name\"; download"),
        ("row,id,name,id\n", "two columns are called \"id\""),
        ("row,id,name,row\n", "two columns are called \"row\""),
        ("row,id,\"name\n1,2,3\n", "is a quote in it never closed?"),
        ("PK\u{3}\u{4}\n", "zip archive"),
        ("r\0o\0w\0,\0i\0d\0", "UTF-16"),
    ] {
        let error = find(file, &columns).unwrap_err();
        assert!(error.contains(expected), "{file:?}: {error}");
    }
    let latin = [b"row,id,name,Gr\xf6\xdfe\n".as_slice(), b"1,2,3,4\n"].concat();
    assert!(Layout::find(&latin, true, &columns).unwrap_err().to_string().contains("not UTF-8"));
}

#[test]
fn a_first_line_that_goes_on_behind_the_header_is_refused_and_one_that_ends_in_it_is_not() {
    let columns = named(&["id", "name"]);
    for (header, taken) in [("row,id,name", false), ("row,id,name\n", false), ("row,id,name\n1", true)] {
        assert_eq!(Layout::find(header.as_bytes(), false, &columns).is_ok(), taken, "{header:?}");
    }
}
