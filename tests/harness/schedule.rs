//! The sweeper's own schedule, started and stopped as an operator does it.

use anyhow::Result;

use super::stack::{NAME, Stack};

impl Stack {
    /// From now on the sweeper runs every minute, counted from the deployment.
    ///
    /// # Errors
    /// If the stack has no such rule.
    pub fn start_schedule(&self) -> Result<()> {
        self.cloud.rule("EnableRule", &self.cloud.physical_id(NAME, RULE)?)
    }

    /// From now on it does not.
    ///
    /// # Errors
    /// If the stack has no such rule.
    pub fn stop_schedule(&self) -> Result<()> {
        self.cloud.rule("DisableRule", &self.cloud.physical_id(NAME, RULE)?)
    }
}

/// What SAM makes of the function `Sweep` and its event `EveryMinute`.
const RULE: &str = "SweepEveryMinute";
