//! The memory of a split: its peak, and a job type with chunks that are small in bytes.

use longshore::handler::{ItemKey, JobContext, JobType, Outcome, TypeLimits};
use serde_json::Value;

/// A job type with a small limit of bytes, so that only the size of the chunks bounds the number of groups.
pub(crate) struct Small;

impl JobType for Small {
    const NAME: &'static str = "small";
    const LIMITS: TypeLimits = TypeLimits { chunk_bytes: 32 << 10, ..TypeLimits::DEFAULT };
    type Options = Value;
    type Item = Value;
    type Output = ();

    async fn process(&self, _: &JobContext, _: &Value, _: ItemKey, _: Value) -> Outcome {
        Outcome::Ok(())
    }
}

/// Returns the peak resident size of this process, in bytes.
pub(crate) fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}
