//! Files of a seeded generator that combines the constructs of the crafted files.

use std::sync::OnceLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::case::{File, Work};

/// The seed of this run: from `LONGSHORE_SEED`, or from the clock.
pub(super) fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| {
        let requested = std::env::var("LONGSHORE_SEED").ok().and_then(|seed| seed.parse().ok());
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        requested.unwrap_or(now.as_micros() as u64 % 1_000_000_000)
    })
}

/// Generates `count` files. The same seed gives the same files.
pub(super) fn files(seed: u64, count: usize) -> Vec<File> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut files = Vec::new();
    for n in 0..count {
        let file = match n % 4 {
            0 => json_lines().new_tree(&mut runner).map(|tree| tree.current()),
            1 => orders().new_tree(&mut runner).map(|tree| tree.current()),
            _ => rows().new_tree(&mut runner).map(|tree| tree.current()),
        };
        let file = file.unwrap_or_else(|error| panic!("the generator has failed: {error}"));
        files.push(File { name: format!("{} {n} of {seed}", file.name), ..file });
    }
    files
}

/// Bytes of a cell: special characters of CSV, spreadsheets and Unicode, and bytes that are not text. A NUL does not
/// occur, because it makes a file binary.
fn cell() -> impl Strategy<Value = Vec<u8>> {
    let special = prop::sample::select(
        &[
            "", " ", "\"", "\"\"", ",", "\n", "\r", "\r\n", "'", "=1+1", "-5", "@a", "\t", "\\\"", ";", "\u{feff}",
            "\u{2028}", "\u{85}", "ü", "😀", "\u{1}", "\u{7f}",
        ][..],
    );
    let piece = prop_oneof![
        5 => "[a-z0-9]{1,6}".prop_map(String::into_bytes),
        5 => special.prop_map(|text| text.as_bytes().to_vec()),
        // Bytes that occur in no valid UTF-8 sequence.
        1 => prop::sample::select(&[0xff_u8, 0xfe, 0xc0][..]).prop_map(|byte| vec![byte]),
    ];
    prop_oneof![
        20 => vec(piece, 0..4).prop_map(|pieces| pieces.concat()),
        1 => (1..4_000_usize).prop_map(|length| vec![b'x'; length]),
    ]
}

/// Syntax of a cell: raw, whatever the effect on its row; correctly quoted; quoted and truncated.
fn written(cell: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    (cell, 0..12_u8).prop_map(|(cell, style)| match style {
        0..=2 => cell,
        3 => [b"\"", &cell[..], b"\"x"].concat(),
        _ => {
            [
                b"\"",
                &cell
                    .iter()
                    .flat_map(|byte| if *byte == b'"' { vec![b'"'; 2] } else { vec![*byte] })
                    .collect::<Vec<_>>()[..],
                b"\"",
            ]
            .concat()
        }
    })
}

fn line_end() -> impl Strategy<Value = &'static [u8]> {
    prop_oneof![
        8 => Just(&b"\n"[..]),
        4 => Just(&b"\r\n"[..]),
        2 => Just(&b"\r"[..]),
        1 => Just(&b"\n\n\r\n"[..]),
        1 => Just(&b"\r\r\n"[..]),
    ]
}

/// A row: usually with as many cells as the header, with its own line end or the file's.
fn row(first: impl Strategy<Value = Vec<u8>> + 'static, columns: usize) -> impl Strategy<Value = Vec<u8>> {
    let count = prop_oneof![12 => Just(columns), 1 => 1..columns + 3];
    let cells = count.prop_flat_map(move |count| vec(written(cell()), count - 1));
    (written(first), cells).prop_map(|(first, rest)| std::iter::once(first).chain(rest).collect::<Vec<_>>().join(&b','))
}

/// A file: header, rows and line ends between them, with an optional byte order mark and an optional truncated end.
fn table(header: &'static [u8], first: impl Strategy<Value = Vec<u8>> + 'static) -> impl Strategy<Value = Vec<u8>> {
    let columns = header.split(|byte| *byte == b',').count();
    let mark = prop_oneof![3 => Just(&b""[..]), 1 => Just(&b"\xef\xbb\xbf"[..]), 1 => Just(&b"\r\n\n"[..])];
    let rows = prop_oneof![3 => 0..20_usize, 2 => 20..400_usize];
    let row = (line_end(), row(first, columns)).prop_map(|(end, row)| [end, &row[..]].concat()).boxed();
    let rows = rows.prop_flat_map(move |count| vec(row.clone(), count));
    let tail = prop_oneof![3 => Just(&b"\n"[..]), 2 => Just(&b""[..]), 1 => Just(&b"\r"[..]), 1 => Just(&b"\n\"open"[..]), 1 => Just(&b"\n\n \n"[..])];
    (mark, rows, tail).prop_map(move |(mark, rows, tail)| [mark, header, &rows.concat(), tail].concat())
}

/// A file for an import: its keys are valid, duplicate, missing or invalid.
fn rows() -> impl Strategy<Value = File> {
    let key = || prop_oneof![20 => "k[0-9]{1,4}".prop_map(String::into_bytes), 1 => Just(Vec::new()), 2 => cell()];
    let file = prop_oneof![
        4 => table(b"id,a,b", key()),
        1 => table(b"id", key()),
        1 => table(b"\"id\",\"a\nb\",, c ", key()),
    ];
    file.prop_map(|bytes| File::csv("rows", bytes))
}

/// A file for the probe: rows name their own outcome, and some of them name an unknown one.
fn orders() -> impl Strategy<Value = File> {
    let action = prop::sample::select(&["ok", "ok", "ok", "skip", "reject", "panic", "retry", "nonsense"][..]);
    let action = prop_oneof![20 => action.prop_map(|action| action.as_bytes().to_vec()), 1 => cell()];
    table(b"action,text", action).prop_map(|bytes| File::csv("orders", bytes).only(Work::Probe))
}

/// Lines of JSON, valid and invalid, with the numbers of the invalid ones.
fn json_lines() -> impl Strategy<Value = File> {
    let text = cell().prop_map(|cell| String::from_utf8_lossy(&cell).into_owned());
    let good = (0..300_u32, text).prop_map(|(id, text)| (serde_json::json!({ "id": id, "a": text }).to_string(), true));
    let bad = prop::sample::select(
        &["{", "1", "{}", "[]", "{\"id\":}", "\"", "=1+1", "{\"id\":1}{", "\u{feff}{\"id\":1}", "nul"][..],
    );
    let line = prop_oneof![6 => good, 1 => bad.prop_map(|line| (line.to_owned(), false))];
    let end = prop::sample::select(&["\n", "\n", "\r\n", "\n\n", " \n", "\n \t\r\n", "\t\r\n\r\n "][..]);
    let mark = prop::sample::select(&["", "", "\u{feff}", "\n", " \n\r\n"][..]);
    (mark, vec((line, end), 1..200)).prop_map(|(mark, lines)| {
        // A byte order mark before an invalid line is the file's own mark if the line is the first one.
        let is_good = |number, (line, good): &(String, bool)| {
            *good || (number == 1 && mark.is_empty() && line.starts_with('\u{feff}'))
        };
        let numbered = (1..).zip(&lines);
        let bad: Vec<_> = numbered.filter(|(n, (line, _))| !is_good(*n, line)).map(|(n, _)| n).collect();
        let text: String = lines.iter().map(|((line, _), end)| format!("{line}{end}")).collect();
        File::json_lines("lines", format!("{mark}{text}"), &bad)
    })
}
