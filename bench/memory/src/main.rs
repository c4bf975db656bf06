//! Speed of whole jobs over in-memory services: split, work and completion by the code of the functions, without a
//! network and without an emulator.
//!
//! Two workers take the chunks from the queue. Kinds of jobs alternate, so that a slow moment of the machine affects all
//! of them, and each kind's time is the median of its runs. The ratios within one run are the result; the absolute
//! figures are those of the machine. A gigabyte of outputs is assembled in processes of their own.

mod assembly;
mod cases;
mod counted;
mod job;
mod outputs;
mod records;
mod table;

use anyhow::{Context, Result};
use cases::CASES;
use std::io::Write;
use table::table;

/// Default number of rows of a job.
const ROWS: u64 = 1_000_000;

/// Default number of runs of each kind of job.
const RUNS: usize = 9;

/// Prints the tables of all cases. Arguments: the number of rows, and of runs.
fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|argument| argument == assembly::ARGUMENT).is_some() {
        return assembly::run(&arguments.next().unwrap_or_default());
    }
    let rows = parse(arguments.next(), ROWS)?;
    let runs = parse(arguments.next(), RUNS)?;
    let mut measured: Vec<Vec<job::Measured>> = CASES.iter().map(|_| Vec::new()).collect();
    for run in 1..=runs {
        for (case, measured) in CASES.iter().zip(&mut measured) {
            eprintln!("run {run} of {runs}: {}", case.name);
            measured.push(case.run(rows).with_context(|| case.name.to_owned())?);
        }
    }
    let mut out = std::io::stdout();
    out.write_all(table(rows, &measured).as_bytes())?;
    out.write_all(assembly::measure()?.as_bytes())?;
    Ok(())
}

fn parse<T: std::str::FromStr>(argument: Option<String>, default: T) -> Result<T> {
    let Some(text) = argument else { return Ok(default) };
    text.parse().ok().with_context(|| format!("{text} is not a number: usage: memory-bench [ROWS] [RUNS]"))
}
