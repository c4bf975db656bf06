//! Files with critical sizes: rows that end at a boundary inside the system.
//!
//! A message contains up to 48 KiB of rows. The first 64 KiB of a file are inspected to recognize text. A header can
//! have 256 KiB with the overhead of its names, a record 400 KB, a row 16 MiB. A chunk of the probe has 50 rows.

use super::case::{End, File, Work};

const KIB: usize = 1 << 10;
const INLINE_BYTES: usize = 48 * KIB;
const HEAD_BYTES: usize = 64 * KIB;
/// The longest header of two columns: each name takes four bytes more than its text, and there is one comma.
const HEADER_BYTES: usize = 256 * KIB - 2 * 4 + 1;
const ROW_BYTES: usize = 16 << 20;

/// The files that are processed quickly.
pub(super) fn files() -> Vec<File> {
    let mut files = Vec::new();
    for end in [INLINE_BYTES, HEAD_BYTES] {
        for (by, what) in [(-1, "a byte before"), (0, "at"), (1, "a byte after")] {
            let at = end.checked_add_signed(by).unwrap_or(end);
            files.push(File::csv(&format!("a row that ends {what} {} KiB", end / KIB), row_ends_at(at, "\n")));
        }
        files.push(File::csv(&format!("a crlf across {} KiB", end / KIB), row_ends_at(end + 1, "\r\n")));
    }
    files.push(File::csv("a quoted line end across 64 KiB", quoted_line_end_at(HEAD_BYTES)));
    files.push(File::csv("a letter of four bytes across 64 KiB", wide_letter_at(HEAD_BYTES)));
    files.push(File::csv("a NUL behind the first 64 KiB", nul_at(HEAD_BYTES + 7)).only(Work::Validate));
    files.push(File::csv(
        "blank lines over more than 64 KiB",
        format!("{}id,a\n1,x\n", "\r\n".repeat(HEAD_BYTES / 2 + 5)),
    ));
    files.push(File::csv("a header that ends at 64 KiB", header_of(HEAD_BYTES)));
    files.push(File::csv("a header across 64 KiB", header_of(HEAD_BYTES + 100)));
    files.push(File::csv("the longest header", header_of(HEADER_BYTES)).only(Work::Validate));
    files.push(File::csv("a thousand columns", wide(1_000, 4)));
    files.push(File::csv("a long cell", format!("id,a\n1,{}\n,{}\n", "x".repeat(60_000), "y".repeat(60_000))));
    files.push(File::csv(
        "a long quoted cell",
        format!("id,a\n1,\"{}\"\n,\"{}\"\n", "\"\"\n".repeat(20_000), ",\r\n".repeat(20_000)),
    ));
    files.push(File::csv("a quote that swallows many rows", format!("id,a\n1,\"x\n{}", numbered(2..3_000, "\n"))));
    files.push(File::csv("rows of many chunks", numbered_file(5_000, "\n")).only(Work::Upsert));
    files.push(
        File::csv("rows of many chunks, crlf, without line end", numbered_file(9_000, "\r\n").trim_end())
            .only(Work::Validate),
    );
    files.push(File::csv("rows of many chunks, cr alone", numbered_file(9_000, "\r")).only(Work::Validate));
    files.push(
        File::csv("rows of many chunks, blank lines between", numbered_file(6_000, "\r\n\n\r")).only(Work::Validate),
    );
    files.push(File::json_lines("lines of many chunks", lines(2_000), &[500, 1_000, 1_500, 2_000]).only(Work::Insert));
    for rows in [49, 50, 51, 100, 101] {
        files.push(File::csv(&format!("{rows} orders in chunks of 50"), orders(rows, |_| "ok")).only(Work::Probe));
    }
    files.extend(stopped());
    files
}

/// Files of jobs that stop half-way, so that a part of the file is unprocessed.
fn stopped() -> Vec<File> {
    let fatal = |at| move |n| if n == at { "fatal" } else { "ok" };
    let mixed = |n: usize| ["ok", "skip", "reject", "ok"][n % 4];
    let stop = |name, file: String, code| File::csv(name, file).only(Work::Probe).ends(End::Stopped(code));
    vec![
        stop("stopped by its first row", orders(400, fatal(1)), "asked_to_stop"),
        stop("stopped by a row in the middle", orders(400, fatal(203)), "asked_to_stop"),
        stop("stopped by its last row", orders(400, fatal(400)), "asked_to_stop"),
        stop(
            "stopped by a row of many kinds",
            orders(600, |n| if n == 77 { "fatal" } else { mixed(n) }),
            "asked_to_stop",
        ),
        File::csv("stopped by a failed row", "id,a\n,x\n".to_owned() + &numbered(2..6_000, "\n"))
            .only(Work::Upsert)
            .ends(End::Stopped("too_many_failures")),
        File::csv("stopped by a torn row of a crlf file", "id,a\r\n1,x,y\r\n".to_owned() + &numbered(2..6_000, "\r\n"))
            .only(Work::Insert)
            .ends(End::Stopped("too_many_failures")),
        File::json_lines("stopped by a broken line", "{\"id\":\n".to_owned() + &lines(400).repeat(10), &[1])
            .only(Work::Validate)
            .ends(End::Stopped("too_many_failures")),
    ]
}

/// The files that take long to process.
pub(super) fn large_files() -> Vec<File> {
    let mut files = Vec::new();
    for (bytes, what) in [(ROW_BYTES, "the longest row"), (ROW_BYTES + 1, "a row that is too long")] {
        let file = [b"id,a\n1,x\n2,".to_vec(), vec![b'y'; bytes - 2], b"\n3,z\n".to_vec()].concat();
        files.push(File::csv(what, file).only(Work::Validate));
        let line = format!("{{\"id\":1}}\n{{\"id\":\"{}\"}}\n{{\"id\":3}}\n", "y".repeat(bytes - 9));
        files.push(File::json_lines(&format!("{what}, as JSON"), line, &[2]).only(Work::Validate));
    }
    files.push(
        File::csv("a quote that swallows 17 MiB", [b"id,a\n1,x\n2,\"".to_vec(), vec![b'\n'; 17 << 20]].concat())
            .only(Work::Validate),
    );
    files.push(File::csv("a record that is too large", format!("id,a\n1,{}\n2,y\n", "x".repeat(500_000))));
    files.push(File::csv("five thousand columns", wide(5_000, 20)));
    files.push(File::csv("two hundred thousand rows", numbered_file(200_000, "\n")));
    files.push(
        File::csv(
            "two hundred thousand rows, crlf and quotes",
            numbered_file(200_000, "\r\n").replace('x', "\"a\r\nb\""),
        )
        .only(Work::Validate),
    );
    files.push(File::csv("a million blank lines", format!("id,a\n1,x\n{}2,y\n", "\n".repeat(1_000_000))));
    files
        .push(File::csv("a million rows of a letter", format!("id\n{}", "k\n".repeat(1_000_000))).only(Work::Validate));
    files
}

/// A file whose first row, including its line end, ends before this byte.
fn row_ends_at(end: usize, line_end: &str) -> String {
    let start = format!("id,a{line_end}1,");
    let fill = "x".repeat(end - start.len() - line_end.len());
    format!("{start}{fill}{line_end}2,y{line_end},bad{line_end}3,z{line_end}")
}

/// A file with a quoted line end whose second byte is at this position.
fn quoted_line_end_at(at: usize) -> String {
    let start = "id,a\r\n1,\"";
    format!("{start}{}\r\nrest\"\r\n,\"y\r\n\"\r\n", "x".repeat(at - start.len() - 1))
}

/// A file with a character of four bytes that begins two bytes before this position.
fn wide_letter_at(at: usize) -> String {
    let start = "id,a\n1,";
    format!("{start}{}\u{1f600}\n2,y\n,z\n", "x".repeat(at - start.len() - 2))
}

fn nul_at(at: usize) -> Vec<u8> {
    let mut file = numbered_file(12_000, "\n").into_bytes();
    file[at] = 0;
    file
}

/// A file whose header has this many bytes without its line end.
fn header_of(bytes: usize) -> String {
    format!("id,{}\n1,x\n,y\n", "n".repeat(bytes - 3))
}

fn wide(columns: usize, rows: usize) -> String {
    let header: Vec<_> = (0..columns).map(|n| format!("c{n}")).collect();
    let row =
        |n: usize| (0..columns).map(|c| if c == 0 { format!("k{n}") } else { (c % 7).to_string() }).collect::<Vec<_>>();
    let rows = (0..rows).map(|n| row(n).join(",") + "\n");
    std::iter::once(header.join(",") + "\n").chain(rows).collect()
}

fn numbered_file(rows: usize, line_end: &str) -> String {
    format!("id,a{line_end}{}", numbered(1..rows + 1, line_end))
}

/// Rows of different lengths. Every five hundredth row has no key, and fails.
fn numbered(numbers: std::ops::Range<usize>, line_end: &str) -> String {
    let row = |n: usize| match n % 500 {
        0 => format!(",x{line_end}"),
        _ => format!("k{n},x{}{line_end}", "y".repeat(n % 23)),
    };
    numbers.map(row).collect()
}

fn lines(rows: usize) -> String {
    (1..=rows)
        .map(|n| {
            if n % 500 == 0 { "{}\n".to_owned() } else { format!("{{\"id\":{n},\"a\":\"{}\"}}\n", "y".repeat(n % 23)) }
        })
        .collect()
}

/// A file for the probe. `action` receives the number of the row, counted from 1.
fn orders(rows: usize, action: impl Fn(usize) -> &'static str) -> String {
    let row = |n| format!("{},\"row {n}\nof \"\"{rows}\"\"\"\r\n", action(n));
    std::iter::once("action,text\r\n".to_owned()).chain((1..=rows).map(row)).collect()
}
