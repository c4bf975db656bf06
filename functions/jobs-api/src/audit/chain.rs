//! The lines of a chunk's work files. They are parsed here independently, not by the code that workers and completion
//! share, so the audit compares two implementations.

use std::collections::BTreeMap;

use longshore_domain::cursor::Cursor;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::ChunkId;
use longshore_domain::work_file::WorkFileHeader;
use serde::Deserialize;

use super::items::ItemSet;
use super::results::slice_number;

/// The items that ended without success, and the outputs of the others.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct Recorded {
    pub(super) failed: ItemSet,
    pub(super) skipped: ItemSet,
    /// Slices of the results.
    pub(super) slices: ItemSet,
    /// Rows of these slices.
    pub(super) outputs: u64,
}

impl Recorded {
    /// Adds the items and outputs of other files.
    pub(super) fn add(&mut self, other: &Self) {
        self.failed.add(other.failed);
        self.skipped.add(other.skipped);
        self.slices.add(other.slices);
        self.outputs = self.outputs.saturating_add(other.outputs);
    }
}

/// The counted lines of a chunk's work files. Pure.
#[derive(Debug, Default)]
pub(super) struct Chain {
    pub(super) recorded: Recorded,
    /// Items that each round deferred to the next one.
    transient: BTreeMap<u32, u64>,
}

/// A line below the first.
#[derive(Deserialize)]
struct Line {
    n: u64,
    end: End,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum End {
    Failed,
    Skipped,
    Transient,
}

impl Chain {
    /// Parses the work file of a commit, and returns the token of the previous one.
    pub(super) fn take(&mut self, bytes: &[u8], id: ChunkId, token: &str) -> Result<Option<String>, serde_json::Error> {
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let WorkFileHeader { round, prev, outputs, .. } = serde_json::from_slice(lines.next().unwrap_or_default())?;
        if let Some(outputs) = outputs {
            self.recorded.slices.take(slice_number(id, token, &outputs));
            self.recorded.outputs = self.recorded.outputs.saturating_add(outputs.rows);
        }
        for line in lines.filter(|line| !line.is_empty()) {
            let Line { n, end } = serde_json::from_slice(line)?;
            match end {
                End::Failed => self.recorded.failed.take(n),
                End::Skipped => self.recorded.skipped.take(n),
                End::Transient => *self.transient.entry(round).or_default() += 1,
            }
        }
        Ok(prev)
    }

    /// Returns the items that this round deferred to the next one.
    pub(super) fn waiting(&self, round: u32) -> u64 {
        self.transient.get(&round).copied().unwrap_or_default()
    }

    /// Returns the ended items of the chunk, or `None` if cursor and files contradict each other.
    ///
    /// A later round processes the items that the previous round deferred; all other items of the chunk have ended.
    pub(super) fn ended(&self, cursor: &Cursor, plan: &ChunkPlan) -> Option<u64> {
        let (items, position, waiting) = (plan.items.into(), cursor.position.into(), self.waiting(cursor.round));
        let remaining = match cursor.round.checked_sub(1) {
            _ if cursor.finished => waiting,
            None => u64::checked_sub(items, position)? + waiting,
            Some(previous) => self.waiting(previous).checked_sub(position)? + waiting,
        };
        items.checked_sub(remaining)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = r#"{"round":0,"prev":null}
{"n":7,"end":"failed","code":"bad","field":null,"message":"n\"o","raw":"a,\"b"}
{"n":8,"end":"transient","attempts":1,"reason":"busy","raw":"x"}
{"n":9,"end":"transient","attempts":1,"reason":"busy","raw":"x"}
"#;
    const SECOND: &str = r#"{"round":1,"prev":"a1"}
{"n":8,"end":"skipped","reason":"asked","raw":"x","damaged":true}
"#;

    fn take(chain: &mut Chain, bytes: &[u8]) -> Result<Option<String>, serde_json::Error> {
        chain.take(bytes, ChunkId::new(0, 0), "t1")
    }

    fn ended(chain: &Chain, text: &str) -> Option<u64> {
        let plan = ChunkPlan { first: 7, items: 5, start: 0, end: 9, oversize: false, keys: None };
        chain.ended(&Cursor::parse(text).unwrap(), &plan)
    }

    #[test]
    fn ended_items_are_those_before_the_cursor_that_were_not_deferred() {
        let mut chain = Chain::default();
        assert_eq!(take(&mut chain, FIRST.as_bytes()).unwrap(), None);
        assert_eq!(ended(&chain, "0.3.t1.a1.2.-"), Some(1), "7 has failed");
        assert_eq!(ended(&chain, "0.5.t1.a1.2.-"), Some(3));
        assert_eq!(ended(&chain, "1.0.t1.a1.0.9"), Some(3), "8 and 9 wait");
        assert_eq!(ended(&chain, "0.6.t1.a1.2.-"), None, "more items than the chunk has");
        assert_eq!(ended(&chain, "1.3.t1.a1.0.9"), None, "more items than were deferred");
        assert_eq!(take(&mut chain, SECOND.as_bytes()).unwrap().as_deref(), Some("a1"));
        assert_eq!(ended(&chain, "1.1.t2.b1.0.9"), Some(4), "9 waits");
        assert_eq!(ended(&chain, "1.F.t3.b1.0.-"), Some(5));
        assert_eq!((chain.recorded.failed.items(), chain.recorded.skipped.items()), (1, 1));
        assert!(take(&mut chain, b"{\"round\":1}\n{\"n\":1}\n").is_err());
        assert!(take(&mut chain, b"").is_err());
    }
}
