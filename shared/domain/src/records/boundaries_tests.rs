//! Tests of record boundaries: the rules of each format as a table, each fed whole and byte by byte.
//!
//! The property tests verify the agreement with the `csv` crate; the table of CSV documents the rules.

use crate::records::{Cutter, Format, Span, records};

/// The content of a record, and its end.
type Record = (&'static str, u64);

/// Asserts that each text is cut into these records.
fn assert_cuts(format: Format, table: &[(&str, &[Record])]) {
    for (text, expected) in table {
        let whole: Vec<Span> = records(format, text.as_bytes()).collect();
        let found: Vec<_> = whole.iter().map(|span| (span.content(text.as_bytes()), span.end)).collect();
        let expected: Vec<_> = expected.iter().map(|(content, end)| (content.as_bytes(), *end)).collect();
        assert_eq!(found, expected, "{text:?} in one block");
        assert_eq!(cut_by_byte(format, text), whole, "{text:?} byte by byte");
    }
}

fn cut_by_byte(format: Format, text: &str) -> Vec<Span> {
    let mut cutter = Cutter::new(format);
    let mut found = Vec::new();
    for byte in text.as_bytes() {
        cutter.feed(&[*byte], &mut |span| found.push(span));
    }
    found.extend(cutter.finish());
    found
}

#[test]
fn each_rule_of_csv_holds_in_one_block_and_byte_by_byte() {
    let table: &[(&str, &[Record])] = &[
        ("", &[]),
        ("\n\r\n\r", &[]),
        ("a,b\nc,d\n", &[("a,b", 4), ("c,d", 8)]),
        ("a\rb\r\nc", &[("a", 2), ("b", 5), ("c", 6)]),
        ("\n\na\n\r\n\nb\n\n", &[("a", 4), ("b", 9)]),
        ("a\n\rb", &[("a", 2), ("b", 4)]),
        (" \n", &[(" ", 2)]),
        (",\n", &[(",", 2)]),
        ("\"\"\n", &[("\"\"", 3)]),
        ("\"a\nb\r\",c\nd", &[("\"a\nb\r\",c", 9), ("d", 10)]),
        ("a,\"b\nc\"\nd", &[("a,\"b\nc\"", 8), ("d", 9)]),
        ("\"a\"\"\nb\"\nc", &[("\"a\"\"\nb\"", 8), ("c", 9)]),
        ("5\" pipe\nx", &[("5\" pipe", 8), ("x", 9)]),
        (" \"a\nb\"", &[(" \"a", 4), ("b\"", 6)]),
        ("\"a\"b\"\nc", &[("\"a\"b\"", 6), ("c", 7)]),
        ("\"a\" ,\"b\n\"\nc", &[("\"a\" ,\"b\n\"", 10), ("c", 11)]),
        ("\"a,\"b\"\nc", &[("\"a,\"b\"", 7), ("c", 8)]),
        ("a,\r\n\"b\"\r\n", &[("a,", 4), ("\"b\"", 9)]),
    ];
    assert_cuts(Format::Csv, table);
}

#[test]
fn only_a_file_that_ends_inside_quotes_is_unterminated() {
    let table = [("\"", true), ("a,\"b\n", true), ("\"a\"\"", true), ("\"a\"", false), ("a\"", false), ("a,", false)];
    for (text, unterminated) in table {
        let spans: Vec<Span> = records(Format::Csv, text.as_bytes()).collect();
        assert_eq!(spans.len(), 1, "{text:?}");
        assert_eq!(spans[0].unterminated, unterminated, "{text:?}");
        assert_eq!(spans[0].end, text.len() as u64, "{text:?}");
    }
}

#[test]
fn a_record_that_ends_in_a_carriage_return_waits_for_one_more_byte() {
    let mut cutter = Cutter::new(Format::Csv);
    cutter.feed(b"a\r", &mut |span| panic!("too early: {span:?}"));
    assert_eq!(cutter.open_since(), Some(0));
    let mut ends = Vec::new();
    cutter.feed(b"\nb\r", &mut |span| ends.push((span.content_end, span.end)));
    cutter.feed(b"", &mut |span| panic!("an empty block: {span:?}"));
    cutter.feed(b"c", &mut |span| ends.push((span.content_end, span.end)));
    assert_eq!(ends, [(1, 3), (4, 5)]);
    assert_eq!(cutter.open_since(), Some(5));
}

#[test]
fn each_rule_of_json_lines_holds_in_one_block_and_byte_by_byte() {
    let table: &[(&str, &[Record])] = &[
        ("", &[]),
        (" \t\r\n\n \n  ", &[]),
        ("{}\n[1]\n", &[("{}", 3), ("[1]", 7)]),
        ("{}\r\n{}", &[("{}", 4), ("{}", 6)]),
        ("{}\r", &[("{}", 3)]),
        ("1\r2\n", &[("1\r2", 4)]),
        ("1\r\r\n", &[("1\r", 4)]),
        ("\n  1 \n\t\n2\n", &[("1 ", 6), ("2", 10)]),
        ("\"a\nb\"", &[("\"a", 3), ("b\"", 5)]),
    ];
    assert_cuts(Format::JsonLines, table);
}

#[test]
fn white_space_before_a_value_is_not_open_yet() {
    let mut cutter = Cutter::new(Format::JsonLines);
    cutter.feed(b" \n ", &mut |span| panic!("no record: {span:?}"));
    assert_eq!(cutter.open_since(), None);
    cutter.feed(b" 1", &mut |span| panic!("still open: {span:?}"));
    assert_eq!(cutter.open_since(), Some(4));
}
