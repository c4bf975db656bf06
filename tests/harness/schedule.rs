//! Start and stop of the sweeper's own schedule, as an operator does it.

use anyhow::Result;

use super::stack::{NAME, Stack};

impl Stack {
    /// Starts the schedule: the sweeper runs every minute, counted from the deployment.
    ///
    /// # Errors
    /// If the stack has no such rule.
    pub fn start_schedule(&self) -> Result<()> {
        self.cloud.rule("EnableRule", &self.cloud.physical_id(NAME, RULE)?)
    }

    /// Stops the schedule.
    ///
    /// # Errors
    /// If the stack has no such rule.
    pub fn stop_schedule(&self) -> Result<()> {
        self.cloud.rule("DisableRule", &self.cloud.physical_id(NAME, RULE)?)
    }
}

/// SAM's name of the rule for the function `Sweep` and its event `EveryMinute`.
const RULE: &str = "SweepEveryMinute";
