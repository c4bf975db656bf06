//! The environment of the cases: a release stack. Each case starts with new processes.

use crate::cases::Case;
use crate::run::{self, CaseResult, Input, Run};
use crate::{machine, rows};
use anyhow::{Context, Result};
use local_cloud::functions;
use local_cloud::project::Project;
use local_cloud::stack::Stack;
use local_cloud::state::State;
use longshore_cli::api::Api;
use longshore_cli::progress;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// The environment of the cases.
pub(crate) struct Bench<'a> {
    pub(crate) project: &'a Project,
    pub(crate) stack: &'a Stack<'a>,
    pub(crate) state: &'a State,
    /// Configured memory of all functions except the sweeper, which runs once a minute, independently of jobs.
    pub(crate) memory_mb: BTreeMap<String, u32>,
}

impl<'a> Bench<'a> {
    /// Reads the configuration of the functions.
    pub(crate) fn new(project: &'a Project, stack: &'a Stack<'a>, state: &'a State) -> Result<Self> {
        let mut memory_mb = BTreeMap::new();
        for function in functions::names(project)?.into_iter().filter(|name| name != "sweep") {
            let config = stack.cloud()?.function_config(state.physical_name(&function)?)?;
            memory_mb.insert(function, config.memory_mb);
        }
        Ok(Self { project, stack, state, memory_mb })
    }

    /// Returns a client of the API.
    pub(crate) fn api(&self) -> Api {
        Api::new(&self.state.api_url, self.state.token())
    }

    pub(crate) fn measure(&self, case: Case) -> Result<CaseResult> {
        let name = case.name();
        let step = progress::step(&name);
        let api = self.api();
        step.detail("starting new processes");
        self.replace_processes()?;
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
        let result = CaseResult { case, runs, load };
        let median = result.median();
        step.done_with(&format!("{:.2} s, {:.0} rows/s", median.seconds, median.rows_per_second()));
        Ok(result)
    }

    /// Reads all pages of a query.
    pub(crate) fn query(&self, request: &Value) -> Result<Vec<Value>> {
        let (cloud, mut request, mut items) = (self.stack.cloud()?, request.clone(), Vec::new());
        loop {
            let mut page = cloud.json("dynamodb", "DynamoDB_20120810.Query", &request)?;
            items.extend(page["Items"].as_array().cloned().unwrap_or_default());
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"].take();
            if request["ExclusiveStartKey"].is_null() {
                return Ok(items);
            }
        }
    }

    fn job(&self, api: &Api, input: &Input) -> Result<Run> {
        run::run(api, input, self.state, self.memory_mb.keys())
    }

    /// Replaces the functions' processes, because a process keeps the memory of its largest job.
    pub(crate) fn replace_processes(&self) -> Result<()> {
        let cloud = self.stack.cloud()?;
        for function in self.memory_mb.keys() {
            cloud.update_code(self.state.physical_name(function)?, &self.project.bootstrap(function))?;
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
