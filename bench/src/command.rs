//! Options and steps of `bench`.

use crate::cases::Case;
use crate::environment::Bench;
use crate::results::{BesideResults, Results};
use crate::{beside, cases, cold_start, machine, report};
use anyhow::{Context, Result, ensure};
use local_cloud::project::{Build, Project};
use local_cloud::stack::Stack;
use local_cloud::{cargo, functions, guard, tools, up};
use longshore_cli::api::Api;
use longshore_cli::progress;
use std::collections::BTreeMap;
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
    /// Measure only whole jobs over in-memory services
    #[arg(long, conflicts_with_all = ["quick", "beside", "keep"])]
    memory: bool,
    /// Keep the benchmark's stack running, for another run
    #[arg(long)]
    keep: bool,
}

/// Runs the command.
pub fn run(project: &Project, options: &Options) -> Result<()> {
    let project = project.with(Build::Release);
    if options.memory {
        let text = measure_memory(&project)?;
        print(&format!("\n{text}"));
        return record(&project, "memory.md", &text);
    }
    let guard = guard::post(&project)?;
    if options.beside {
        let outcome = measure_beside(&project);
        if options.keep {
            guard.keep()?;
        }
        return record(&project, "beside.md", &report::write_beside(&outcome?));
    }
    let outcome = measure(&project, options);
    if options.keep {
        guard.keep()?;
    }
    let text = report::write(&outcome?);
    print(&format!("\n{text}"));
    if options.quick { Ok(()) } else { record(&project, "results.md", &text) }
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

fn measure_beside(project: &Project) -> Result<BesideResults> {
    let state = up::bring_up(project, &up::Options::default())?;
    let tools = tools::ensure(project)?;
    let stack = Stack { project, tools: &tools, endpoint: &state.emulator_url };
    let bench = Bench { project, stack: &stack, state: &state, functions: Vec::new() };
    let api = Api::new(&state.api_url, state.token());
    let (beside, large) = beside::measure(&bench, &api)?;
    let reads = beside::measure_reads(&bench, &api, &large)?;
    Ok(BesideResults { machine: machine::describe(project)?, beside, reads })
}

/// Runs the jobs over in-memory services. Returns the document of their results.
fn measure_memory(project: &Project) -> Result<String> {
    let binaries = cargo::build_binaries(project, &["memory-bench".to_owned()])?;
    let program = binaries.get("memory-bench").context("cargo has not built memory-bench")?;
    let output = process::Command::new(program).stderr(process::Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the jobs over in-memory services failed: see above");
    Ok(report::write_memory(&machine::describe(project)?, &String::from_utf8(output.stdout)?))
}

fn measure(project: &Project, options: &Options) -> Result<Results> {
    let state = up::bring_up(project, &up::Options::default())?;
    let tools = tools::ensure(project)?;
    let stack = Stack { project, tools: &tools, endpoint: &state.emulator_url };
    let mut memory_mb = BTreeMap::new();
    // Without the sweeper, which runs once a minute, independently of jobs.
    for function in functions::names(project)?.into_iter().filter(|name| name != "sweep") {
        let config = stack.cloud()?.function_config(state.physical_name(&function)?)?;
        memory_mb.insert(function, config.memory_mb);
    }
    let step = progress::step("Cold starts");
    let cold_starts = cold_start::measure(project, &stack, &state)?;
    step.done();
    let cases: Vec<Case> = if options.quick { cases::QUICK.to_vec() } else { cases::all() };
    let bench = Bench { project, stack: &stack, state: &state, functions: memory_mb.keys().cloned().collect() };
    let cases: Result<Vec<_>> = cases.into_iter().map(|case| bench.measure(case)).collect();
    Ok(Results {
        machine: machine::describe(project)?,
        cases: cases?,
        cold_starts,
        sizes: cold_start::measure_sizes(project, &tools)?,
        memory_mb,
    })
}
