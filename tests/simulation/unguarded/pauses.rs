//! Pauses that one kind of function does not see.

use longshore_domain::pause::Pause;
use longshore_domain::ports::{PauseOutcome, PauseRecords, Pauses, PortResult};
use longshore_testing::MemoryStore;

use super::{Unguarded, as_is, without};
use crate::trace;

/// Conditions, and the functions that see no pause without them.
const UNSEEN: [(&str, &[&str]); 3] = [
    ("no-item-during-a-pause", &["work"]),
    ("no-push-during-a-pause", &["sweep"]),
    ("no-split-during-a-pause", &["split", "prepare"]),
];

impl Pauses for Unguarded<MemoryStore> {
    async fn pauses(&self) -> PortResult<Vec<Pause>> {
        let function = trace::function_name();
        if UNSEEN.iter().any(|(condition, functions)| functions.contains(&function) && without(condition)) {
            return Ok(Vec::new());
        }
        self.0.pauses().await
    }
}

impl PauseRecords for Unguarded<MemoryStore> {
    as_is! {
        async fn put_pause(&self, pause: &Pause) -> PortResult<PauseOutcome>;
        async fn end_pause(&self, pause: &Pause) -> PortResult<()>;
    }
}
