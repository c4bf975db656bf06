//! The times of the stages of a fault, and its row in the results.

use std::time::{Duration, Instant};

use super::drill::Drill;
use super::job_ends::Compared;

/// The time of each stage, in seconds.
#[derive(Clone, Debug)]
pub(super) struct Stages {
    began: Instant,
    seconds: Vec<(&'static str, f64)>,
}

impl Stages {
    /// Begins the first stage: the fault is planted.
    pub(super) fn begin() -> Self {
        Self { began: Instant::now(), seconds: Vec::new() }
    }

    /// Ends a stage; the next one begins.
    pub(super) fn end(&mut self, stage: &'static str) {
        let now = Instant::now();
        let took = now - std::mem::replace(&mut self.began, now);
        eprintln!("  {stage}: {:.1} s", took.as_secs_f64());
        self.seconds.push((stage, took.as_secs_f64()));
    }

    /// Time from the fault to the end of this stage.
    fn until(&self, stage: &str) -> Duration {
        let last = self.seconds.iter().position(|(name, _)| *name == stage).map_or(0, |index| index + 1);
        Duration::from_secs_f64(self.seconds[..last].iter().map(|(_, seconds)| seconds).sum())
    }
}

/// A fault that was fixed.
pub(super) struct Passed {
    pub(super) stages: Stages,
    pub(super) action: String,
    pub(super) compared: Compared,
    pub(super) violations: Vec<String>,
}

impl Passed {
    /// Records the row. All times are from the fault on.
    pub(super) fn record(&self, number: usize, seed: u64, drill: Drill) {
        let after = |stage| format!("{:.1}", self.stages.until(stage).as_secs_f64());
        let sections: Vec<_> = drill.sections().into_iter().collect();
        measurements::row(
            "game-day",
            &[
                ("order", &number),
                ("fault", &drill),
                ("signal", &drill.signal()),
                ("signal after s", &after("signal")),
                ("runbook", &sections.join(", ")),
                ("findings", &drill.codes().join(", ")),
                ("found after s", &after("finding")),
                ("action", &self.action),
                ("done after s", &after("action")),
                ("recovered after s", &after("recovered")),
                ("jobs", &self.compared.jobs),
                ("rows compared", &self.compared.rows),
                ("seed", &seed),
                ("violations", &self.violations.len()),
            ],
        );
    }
}

#[test]
fn the_time_of_a_stage_is_from_the_fault_on() {
    let seconds = vec![("signal", 3.0), ("finding", 2.0), ("action", 1.0)];
    let stages = Stages { seconds, ..Stages::begin() };
    assert_eq!(stages.until("finding"), Duration::from_secs(5));
    assert_eq!(stages.until("recovered"), Duration::ZERO, "it has not ended");
}
