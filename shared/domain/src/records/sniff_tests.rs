//! Tests of content sniffing: files that people upload by mistake, and the messages for them.
//!
//! The messages are part of the product: a change of one must be visible in review.

use super::*;

fn refusal(block: &[u8], extent: Extent) -> UnreadableFile {
    sniff(block, extent).unwrap_err()
}

#[test]
fn text_is_readable_with_and_without_a_byte_order_mark() {
    let table: [(&[u8], usize); 9] = [
        (b"a,b\n1,2\n", 0),
        (b"\xef\xbb\xbfa,b\n", 3),
        (b"{\"a\":1}\n", 0),
        (b"name\nM\xfcller\n", 0),
        (b"PK,name\n", 0),
        (b"[{\"a\":1}]\n[{\"a\":2}]\n", 0),
        (b"[[1,2]]\n", 0),
        (b"[a],b\n1,2\n", 0),
        (b"<id>,name\n1,2\n", 0),
    ];
    for (block, bom_len) in table {
        assert_eq!(sniff(block, Extent::Whole), Ok(Sniffed { bom_len }), "{block:?}");
    }
}

#[test]
fn a_file_of_white_space_is_empty_only_at_its_end() {
    for block in [&b""[..], b"\xef\xbb\xbf", b" \t\r\n\n", b"\xef\xbb\xbf\r\n"] {
        assert_eq!(refusal(block, Extent::Whole), UnreadableFile::Empty, "{block:?}");
        assert!(sniff(block, Extent::Start).is_ok(), "{block:?}");
    }
}

#[test]
fn binary_files_are_named() {
    let table: [(&[u8], FileKind, u64); 3] = [
        (b"%PDF-1.7\n", FileKind::Pdf, 0),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", FileKind::Unknown, 8),
        (b"a,b\n1,\0\n", FileKind::Unknown, 6),
    ];
    for (block, kind, offset) in table {
        assert_eq!(refusal(block, Extent::Whole), UnreadableFile::Binary { kind, offset }, "{block:?}");
    }
}

#[test]
fn text_that_is_no_table_is_named() {
    let table: [(&[u8], TextKind); 7] = [
        (b"<!DOCTYPE html>\n<html>", TextKind::Html),
        (b"\r\n<html xmlns:o=\"urn:schemas-microsoft-com:office:office\">", TextKind::Html),
        (b"<table border=1><tr>", TextKind::Html),
        (b"\xef\xbb\xbf<?xml version=\"1.0\"?>", TextKind::Xml),
        (b"[{\"a\":1},\n{\"a\":2}]\n", TextKind::JsonArray),
        (b"[\n  {\n", TextKind::JsonArray),
        (b"[[1,2],\r\n[3,4]]", TextKind::JsonArray),
    ];
    for (block, kind) in table {
        assert_eq!(refusal(block, Extent::Start), UnreadableFile::NotATable { kind }, "{block:?}");
    }
}

#[test]
fn other_unicode_encodings_are_named() {
    let table: [(&[u8], Encoding, u64); 4] = [
        (b"\xff\xfe\0\0a\0\0\0", Encoding::Utf32, 0),
        (b"\0\0\xfe\xff\0\0\0a", Encoding::Utf32, 0),
        (b"n\0a\0m\0e\0\n\0", Encoding::Utf16, 1),
        (b"\0n\0a\0m\0e\0\n", Encoding::Utf16, 0),
    ];
    for (block, encoding, offset) in table {
        assert_eq!(refusal(block, Extent::Whole), UnreadableFile::NotUtf8 { encoding, offset }, "{block:?}");
    }
}

#[test]
fn a_header_in_an_older_encoding_is_refused_at_its_first_bad_byte() {
    assert_eq!(check_utf8("näme".as_bytes(), 3), Ok("näme"));
    let refused = check_utf8(b"id,n\xe4me", 3).unwrap_err();
    assert_eq!(refused, UnreadableFile::NotUtf8 { encoding: Encoding::Unknown, offset: 7 });
}

#[test]
fn every_refusal_has_a_code_and_a_message() {
    let table = [
        (
            refusal(b"", Extent::Whole),
            "file_empty",
            "The file is empty: it has no rows. Check that it was saved, and upload it again.",
        ),
        (
            refusal(b"%PDF-1.7", Extent::Start),
            "file_binary",
            "The file is a PDF document, not text (detected at byte 0). \
             Export the table as CSV from the program that created it and upload that.",
        ),
        (
            refusal(b"[{\n", Extent::Start),
            "file_not_a_table",
            "The file is a JSON array, not a table. Write each of its objects on a line of its own (JSON Lines), and upload \
             that.",
        ),
        (
            refusal(b"a\0,\0b\0\n\0", Extent::Start),
            "file_not_utf8",
            "The file is written in UTF-16, not UTF-8 (detected at byte 1). \
             Save it as \"CSV UTF-8\", or in UTF-8, and upload it again.",
        ),
    ];
    for (refused, code, text) in table {
        assert_eq!((refused.code(), refused.to_string().as_str()), (code, text));
    }
}
