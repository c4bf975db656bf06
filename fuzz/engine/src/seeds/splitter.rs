//! Seeds of the target `splitter`: the format, three block sizes, the items and bytes of a chunk, and the file.

pub(super) const SEEDS: &[(&str, &[u8])] = &[
    ("csv-blank-lines-around-records", seed![&[0, 3, 0, 7, 1, 29], b"\n\r\nid,name\n\n1,a\n\r\n\n2,b\n\n"]),
    ("csv-byte-order-mark-in-single-bytes", seed![&[0, 0, 0, 0, 1, 29], b"\xef\xbb\xbfid,name\n1,a\n"]),
    ("csv-crlf-cut-between-cr-and-lf", seed![&[0, 7, 0, 0, 1, 29], b"id,name\r\n1,Ann\r\n2,Bob\r\n"]),
    ("csv-doubled-quote-across-blocks", seed![&[0, 12, 0, 0, 1, 29], b"id,note\n1,\"a\"\"b\"\n2,x\n"]),
    ("csv-header-with-a-duplicate-name", seed![&[0, 3, 0, 7, 1, 29], b"id,name,id\n1,a,2\n"]),
    ("csv-mixed-line-ends", seed![&[0, 3, 0, 7, 1, 29], b"id,name\n1,a\r\n2,b\r3,c"]),
    ("csv-quoted-newline-at-chunk-end", seed![&[0, 3, 0, 7, 1, 16], b"id,note\n1,\"a\nb\"\n2,\"c\nd\"\n3,e\n"]),
    ("csv-record-over-the-item-limit", seed![&[0, 3, 0, 7, 1, 29], b"id,note\n1,", &[b'x'; 240], b"\n2,y\n"]),
    ("csv-unterminated-quote-in-the-last-row", seed![&[0, 3, 0, 7, 1, 29], b"id,note\n1,a\n2,\"b\n3,c\n"]),
    ("jsonl-newline-escaped-in-a-string", seed![&[1, 8, 0, 0, 1, 29], b"{\"id\":\"a\\nb\"}\n{\"id\":2}\n"]),
    (
        "jsonl-spaces-before-and-carriage-returns-after",
        seed![&[1, 3, 0, 7, 1, 29], b" \t{\"id\":1}\r\n\n  \r\n{\"id\":2}\r"],
    ),
    ("utf16-text", seed![&[0, 3, 0, 7, 1, 29], b"\xff\xfei\x00d\x00\n\x001\x00\n\x00"]),
];
