//! `bench`: measures speed, price, memory, cold starts and package sizes of release builds on a separate stack, and
//! compares them with the goals.
//!
//! The method is described in `infra/bench/README.md`; `results.md` beside it has the latest results of this command.

mod beside;
mod cases;
mod cold_start;
mod goals;
mod price;
mod reads;
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
use crate::{functions, guard, machine, progress, tools, up};
use anyhow::{Context, Result};
use cases::Case;
use run::{Input, Run};
use std::collections::BTreeMap;
use std::fs;

/// Options of `bench`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Leave out the million rows and the gigabyte (about a minute), and print the results without recording them
    #[arg(long)]
    quick: bool,
    /// Only measure a small job beside a large one, and the cost of reads
    #[arg(long, conflicts_with = "quick")]
    beside: bool,
    /// Leave the benchmark's stack running, for another run
    #[arg(long)]
    keep: bool,
}

/// All measurements.
struct Results {
    machine: Vec<(&'static str, String)>,
    cases: Vec<Measured>,
    cold_starts: Vec<cold_start::Median>,
    sizes: Vec<sizes::Size>,
    /// Configured memory by function.
    memory_mb: BTreeMap<String, u32>,
}

/// A case with its runs.
struct Measured {
    case: Case,
    runs: Vec<Run>,
    /// Load average at the start, without these jobs.
    load: Option<f64>,
}

impl Results {
    fn case(&self, mode: Mode, rows: u64) -> Option<&Measured> {
        self.cases.iter().find(|measured| measured.case.is(mode, rows))
    }
}

impl Measured {
    /// The run with the median duration; its calls and cost belong to that duration.
    fn middle(&self) -> &Run {
        self.middle_of(|run| run.seconds)
    }

    fn middle_of(&self, key: fn(&Run) -> f64) -> &Run {
        let mut runs: Vec<&Run> = self.runs.iter().collect();
        runs.sort_by(|a, b| key(a).total_cmp(&key(b)));
        runs[runs.len() / 2]
    }

    /// Peak memory over all runs, by function.
    fn peak_kib(&self) -> BTreeMap<&str, u64> {
        let mut peaks = BTreeMap::new();
        for (function, usage) in self.runs.iter().flat_map(|run| &run.functions) {
            let peak = peaks.entry(function.as_str()).or_default();
            *peak = usage.max_rss_kib.max(*peak);
        }
        peaks
    }
}

/// Runs the command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let project = project.with(Build::Release);
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
    println!("\n{text}");
    if options.quick { Ok(()) } else { record(&project, "results.md", &text) }
}

fn record(project: &Project, name: &str, text: &str) -> Result<()> {
    let path = project.root.join("infra/bench").join(name);
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("Recorded in {}.", project.short(&path));
    Ok(())
}

/// A small job beside a large one, and the cost of reading both.
struct BesideResults {
    machine: Vec<(&'static str, String)>,
    beside: beside::Beside,
    reads: Vec<reads::Read>,
}

fn measure_beside(project: &Project) -> Result<BesideResults> {
    let state = up::bring_up(project, &up::Options::default())?;
    let tools = tools::ensure(project)?;
    let stack = Stack { project, tools: &tools, endpoint: &state.emulator_url };
    let bench = Bench { project, stack: &stack, state: &state, functions: Vec::new() };
    let api = Api::new(&state.api_url, state.token());
    let (beside, large) = beside::measure(&bench, &api)?;
    let reads = reads::measure(&bench, &api, &large)?;
    Ok(BesideResults { machine: machine::describe(project)?, beside, reads })
}

fn measure(project: &Project, options: &Options) -> Result<Results> {
    let state = up::bring_up(project, &up::Options::default())?;
    let tools = tools::ensure(project)?;
    let stack = Stack { project, tools: &tools, endpoint: &state.emulator_url };
    let mut memory_mb = BTreeMap::new();
    // The sweeper runs once a minute, independent of the jobs.
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

/// The environment of the cases.
struct Bench<'a> {
    project: &'a Project,
    stack: &'a Stack<'a>,
    state: &'a State,
    /// All functions except the sweeper.
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

    /// Calls DynamoDB's own API.
    fn dynamodb(&self, operation: &str, request: &serde_json::Value) -> Result<serde_json::Value> {
        let config = ureq::Agent::config_builder().proxy(None).build();
        let answer = ureq::Agent::new_with_config(config)
            .post(format!("{}/", self.state.emulator_url))
            .header("X-Amz-Target", format!("DynamoDB_20120810.{operation}"))
            .header("Content-Type", "application/x-amz-json-1.0")
            .send(request.to_string())
            .context("DynamoDB gave no answer")?;
        let text = answer.into_body().with_config().limit(u64::MAX).read_to_string()?;
        serde_json::from_str(&text).with_context(|| format!("cannot make sense of {text}"))
    }

    fn job(&self, api: &Api, input: &Input) -> Result<Run> {
        run::run(api, input, self.state, &self.functions)
    }

    /// Replaces the functions' processes. A process keeps the memory of its largest job, so each case starts with new
    /// ones.
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

/// The smallest value that at least this share of the values does not exceed.
fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// The median; for an even number of values, the greater of the two in the middle.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
