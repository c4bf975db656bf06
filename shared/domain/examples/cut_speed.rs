//! Benchmark of the cutter: prints its speed in GB/s for rows of 100 bytes.
//!
//! The splitter reads a file once, from one Lambda function; the cutter must not be its bottleneck.
//! `cargo run -p longshore-domain --example cut_speed`

use std::hint::black_box;
use std::time::Instant;

use longshore_domain::records::{Cutter, Format, records};

const FILE_BYTES: usize = 100_000_000;
/// Typical size of one read of a network stream.
const BLOCK_BYTES: usize = 64 * 1024;
const ROUNDS: usize = 5;

const PLAIN: &str =
    "1000001,Ada Lovelace,ada@example.com,2024-01-31,12 Analytical Row,London,United Kingdom,1815,active\n";
const ONE_QUOTED: &str =
    "1000001,\"Lovelace, Ada\",ada@example.com,2024-01-31,12 Analytical Row,London,United Kingdom,1815,on\n";
const ALL_QUOTED: &str = "\"1000001\",\"Ada Lovelace\",\"ada@example.com\",\"2024-01-31\",\"12 Row\",\"London\",\"GB\",\"1815\",\"on\",\"12345\"\n";
const JSON: &str = "{\"id\":1000001,\"name\":\"Ada Lovelace\",\"mail\":\"ada@example.com\",\"city\":\"London\",\"state\":\"now active\"}\n";

fn main() {
    for (name, format, row) in [
        ("csv, no quotes", Format::Csv, PLAIN),
        ("csv, one quoted field", Format::Csv, ONE_QUOTED),
        ("csv, all fields quoted", Format::Csv, ALL_QUOTED),
        ("json lines", Format::JsonLines, JSON),
    ] {
        let file = row.as_bytes().repeat(FILE_BYTES / row.len());
        let fed = best_of(&file, || feed_in_blocks(format, &file));
        let held = best_of(&file, || records(format, &file).inspect(|span| _ = black_box(span)).count());
        println!("{name:<24} row {:>3} B   feed {fed:>5.2} GB/s   records() {held:>5.2} GB/s", row.len());
    }
}

fn feed_in_blocks(format: Format, file: &[u8]) -> usize {
    let mut cutter = Cutter::new(format);
    let mut rows = 0;
    for block in file.chunks(BLOCK_BYTES) {
        cutter.feed(block, &mut |span| {
            black_box(span);
            rows += 1;
        });
    }
    rows + usize::from(cutter.finish().is_some())
}

fn best_of(file: &[u8], cut: impl Fn() -> usize) -> f64 {
    let rates = (0..ROUNDS).map(|_| {
        let started = Instant::now();
        black_box(cut());
        file.len() as f64 / started.elapsed().as_secs_f64() / 1e9
    });
    rates.fold(0.0, f64::max)
}
