//! Speed of whole jobs over in-memory services: split, work and completion by the code of the functions, without a
//! network and without an emulator.
//!
//! Two workers take the chunks from the queue. Kinds of jobs alternate, so that a slow moment of the machine affects
//! all of them, and each kind's time is the median of its runs. The ratios within one run are the result; the absolute
//! figures are those of the machine. Each job has a process of its own, because the memory that an earlier job has left
//! makes the next one several times slower.
//!
//! The argument `handlers` measures remote handlers and images instead, and `files` workbooks, compressed files and
//! other encodings.

mod assembly;
mod bombs;
mod cases;
mod counted;
mod file_inputs;
mod files;
mod goal;
mod images;
mod job;
mod outputs;
mod records;
mod remote;
mod statistics;
mod table;

use anyhow::{Context, Result, ensure};
use bench::handler_price;
use cases::CASES;
use std::io::Write;
use std::process::{Command, Stdio};
use table::table;

/// Default number of rows of a job.
const ROWS: u64 = 1_000_000;

/// Default number of runs of each kind of job.
const RUNS: usize = 9;

/// Argument of the process that runs one job.
const CASE: &str = "job";

/// Argument that measures remote handlers and images.
const HANDLERS: &str = "handlers";

/// Prints the tables of all cases. Arguments: the number of rows, and of runs.
fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|argument| argument == assembly::ARGUMENT).is_some() {
        return assembly::run(&arguments.next().unwrap_or_default());
    }
    if arguments.next_if(|argument| argument == CASE).is_some() {
        return run_case(&arguments.next().unwrap_or_default(), parse(arguments.next(), ROWS)?);
    }
    if arguments.next_if(|argument| argument == files::ARGUMENT).is_some() {
        return match (arguments.next(), arguments.next()) {
            (Some(name), Some(input)) => files::run(&name, &input),
            _ => Ok(std::io::stdout().write_all(files::measure()?.as_bytes())?),
        };
    }
    if arguments.next_if(|argument| argument == remote::ARGUMENT).is_some() {
        return remote::run(&arguments.next().unwrap_or_default());
    }
    if arguments.next_if(|argument| argument == HANDLERS).is_some() {
        return measure_handlers();
    }
    let rows = parse(arguments.next(), ROWS)?;
    let runs = parse(arguments.next(), RUNS)?;
    let mut measured: Vec<Vec<job::Measured>> = CASES.iter().map(|_| Vec::new()).collect();
    for run in 1..=runs {
        for (case, measured) in CASES.iter().zip(&mut measured) {
            eprintln!("run {run} of {runs}: {}", case.name);
            measured.push(in_process(case.name, rows).with_context(|| case.name.to_owned())?);
        }
    }
    let mut out = std::io::stdout();
    out.write_all(table(rows, &measured).as_bytes())?;
    out.write_all(assembly::measure()?.as_bytes())?;
    Ok(())
}

/// Prints the tables of remote handlers and of images, with their goals.
fn measure_handlers() -> Result<()> {
    let (images, handlers) = (images::measure()?, remote::measure()?);
    let price = remote::priced(&handlers).map(handler_price::table).unwrap_or_default();
    let goals = goal::table(remote::goals(&handlers).into_iter().chain([images.goal()]));
    let mut out = std::io::stdout();
    for text in [goals, remote::tables(&handlers), images.table(), price] {
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// Runs one job in a new process of this program.
fn in_process(name: &str, rows: u64) -> Result<job::Measured> {
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args([CASE, name, &rows.to_string()]).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the process of the job failed");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Runs one job, and prints what was measured as JSON.
fn run_case(name: &str, rows: u64) -> Result<()> {
    let case = CASES.iter().find(|case| case.name == name).with_context(|| format!("there is no job {name}"))?;
    serde_json::to_writer(std::io::stdout(), &case.run(rows)?)?;
    Ok(())
}

fn parse<T: std::str::FromStr>(argument: Option<String>, default: T) -> Result<T> {
    let Some(text) = argument else { return Ok(default) };
    text.parse().ok().with_context(|| format!("{text} is not a number: usage: memory-bench [ROWS] [RUNS]"))
}
