//! Seeds of the target `preparation`: the file.

pub(super) const SEEDS: &[(&str, &[u8])] = &[
    ("a-chart-beside-a-sheet", include_bytes!("../../../../tests/files/workbooks/chart-and-protection.xlsx")),
    ("a-cut-gzip-file", include_bytes!("../../../../tests/files/archives/cut-within-row.csv.gz")),
    ("a-gzip-file-in-a-zip", include_bytes!("../../../../tests/files/archives/refused/gzip-in-zip.zip")),
    ("a-macos-archive", include_bytes!("../../../../tests/files/archives/from-macos.zip")),
    ("a-sparse-sheet", include_bytes!("../../../../tests/files/workbooks/sparse.xlsx")),
    ("a-zip-in-a-zip", include_bytes!("../../../../tests/files/archives/refused/zip-in-zip.zip")),
    ("an-encrypted-archive", include_bytes!("../../../../tests/files/archives/refused/encrypted.zip")),
    ("cells-of-each-type", include_bytes!("../../../../tests/files/workbooks/types.xlsx")),
    ("half-a-surrogate-pair", b"\xff\xfea\0,\0b\0\n\0\x3d\xd8,\0c\0"),
    ("merged-cells-in-rows", include_bytes!("../../../../tests/files/workbooks/merged.xlsx")),
    ("skippable-frames-of-zstandard", include_bytes!("../../../../tests/files/archives/skippable-between.csv.zst")),
    ("text-in-utf16", b"\xfe\xff\0i\0d\0\n\0\x31\0\n"),
    ("two-gzip-members", include_bytes!("../../../../tests/files/archives/two-members.csv.gz")),
    ("two-zstandard-frames", include_bytes!("../../../../tests/files/archives/two-frames.csv.zst")),
    ("utf16-in-gzip", include_bytes!("../../../../tests/files/archives/german-utf-16.txt.gz")),
];
