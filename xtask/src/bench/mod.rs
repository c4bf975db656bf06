//! `bench`: speed, price, memory, cold start and size of release builds on a stack of their own, and the goals met or not.
//!
//! A figure is only worth something with the way it was made: `infra/bench/README.md` tells that, `results.md` beside it
//! is what this command wrote last.

mod cases;
mod cold_start;
mod goals;
mod machine;
mod price;
mod report;
mod rows;
mod run;
mod runtime_api;
mod sizes;
mod usage;

use crate::api::{Api, Mode};
use crate::project::{Build, Project};
use crate::stack::Stack;
use crate::state::State;
use crate::{functions, guard, progress, tools, up};
use anyhow::{Context, Result};
use cases::Case;
use run::{Input, Run};
use std::collections::BTreeMap;
use std::fs;

/// What `bench` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Leave out the million rows and the gigabyte, and print the results without recording them
    #[arg(long)]
    quick: bool,
    /// Leave the benchmark's stack running, for another run
    #[arg(long)]
    keep: bool,
}

/// Everything that was measured.
struct Results {
    machine: Vec<(&'static str, String)>,
    cases: Vec<Measured>,
    cold_starts: Vec<cold_start::Median>,
    sizes: Vec<sizes::Size>,
    /// By function.
    memory_mb: BTreeMap<String, u32>,
}

/// A case with its runs.
struct Measured {
    case: Case,
    runs: Vec<Run>,
    /// Processes that wanted a core when it began, beyond these jobs.
    load: Option<f64>,
}

impl Results {
    fn case(&self, mode: Mode, rows: u64) -> Option<&Measured> {
        self.cases.iter().find(|measured| measured.case.is(mode, rows))
    }
}

impl Measured {
    /// The run in the middle by its duration: what it called and cost belongs to that duration.
    fn middle(&self) -> &Run {
        self.middle_of(|run| run.seconds)
    }

    fn middle_of(&self, key: fn(&Run) -> f64) -> &Run {
        let mut runs: Vec<&Run> = self.runs.iter().collect();
        runs.sort_by(|a, b| key(a).total_cmp(&key(b)));
        runs[runs.len() / 2]
    }

    /// Of any run, by function.
    fn peak_kib(&self) -> BTreeMap<&str, u64> {
        let mut peaks = BTreeMap::new();
        for (function, usage) in self.runs.iter().flat_map(|run| &run.functions) {
            let peak = peaks.entry(function.as_str()).or_default();
            *peak = usage.max_rss_kib.max(*peak);
        }
        peaks
    }
}

/// The command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let project = project.with(Build::Release);
    let guard = guard::post(&project)?;
    let outcome = measure(&project, options);
    if options.keep {
        guard.keep()?;
    }
    let text = report::write(&outcome?);
    println!("\n{text}");
    if !options.quick {
        let path = project.root.join("infra/bench/results.md");
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("Recorded in {}.", project.short(&path));
    }
    Ok(())
}

fn measure(project: &Project, options: &Options) -> Result<Results> {
    let state = up::bring_up(project, &up::Options::default())?;
    let tools = tools::ensure(project)?;
    let stack = Stack { project, tools: &tools, endpoint: &state.emulator_url };
    let mut memory_mb = BTreeMap::new();
    // The sweeper comes once a minute, whatever runs.
    for function in functions::names(project)?.into_iter().filter(|name| name != "sweep") {
        let config = stack.config(state.physical_name(&function)?)?;
        memory_mb.insert(function, config.memory_mb);
    }
    let step = progress::step("Cold starts");
    let cold_starts = cold_start::measure(project, &stack, &state)?;
    step.done();
    let cases = cases::all(options.quick);
    let bench = Bench { project, stack: &stack, state: &state, functions: memory_mb.keys().cloned().collect() };
    let cases: Result<Vec<_>> = cases.into_iter().map(|case| bench.of_case(case)).collect();
    Ok(Results {
        machine: machine::describe(project)?,
        cases: cases?,
        cold_starts,
        sizes: sizes::measure(project, &tools)?,
        memory_mb,
    })
}

/// What the cases are run on.
struct Bench<'a> {
    project: &'a Project,
    stack: &'a Stack<'a>,
    state: &'a State,
    /// All but the sweeper.
    functions: Vec<String>,
}

impl Bench<'_> {
    fn of_case(&self, case: Case) -> Result<Measured> {
        let name = case.name();
        let step = progress::step(&name);
        let api = Api::new(&self.state.api_url, self.state.token());
        step.detail("new processes");
        self.renew_processes()?;
        let warm_up = Case { rows: case.rows.min(10_000), ..case };
        self.job(&api, &input(self.project, warm_up, "warm-up")?).context("the warm-up failed")?;
        let mut input = input(self.project, case, "")?;
        let load = machine::load();
        let mut runs = Vec::new();
        for n in 0..case.runs {
            step.detail(&format!("run {} of {}", n + 1, case.runs));
            input.dataset = format!("bench-{}-{}-{n}", case.rows, std::process::id());
            runs.push(self.job(&api, &input).with_context(|| format!("{name}, run {}", n + 1))?);
        }
        fs::remove_file(&input.path)?;
        let measured = Measured { case, runs, load };
        let middle = measured.middle();
        step.done_with(&format!("{:.2} s, {:.0} rows/s", middle.seconds, middle.rows_per_second()));
        Ok(measured)
    }

    fn job(&self, api: &Api, input: &Input) -> Result<Run> {
        run::run(api, input, self.state, &self.functions)
    }

    /// A process keeps the memory of its largest job: each case begins with new ones.
    fn renew_processes(&self) -> Result<()> {
        for function in &self.functions {
            self.stack.update_code(self.state.physical_name(function)?, &self.project.bootstrap(function))?;
        }
        Ok(())
    }
}

fn input(project: &Project, case: Case, suffix: &str) -> Result<Input> {
    let path = project.state_dir()?.join(format!("rows{suffix}.csv"));
    let size_bytes = rows::write(&path, case.rows, case.bad_every)?;
    let bad_rows = case.rows.checked_div(case.bad_every).unwrap_or(0);
    let dataset = format!("bench-warm-up-{}-{}", case.rows, std::process::id());
    Ok(Input { path, rows: case.rows, bad_rows, size_bytes, mode: case.mode, dataset })
}

/// The middle one of a few figures; an even number of them has two, of which this is the greater.
fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
