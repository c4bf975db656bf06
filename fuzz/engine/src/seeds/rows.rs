//! Seeds of the target `rows`: a byte for the number of columns and the delimiter, and the record.

pub(super) const SEEDS: &[(&str, &[u8])] = &[
    ("a-cell-not-utf8", seed![&[3], b"1,\xff\xfe\n"]),
    ("a-cell-too-few", seed![&[3], b"1\n"]),
    ("a-corrected-file-with-a-repeated-row", seed![&[3], b"row,c0,c1\n2,a,b\n2,a,c\n"]),
    ("a-corrected-file-without-row-numbers", seed![&[3], b"c0,c1\na,b\n"]),
    ("a-json-line-with-a-duplicate-key", seed![&[3], br#"{"id":"a","id":"b"}"#]),
    ("a-key-over-the-length-limit", seed![&[3], &[b'k'; 1025], b",x\n"]),
    ("a-nul-in-a-cell", seed![&[3], b"1,a\0b\n"]),
    ("an-apostrophe-before-a-formula", seed![&[3], b"'=1,'x\n"]),
    ("an-unterminated-quote", seed![&[3], b"1,\"Ann\n"]),
    ("formulas-in-every-cell", seed![&[9], b"=1+1,@SUM(A1),+x,-y\n"]),
    ("quoted-cells-with-delimiter-quote-and-newline", seed![&[3], b"\"1,2\",\"a \"\"b\"\"\nc\"\n"]),
    ("values-against-a-schema", seed![&[6], b"1.5,maybe,abc\n"]),
];
