//! Waits with a limit.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// Maximum time for each stage of a fault.
pub(super) const TIMEOUT: Duration = Duration::from_secs(120);

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(500);

/// Waits until a condition is met.
pub(super) fn until(condition: &str, limit: Duration, mut is_met: impl FnMut() -> Result<bool>) -> Result<()> {
    until_some(condition, limit, || Ok(is_met()?.then_some(())))
}

/// Waits for a value.
pub(super) fn until_some<T>(
    condition: &str,
    limit: Duration,
    mut find: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(found) = find()? {
            return Ok(found);
        }
        if Instant::now() > deadline {
            bail!("not in time: {condition}");
        }
        thread::sleep(PAUSE);
    }
}
