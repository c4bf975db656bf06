//! The faults of a game day, each with two variants, and how it is planted.

use std::fmt;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
#[cfg(test)]
use deployment::template::Template;
use fastrand::Rng;
use local_cloud::process::kill;
use longshore_domain::timestamp::Timestamp;
use longshore_tests::harness::backdoor::unsent_job_of;
use longshore_tests::harness::stack::Stack;
use serde_json::json;

#[cfg(test)]
use super::TEMPLATE;
use super::load::Load;
use crate::faults::server::source;

/// A fault.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Fault {
    /// A handler answers nothing valid, also to pings.
    PoisonedHandler,
    /// DynamoDB refuses requests of the jobs table.
    ThrottledTable,
    /// The receiver of webhooks is gone.
    DeadWebhook,
    /// Splits have no message, and the sweeper's schedule is disabled.
    StuckSplit,
    /// A function of others consumes a chunk queue.
    LostMessages,
    /// A function exits at its start.
    BadDeployment,
}

impl Fault {
    pub(super) const ALL: [Self; 6] = [
        Self::PoisonedHandler,
        Self::ThrottledTable,
        Self::DeadWebhook,
        Self::StuckSplit,
        Self::LostMessages,
        Self::BadDeployment,
    ];

    /// Names of the variants.
    const fn variants(self) -> [&'static str; 2] {
        match self {
            Self::PoisonedHandler => ["poisoned handler: it raises", "poisoned handler: it answers garbage"],
            Self::ThrottledTable => ["throttled table: writes", "throttled table: reads"],
            Self::DeadWebhook => ["dead webhook: it is down", "dead webhook: wrong certificate"],
            Self::StuckSplit => ["stuck split: message lost", "stuck split: splitters killed, messages lost"],
            Self::LostMessages => ["lost messages: chunks of imports", "lost messages: chunks of a registered type"],
            Self::BadDeployment => ["bad deployment: process-item", "bad deployment: call-handler"],
        }
    }
}

/// A fault in one of its variants.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) struct Drill {
    pub(super) fault: Fault,
    pub(super) variant: usize,
}

impl fmt::Display for Drill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.fault.variants()[self.variant])
    }
}

/// Age of the job whose message is lost: `doctor` finds jobs that wait longer than the default of
/// `OldestMessageAlarmSeconds`.
const STUCK_S: i64 = 4_200;

/// Time for which splitters are killed and their messages deleted.
const KILLS: Duration = Duration::from_secs(4);

/// Seconds after which a message is delivered again while its function crashes: a scaled visibility timeout. It is that
/// of the template afterwards.
const VISIBILITY_S: u32 = 10;

/// Name of a function of another team.
const CONSUMER: &str = "other-consumer";

/// Chunk queues by variant: output, function, and visibility timeout of the template in seconds.
pub(super) const QUEUES: [(&str, &str, u32); 2] =
    [("ChunkQueueUrl", "process-item", 90), ("HandlerChunkQueueUrl", "call-handler", 160)];

/// Operations that are throttled, by variant.
const THROTTLED: [&[&str]; 2] =
    [&["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"], &["GetItem", "Query", "BatchGetItem"]];

/// A program that exits at its start.
const BROKEN: &str = "#!/bin/sh\necho 'error: a bad deployment' >&2\nexit 1\n";

impl Drill {
    /// Every fault in both variants.
    #[cfg(test)]
    pub(super) fn all() -> impl Iterator<Item = Self> {
        Fault::ALL.into_iter().flat_map(|fault| [0, 1].map(|variant| Self { fault, variant }))
    }

    /// The same fault in its other variant.
    pub(super) fn other(self) -> Self {
        Self { variant: 1 - self.variant, ..self }
    }

    /// The faults of a day, in a random order and with random variants. `doctor` finds a throttled table for three
    /// minutes, so it is among the first three.
    pub(super) fn random_day(rng: &mut Rng) -> Vec<Self> {
        let mut faults = Fault::ALL;
        rng.shuffle(&mut faults);
        let throttled = faults.iter().position(|fault| *fault == Fault::ThrottledTable).unwrap_or_default();
        if throttled > 2 {
            faults.swap(throttled, rng.usize(..3));
        }
        faults.into_iter().map(|fault| Self { fault, variant: rng.usize(..2) }).collect()
    }

    /// Plants the fault.
    pub(super) fn plant(self, stack: &Stack, load: &Load<'_>, rng: &mut Rng) -> Result<()> {
        match self.fault {
            Fault::PoisonedHandler => load.deploy_handler(["raises", "garbage"][self.variant]),
            Fault::ThrottledTable => {
                load.call_much();
                self.throttle(stack)
            }
            Fault::DeadWebhook if self.variant == 0 => {
                load.receiver.stop();
                Ok(())
            }
            Fault::DeadWebhook => load.receiver.serve_with_another_certificate(),
            Fault::StuckSplit => self.lose_splits(stack, load, rng),
            Fault::LostMessages => {
                let file = source("tests/proof/game_day/consumer.py");
                stack.create_python_function(CONSUMER, "consumer.lambda_handler", &[file])?;
                stack.divert(QUEUES[self.variant].0, CONSUMER)
            }
            Fault::BadDeployment => {
                let ((queue, function, _), folder) = (QUEUES[self.variant], tempfile::tempdir()?);
                let program = folder.path().join("bootstrap");
                fs::write(&program, BROKEN)?;
                stack.set_visibility(queue, VISIBILITY_S)?;
                stack.deploy_program(function, &program)
            }
        }
    }

    fn throttle(self, stack: &Stack) -> Result<()> {
        let table = stack.output("JobsTableName")?;
        for operation in THROTTLED[self.variant] {
            stack.faults()?.add(&json!({
                "service": "dynamodb", "operation": operation, "body": format!("contains(to_string(@), '{table}')"),
                "error": { "code": "ProvisionedThroughputExceededException", "status": 400 },
            }))?;
        }
        Ok(())
    }

    /// Disables the schedule, writes a job whose message was never sent, and in one variant kills the splitters of
    /// other jobs and deletes their messages.
    fn lose_splits(self, stack: &Stack, load: &Load<'_>, rng: &mut Rng) -> Result<()> {
        stack.stop_schedule()?;
        let sample = Load::sample();
        let accepted_at = Timestamp::now().plus_seconds(-STUCK_S);
        let job = unsent_job_of(stack, "import", &sample.file, &sample.options(), accepted_at)?;
        load.adopt(job.job_id.to_string(), sample);
        let until = Instant::now() + if self.variant == 0 { Duration::ZERO } else { KILLS };
        let mut killed = 0;
        while Instant::now() < until {
            let splitters = stack.processes("CreateJobFunctionName")?;
            killed += splitters.into_iter().filter(|process| kill(*process).is_ok()).count();
            stack.purge("CreateJobQueueUrl")?;
            thread::sleep(Duration::from_millis(rng.u64(20..200)));
        }
        eprintln!("  {killed} splitters killed");
        Ok(())
    }

    /// Publishes the metrics that `doctor` reads of a service of which the emulator has none.
    pub(super) fn publish(self, stack: &Stack) -> Result<()> {
        if self.fault != Fault::ThrottledTable {
            return Ok(());
        }
        let metric = ["WriteThrottleEvents", "ReadThrottleEvents"][self.variant];
        let refused = stack.faults()?.fired()?;
        ensure!(refused > 0, "no request was throttled");
        stack.put_table_metric(stack.output("JobsTableName")?, metric, refused)
    }
}

#[test]
fn a_day_has_every_fault_once_and_what_lingers_is_not_last() {
    for seed in 0..100 {
        let drills = Drill::random_day(&mut Rng::with_seed(seed));
        assert_eq!(drills, Drill::random_day(&mut Rng::with_seed(seed)), "the seed repeats the day");
        assert_eq!(drills.len(), Fault::ALL.len());
        for fault in Fault::ALL {
            assert_eq!(drills.iter().filter(|drill| drill.fault == fault).count(), 1, "{fault:?}");
        }
        assert!(drills.last().is_some_and(|drill| drill.lingering().is_empty()), "{seed}");
    }
}

#[test]
fn a_stuck_job_is_older_than_the_limit_of_the_template() {
    let template = Template::parse(TEMPLATE).unwrap_or_else(|error| panic!("{error:?}"));
    let limit = template.section("Parameters").find(|(id, _)| *id == "OldestMessageAlarmSeconds");
    let limit = limit.and_then(|(_, parameter)| parameter["Default"].as_i64());
    assert!(limit.is_some_and(|limit| limit < STUCK_S), "{limit:?}");
}
