//! States of alarms.

use anyhow::Result;
use serde_json::json;

use super::stack::{NAME, Stack};

impl Stack {
    /// Sets the state of an alarm, by its id in the template. The stack must have an emulator of this process.
    ///
    /// # Errors
    /// If there is no such alarm.
    pub fn set_alarm(&self, id: &str, state: &str) -> Result<()> {
        let name = self.cloud.physical_id(NAME, id)?;
        let request = json!({ "AlarmName": name, "StateValue": state, "StateReason": "a test" });
        self.cloud.json("monitoring", "GraniteServiceVersion20100801.SetAlarmState", &request).map(drop)
    }
}
