//! Options and steps of `bench`.

use crate::cases::Case;
use crate::environment::Bench;
use crate::results::{BesideResults, Results};
use crate::{beside, cases, cold_start, export, export_report, machine, report};
use anyhow::{Context, Result, ensure};
use local_cloud::project::{Build, Project};
use local_cloud::stack::Stack;
use local_cloud::{cargo, guard, tools, up};
use longshore_cli::progress;
use std::fs;
use std::io::{Write, stdout};
use std::process;

/// Options of `bench`.
#[derive(clap::Args)]
pub struct Options {
    /// Skip the cases with a million rows and with a gigabyte (takes about a minute), and do not record the results
    #[arg(long)]
    quick: bool,
    /// Measure only a small job beside a large one, and the cost of reads
    #[arg(long, conflicts_with = "quick")]
    beside: bool,
    /// Measure only an export beside a script that reads the same records; with `--quick`, of few records
    #[arg(long, conflicts_with = "beside")]
    export: bool,
    /// Measure only whole jobs over in-memory services
    #[arg(long, conflicts_with_all = ["quick", "beside", "export", "keep"])]
    memory: bool,
    /// Measure only remote handlers over in-memory services, and images
    #[arg(long, conflicts_with_all = ["quick", "beside", "export", "keep", "memory"])]
    handlers: bool,
    /// Measure only workbooks, compressed files and other encodings over in-memory services
    #[arg(long, conflicts_with_all = ["quick", "beside", "export", "keep", "memory", "handlers"])]
    files: bool,
    /// Keep the benchmark's stack running, for another run
    #[arg(long)]
    keep: bool,
}

/// Measurements over in-memory services, without a stack.
#[derive(Clone, Copy)]
struct InMemory {
    /// Command that makes them.
    command: &'static str,
    /// Argument of the program.
    argument: Option<&'static str>,
    /// File of the results.
    document: &'static str,
}

const MEMORY: InMemory = InMemory { command: "cargo xtask bench --memory", argument: None, document: "memory.md" };
const HANDLERS: InMemory =
    InMemory { command: "cargo xtask bench --handlers", argument: Some("handlers"), document: "handlers.md" };

const FILES: InMemory =
    InMemory { command: "cargo xtask bench --files", argument: Some("files"), document: "files.md" };

impl Options {
    fn in_memory(&self) -> Option<InMemory> {
        match self {
            Self { memory: true, .. } => Some(MEMORY),
            Self { handlers: true, .. } => Some(HANDLERS),
            _ => self.files.then_some(FILES),
        }
    }
}

/// A file of results, and its text.
type Document = (&'static str, String);

/// Runs the command.
pub fn run(project: &Project, options: &Options) -> Result<()> {
    let project = project.with(Build::Release);
    if let Some(program) = options.in_memory() {
        let text = measure_in_memory(&project, program)?;
        print(&format!("\n{text}"));
        return record(&project, program.document, &text);
    }
    let guard = guard::post(&project)?;
    let documents = measure_on_stack(&project, options);
    if options.keep {
        guard.keep()?;
    }
    for (name, text) in documents? {
        print(&format!("\n{text}"));
        if !options.quick {
            record(&project, name, &text)?;
        }
    }
    Ok(())
}

fn record(project: &Project, name: &str, text: &str) -> Result<()> {
    let path = project.root.join("bench").join(name);
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    print(&format!("Recorded in {}.", project.short(&path)));
    Ok(())
}

/// Prints text. Ignores a closed output, because the results must still be recorded.
fn print(text: &str) {
    let _ = writeln!(stdout(), "{text}");
}

/// Starts the stack, and runs the selected measurements on it.
fn measure_on_stack(project: &Project, options: &Options) -> Result<Vec<Document>> {
    let state = up::bring_up(project, &up::Options::default())?;
    let tools = tools::ensure(project)?;
    let stack = Stack { project, tools: &tools, endpoint: &state.emulator_url };
    let bench = Bench::new(project, &stack, &state)?;
    if options.beside {
        return Ok(vec![("beside.md", report::write_beside(&measure_beside(&bench)?))]);
    }
    let mut documents = Vec::new();
    if !options.export {
        documents.push(("results.md", report::write(&measure(&bench, options)?)));
    }
    if options.export || !options.quick {
        let records = if options.quick { export::QUICK_RECORDS } else { export::RECORDS };
        documents.push(("export.md", export_report::write(&export::measure(&bench, records)?)));
    }
    Ok(documents)
}

fn measure_beside(bench: &Bench<'_>) -> Result<BesideResults> {
    let api = bench.api();
    let (beside, large) = beside::measure(bench, &api)?;
    let reads = beside::measure_reads(bench, &api, &large)?;
    Ok(BesideResults { machine: machine::describe(bench.project)?, beside, reads })
}

/// Runs measurements over in-memory services. Returns the document of their results.
fn measure_in_memory(project: &Project, measurements: InMemory) -> Result<String> {
    let binaries = cargo::build_binaries(project, &["memory-bench".to_owned()])?;
    let program = binaries.get("memory-bench").context("cargo has not built memory-bench")?;
    let mut command = process::Command::new(program);
    let output = command.args(measurements.argument).stderr(process::Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the measurements over in-memory services failed: see above");
    let measured = String::from_utf8(output.stdout)?;
    Ok(report::write_in_memory(measurements.command, &machine::describe(project)?, &measured))
}

fn measure(bench: &Bench<'_>, options: &Options) -> Result<Results> {
    let step = progress::step("Cold starts");
    let cold_starts = cold_start::measure(bench.project, bench.stack, bench.state)?;
    step.done();
    let cases: Vec<Case> = if options.quick { cases::QUICK.to_vec() } else { cases::all() };
    let cases: Result<Vec<_>> = cases.into_iter().map(|case| bench.measure(case)).collect();
    Ok(Results {
        machine: machine::describe(bench.project)?,
        cases: cases?,
        cold_starts,
        sizes: cold_start::measure_sizes(bench.project, bench.stack.tools)?,
        memory_mb: bench.memory_mb.clone(),
    })
}
