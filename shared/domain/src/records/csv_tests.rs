//! Tests of CSV: its rules as a table, each fed whole and byte by byte.
//!
//! The property tests verify the agreement with the `csv` crate; the table documents the rules.

use crate::records::{Cutter, Format, Span, records};

type Record = (&'static str, u64);

fn cut_whole(text: &str) -> Vec<(&str, u64)> {
    records(Format::Csv, text.as_bytes()).map(|span| seen(text, span)).collect()
}

fn seen(text: &str, span: Span) -> (&str, u64) {
    (&text[span.start as usize..span.content_end as usize], span.end)
}

fn cut_by_byte(text: &str) -> Vec<(&str, u64)> {
    let mut cutter = Cutter::new(Format::Csv);
    let mut found = Vec::new();
    for byte in text.as_bytes() {
        cutter.feed(&[*byte], &mut |span| found.push(seen(text, span)));
    }
    found.extend(cutter.finish().map(|span| seen(text, span)));
    found
}

#[test]
fn each_rule_holds_in_one_block_and_byte_by_byte() {
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
    for (text, expected) in table {
        assert_eq!(cut_whole(text), *expected, "{text:?} in one block");
        assert_eq!(cut_by_byte(text), *expected, "{text:?} byte by byte");
    }
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
