//! The day: each fault is planted, signaled, found, fixed, and over.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use longshore_tests::harness::handlers::Endpoint;
use longshore_tests::harness::stack::Stack;

use super::control::{ACTION, Control};
use super::drill::{Drill, QUEUES};
use super::load::Load;
use super::monitor::Monitor;
use super::operator::{Finding, Findings, Operator};
use super::recovery::{self, Check};
use super::runbook::Runbook;
use super::stages::{Passed, Stages};
use super::waits::{TIMEOUT, until, until_some};

/// Time after which no further fault is planted.
const LIMIT: Duration = Duration::from_secs(780);

/// Maximum time at the end: `doctor` finds throttled requests for three minutes.
const END_TIMEOUT: Duration = Duration::from_secs(240);

/// The finding of messages about webhooks that failed at every delivery: a fault of the table can have them as a
/// consequence. An operator sends them again.
const WEBHOOK_DEAD_LETTERS: &str = "WebhookDeadLettersAlarm";

/// A stack, its load, and those who watch it.
pub(super) struct GameDay<'a> {
    pub(super) stack: &'a Stack,
    pub(super) load: Load<'a>,
    pub(super) monitor: Monitor<'a>,
    pub(super) operator: Operator<'a>,
    pub(super) runbook: Runbook,
    control: Control,
}

impl<'a> GameDay<'a> {
    /// Starts the load of a stack with these parameters.
    pub(super) fn start(stack: &'a Stack, endpoint: Endpoint, parameters: &[(&str, &str)]) -> Result<Self> {
        let control = Control::from_env();
        let monitor = Monitor::new(stack, parameters, &control)?;
        let operator = Operator::new(stack, &control)?;
        let (load, runbook) = (Load::start(stack, endpoint)?, Runbook::load());
        Ok(Self { stack, load, monitor, operator, runbook, control })
    }

    /// Plants all faults while the sweeper and CloudWatch run. Returns the violations.
    pub(super) fn run(&self, seed: u64) -> Result<Vec<String>> {
        thread::scope(|scope| {
            let _end = self.monitor.end_when_dropped();
            scope.spawn(|| self.monitor.sweep());
            scope.spawn(|| self.monitor.observe());
            self.plant_all(seed)
        })
    }

    fn plant_all(&self, seed: u64) -> Result<Vec<String>> {
        let (started, mut rng) = (Instant::now(), Rng::with_seed(seed));
        let (mut violations, mut lingering) = (Vec::new(), Vec::new());
        self.enable_ttl()?;
        self.await_quiet(&[]).context("before the first fault")?;
        for (number, drill) in (1..).zip(self.control.drills(&mut rng)) {
            ensure!(started.elapsed() < LIMIT, "{drill} is not planted: the day takes more than {LIMIT:?}");
            lingering.extend(drill.lingering());
            let passed = self.run_drill(drill, &mut rng, &lingering).with_context(|| format!("{drill}"))?;
            passed.record(number, seed, drill);
            violations.extend(passed.violations.into_iter().map(|violation| format!("{drill}: {violation}")));
        }
        until("doctor finds nothing", END_TIMEOUT, || self.is_clean(&[])).with_context(|| self.operator.describe())?;
        violations.append(&mut self.monitor.invalid_lines());
        Ok(violations)
    }

    /// Runs the commands of `doctor` that enable the time to live of the tables. The emulator ignores the template's.
    fn enable_ttl(&self) -> Result<()> {
        let found = self.operator.doctor()?;
        let disabled = found.0.iter().filter(|finding| finding.code == "ttl_disabled");
        disabled.map(Finding::command).try_for_each(|command| self.operator.run(command?))
    }

    /// Plants a fault, and leads the stack through all stages.
    fn run_drill(&self, drill: Drill, rng: &mut Rng, lingering: &[&str]) -> Result<Passed> {
        eprintln!("{drill}");
        until("no signal before the fault", TIMEOUT, || Ok(!self.monitor.sees(drill.signal())))?;
        let ((mut stages, action), refused) = self.load.during(&self.monitor, |load| {
            let mut stages = Stages::begin();
            drill.plant(self.stack, load, rng)?;
            let action = self.handle(drill, &mut stages)?;
            self.await_over(drill, |check| check == Check::ErrorShare)?;
            Ok((stages, action))
        })?;
        let repaired = self.repair_jobs(drill)?;
        let (compared, differences) = self.load.compare_all()?;
        self.await_quiet(lingering).context("after the action")?;
        self.await_over(drill, |check| check != Check::ErrorShare)?;
        stages.end("recovered");
        let action = [Some(action), repaired].into_iter().flatten().collect::<Vec<_>>().join("; ");
        Ok(Passed { stages, action, compared, violations: [refused, differences].concat() })
    }

    /// Waits for the signal and the findings of a fault, and acts. Returns what was done.
    fn handle(&self, drill: Drill, stages: &mut Stages) -> Result<String> {
        until("the signal", TIMEOUT, || Ok(self.monitor.sees(drill.signal())))
            .with_context(|| self.monitor.describe())?;
        self.monitor.with_cloudwatch(|cloudwatch, _| drill.check_links(cloudwatch, &self.runbook))?;
        stages.end("signal");
        let findings =
            self.find(drill).with_context(|| format!("{}; {}", self.operator.describe(), self.monitor.describe()))?;
        stages.end("finding");
        let action = if self.control.removes(ACTION) { "none".to_owned() } else { self.act(drill, &findings)? };
        stages.end("action");
        Ok(action)
    }

    fn find(&self, drill: Drill) -> Result<Findings> {
        drill.publish(self.stack)?;
        until_some("the finding", TIMEOUT, || {
            self.monitor.present()?;
            Ok(self.operator.doctor()?.filter_all(drill.codes()))
        })
    }

    /// Waits until no alarm is raised, and `doctor` finds nothing but what stays for minutes.
    fn await_quiet(&self, lingering: &[&str]) -> Result<()> {
        until("no alarm is raised", TIMEOUT, || Ok(self.monitor.is_quiet()))
            .with_context(|| self.monitor.describe())?;
        until("doctor finds nothing", TIMEOUT, || self.is_clean(lingering)).with_context(|| self.operator.describe())
    }

    fn is_clean(&self, lingering: &[&str]) -> Result<bool> {
        self.monitor.present()?;
        let found = self.operator.doctor()?;
        if found.0.iter().any(|finding| finding.code == WEBHOOK_DEAD_LETTERS) {
            self.runbook.check_says(WEBHOOK_DEAD_LETTERS, "aws sqs start-message-move-task")?;
            eprintln!("  redrive of {} messages", self.stack.redrive("WebhookDeadLetters", "WebhookQueueUrl")?);
        }
        Ok(found.0.iter().all(|finding| lingering.contains(&finding.code.as_str())))
    }

    /// Waits until the rows `over` of the fault's sections are met. Only those that are selected are looked at.
    fn await_over(&self, drill: Drill, is_selected: impl Fn(Check) -> bool) -> Result<()> {
        for section in drill.sections() {
            let check = recovery::check(section, &self.runbook)?;
            if is_selected(check) {
                until(&format!("{section} is over"), TIMEOUT, || self.is_over(check, drill))?;
            }
        }
        Ok(())
    }

    fn is_over(&self, check: Check, drill: Drill) -> Result<bool> {
        let is_met = self.monitor.with_cloudwatch(|cloudwatch, at_ms| check.is_met_by(cloudwatch, at_ms));
        Ok(is_met
            && match check {
                Check::NoDeadLetters | Check::NoCrash(_) => self.operator.dead_letters()?.is_empty(),
                Check::Delivered => self.load.are_delivered(&self.operator)?,
                Check::QueueIsRead => self.stack.depth(QUEUES[drill.variant].0)? == [0, 0],
                _ => true,
            })
    }
}
