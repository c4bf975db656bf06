//! Rows of results, from lines.

use longshore::result::lines_of;
use longshore_domain::records::Delimiter;
use longshore_domain::results::ResultColumn;

use super::*;

fn csv(form: &ResultsForm, lines: &str) -> String {
    let (mut rows, mut out) = (ResultRows::new(form), Vec::new());
    rows.append_header(&mut out);
    lines_of(lines.as_bytes()).for_each(|line| rows.append_row(&mut out, line).unwrap());
    String::from_utf8(out).unwrap()
}

fn columns(names: &[(&str, &str)]) -> Vec<ResultColumn> {
    let column = |(name, heading): &(&str, &str)| ResultColumn { name: (*name).into(), heading: (*heading).into() };
    names.iter().map(column).collect()
}

#[test]
fn an_output_without_columns_is_one_cell_of_json() {
    let lines = "{\"number\":1,\"output\":{\"a\":\"x,y\"}}\n{\"number\":2,\"output\":\"=1\"}\n";
    let expected = "number,output\r\n1,\"{\"\"a\"\":\"\"x,y\"\"}\"\r\n2,\"\"\"=1\"\"\"\r\n";
    assert_eq!(csv(&ResultsForm::default(), lines), expected.replace("\"\"\"=1\"\"\"", "\"'\"\"=1\"\"\""));
}

#[test]
fn the_members_of_an_output_are_columns_under_their_headings() {
    let form = ResultsForm {
        row: ResultRow::Plain,
        columns: columns(&[("id", "Id"), ("b", "=b")]),
        delimiter: Delimiter::Semicolon,
        bom: true,
        ..ResultsForm::default()
    };
    let lines = "{\"id\":1.50,\"b\":true,\"c\":0}\n{\"b\":[1,\"x\"]}\n7\n{\"id\":\"=x\",\"b\":null}\n";
    let expected = "\u{feff}Id;'=b\r\n1.50;true\r\n;\"[1,\"\"x\"\"]\"\r\n;\r\n'=x;\r\n";
    assert_eq!(csv(&form, lines), expected);
    let raw = ResultsForm { formulas: Formulas::Raw, bom: false, ..form };
    assert!(csv(&raw, lines).ends_with("\r\n=x;\r\n"));
}

#[test]
fn an_output_that_cannot_be_parsed_again_is_written_as_it_is() {
    let form = ResultsForm { columns: columns(&[("a", "a"), ("ä", "b")]), ..ResultsForm::default() };
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let outputs = [
        &format!("{{\"a\":{deep},\"\\u00e4\":12345678901234567890123}}"),
        "{\"a\":1e999,\"\\ud800\":1,\"ä\":\"\\ud800\"}",
        "{\"a\":0.1000000000000000055,\"a\":\"last\"}",
        "[1]",
    ];
    let lines = outputs.map(|output| format!("{{\"number\":1,\"output\":{output}}}\n")).concat();
    let deep = format!("1,{deep},12345678901234567890123\r\n");
    let expected = format!("number,a,b\r\n{deep}1,1e999,\"\"\"\\ud800\"\"\"\r\n1,last,\r\n1,,\r\n");
    assert_eq!(csv(&form, &lines), expected);
}

#[test]
fn a_line_in_another_order_has_the_same_members() {
    let form = ResultsForm { columns: columns(&[("a", "a")]), ..ResultsForm::default() };
    let lines = "{\"output\":{\"a\":1},\"number\":7}\n{\"\\u006eumber\":8,\"output\":{\"\\u0061\":2}}\n";
    assert_eq!(csv(&form, lines), "number,a\r\n7,1\r\n8,2\r\n");
    let more = "{\"number\":9,\"output\":{\"a\":3},\"z\":{\"a\":4}}\n";
    assert_eq!(csv(&form, more), "number,a\r\n9,3\r\n");
    for malformed in ["{\"number\":1,\"output\":{\"a\":1}", "{\"number\":1,\"output\":{},\"output\":{\"a\":1}}"] {
        assert!(ResultRows::new(&form).append_row(&mut Vec::new(), malformed.as_bytes()).is_err(), "{malformed}");
    }
}

#[test]
fn a_line_can_have_some_members_only_under_their_headings() {
    let select = |row, lines: &str| {
        let columns = columns(&[("b", "B \"x\""), ("a", "a")]);
        let form = ResultsForm { row, columns, columns_from: ColumnsFrom::Request, ..ResultsForm::default() };
        let (mut rows, mut out) = (ResultRows::new(&form), Vec::new());
        lines_of(lines.as_bytes()).for_each(|line| rows.append_line(&mut out, line).unwrap());
        String::from_utf8(out).unwrap()
    };
    let lines = "{\"a\":1.50,\"b\":{\"c\":null},\"d\":0}\n{\"a\":null}\n{}\n7\n";
    let expected = "{\"B \\\"x\\\"\":{\"c\":null},\"a\":1.50}\n{\"a\":null}\n{}\n{}\n";
    assert_eq!(select(ResultRow::Plain, lines), expected);
    let numbered = select(ResultRow::Numbered, "{\"number\":3,\"output\":{\"a\":\"x\"}}\n");
    assert_eq!(numbered, "{\"number\":3,\"output\":{\"a\":\"x\"}}\n");
}

#[test]
fn members_without_a_column_are_noted_if_the_columns_are_those_of_the_first_records() {
    let left_out = |columns_from| {
        let form = ResultsForm {
            row: ResultRow::Plain,
            columns: columns(&[("a", "a")]),
            columns_from,
            ..ResultsForm::default()
        };
        let mut rows = ResultRows::new(&form);
        let many: String = (0..30).map(|n| format!("{{\"a\":1,\"b{:02}\":2}}\n", n % 20)).collect();
        lines_of(many.as_bytes()).for_each(|line| rows.append_row(&mut Vec::new(), line).unwrap());
        rows.seen().left_out.iter().cloned().collect::<Vec<_>>()
    };
    let first: Vec<_> = (0..10).map(|n| format!("b{n:02}")).collect();
    assert_eq!(left_out(ColumnsFrom::Records), first);
    assert!(left_out(ColumnsFrom::Request).is_empty() && left_out(ColumnsFrom::Type).is_empty());
}

#[test]
fn requested_columns_that_no_output_has_are_named() {
    let form = ResultsForm {
        row: ResultRow::Plain,
        columns: columns(&[("a", "a"), ("mispelt", "b"), ("c", "c")]),
        columns_from: ColumnsFrom::Request,
        ..ResultsForm::default()
    };
    let mut rows = ResultRows::new(&form);
    for line in [b"{\"a\":1}".as_slice(), b"7", b"{\"c\":null}"] {
        rows.append_line(&mut Vec::new(), line).unwrap();
    }
    assert_eq!(rows.not_found().collect::<Vec<_>>(), ["mispelt"]);
    let of_type = ResultsForm { columns_from: ColumnsFrom::Type, ..form };
    assert_eq!(ResultRows::new(&of_type).not_found().count(), 0);
}

#[test]
fn an_empty_cell_alone_is_quoted_because_readers_skip_blank_lines() {
    let form = ResultsForm { row: ResultRow::Plain, columns: columns(&[("a", "a")]), ..ResultsForm::default() };
    assert_eq!(csv(&form, "{}\n{\"a\":\"x\\ny\"}\n"), "a\r\n\"\"\r\n\"x\ny\"\r\n");
}
