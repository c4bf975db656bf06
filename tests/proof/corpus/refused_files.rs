//! Files that are refused: the job fails with a code, and none of their rows is reported or stored.

use super::case::{End, File};

/// Name, bytes and code of each file.
const FILES: &[(&str, &[u8], &str)] = &[
    ("a line end and nothing else", b"\n", "file_empty"),
    ("a cr and nothing else", b"\r", "file_empty"),
    ("white space and nothing else", b" \t\r\n \n", "file_empty"),
    ("a byte order mark and nothing else", b"\xef\xbb\xbf", "file_empty"),
    ("a byte order mark and a line end", b"\xef\xbb\xbf\r\n", "file_empty"),
    ("UTF-16 without a mark", b"i\0d\0,\0a\0\n\x001\0,\0x\0\n\0", "file_not_utf8"),
    ("UTF-32", b"\xff\xfe\0\0i\0\0\0d\0\0\0\n\0\0\0", "file_not_utf8"),
    ("a header in Latin-1", b"id,n\xe4me\n1,Ann\n", "file_not_utf8"),
    ("a NUL in a row", b"id,a\n1,x\0y\n2,z\n", "file_binary"),
    ("a NUL in the header", b"id,a\0b\n1,x\n", "file_binary"),
    ("a NUL in quotes", b"id,a\n1,\"\0\"\n", "file_binary"),
    ("a workbook", b"PK\x03\x04\x14\0\x06\0....[Content_Types].xml", "workbook_damaged"),
    ("an old workbook", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "workbook_old_format"),
    ("a gzip file", b"\x1f\x8b\x08\0\0\0\0\0\0\x03rest", "archive_damaged"),
    ("a web page", b"<!DOCTYPE html>\n<html><table>\n", "file_not_a_table"),
    ("a PDF document", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "file_binary"),
    ("a quote that opens in the header and never closes", b"id,\"a\n1,x\n2,y\n", "unterminated_quote"),
];

/// Maximum size of a header. A longer first row is not a header.
const HEADER_BYTES: usize = 256 * 1024;

/// All refused files.
pub(super) fn files() -> Vec<File> {
    let refused = |(name, bytes, code): &(&str, &[u8], &'static str)| File::csv(name, *bytes).ends(End::Refused(code));
    let mut files: Vec<_> = FILES.iter().map(refused).collect();
    let lines = |name, bytes: &[u8], code| File::json_lines(name, bytes, &[]).ends(End::Refused(code));
    files.push(lines("blank lines and nothing else", b"\n \n\t\n", "file_empty"));
    files.push(lines("an array over lines", b"[\n{\"id\":1},\n{\"id\":2}\n]\n", "file_not_a_table"));
    files.push(lines("a NUL in a line", b"{\"id\":1}\n{\"id\":\"\0\"}\n", "file_binary"));
    let long = format!("id,{}\n1,x\n", "n".repeat(HEADER_BYTES));
    files.push(File::csv("a header that is too long", long).ends(End::Refused("header_too_long")));
    let columns = |count: usize| (0..count).map(|n| format!(",c{n}")).collect::<String>();
    let many = format!("id{}\n1{}\n", columns(30_000), ",".repeat(30_000));
    files.push(File::csv("thirty thousand columns", many).ends(End::Refused("too_many_columns")));
    let line = |name, bytes: String, code| File::csv(name, bytes).ends(End::Refused(code));
    let text = "no line end anywhere ".repeat(200 * 1024 / 21);
    let without_key = |name, bytes: String| File::csv(name, bytes).ends(End::Stopped("key_not_in_header"));
    files.push(without_key("a first line of 200 KiB that is no header", format!("{text}\n1\n")));
    files.push(line(
        "a first line of 200 KiB of commas and a name",
        format!("{}x\n1\n", ",".repeat(200 * 1024)),
        "too_many_columns",
    ));
    let unnamed = format!("{},x\n1\n", ",".repeat(9_000));
    files.push(without_key("nine thousand columns without a name", unnamed));
    files
}
