//! Recounts the work files: compares every item in them with the counts of the ledger and the rows of the report.
//!
//! The lines are parsed here independently, not by the code that workers and completion share, so the comparison is of
//! two implementations. Only files that a cursor refers to are read; they never change.

use std::collections::BTreeMap;

use futures::{FutureExt, StreamExt, stream};
use longshore::chunk::concurrent_reads;
use longshore::ports::JobFolder;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Group, Manifest};
use longshore_domain::ids::ChunkId;
use longshore_domain::ports::{Files, PortResult, Read};
use longshore_domain::work_file::WorkFileHeader;
use serde::Deserialize;

use super::findings::Findings;
use super::ledger::{Records, place};
use super::report::Reported;
use super::rows::ItemSet;

/// Maximum groups whose work files are read concurrently.
const READS: usize = 16;

/// The work files of a job.
pub(super) struct WorkAudit<'a, F> {
    pub(super) files: &'a F,
    pub(super) records: &'a Records,
    /// Returns true while files may still be read.
    pub(super) in_time: &'a (dyn Fn() -> bool + Sync),
}

/// Returns the bytes of the largest chunk of a group, with all entries that its work files may have.
pub(super) fn largest_chunk(group: &Group, manifest: &Manifest) -> u64 {
    let chunks = (0..).zip(&manifest.chunks).map(|(chunk, plan)| {
        let cursor = group.cursors.get(&chunk).filter(|cursor| cursor.file.is_some());
        plan.end - plan.start + cursor.map_or(0, |cursor| group.entries_bytes(cursor, u64::from(plan.items)))
    });
    chunks.max().unwrap_or(0)
}

/// The work files of a group, as far as they could be read.
#[derive(Debug, Default)]
struct GroupWork {
    /// Items that ended.
    ended: u64,
    /// Items that chunks deferred in their current round.
    waiting: u64,
    unsuccessful: UnsuccessfulItems,
    /// Numbers of the chunks whose work files cannot be parsed.
    damaged: Vec<u32>,
    absent: bool,
    out_of_time: bool,
}

impl GroupWork {
    fn is_complete(&self) -> bool {
        self.damaged.is_empty() && !self.absent && !self.out_of_time
    }
}

impl<F: Files> WorkAudit<'_, F> {
    /// Makes every comparison that needs the work files.
    pub(super) async fn check(self, reported: &Reported, findings: &mut Findings) -> PortResult<()> {
        let groups: Vec<_> = self.records.planned().collect();
        let reads: Vec<_> = groups.iter().map(|(group, manifest)| self.read_group(group, manifest).boxed()).collect();
        let mut reads = stream::iter(reads).buffered(self.at_once());
        let (mut own, mut all) = (UnsuccessfulItems::default(), UnsuccessfulItems::default());
        let (mut absent, mut out_of_time, mut complete) = (false, false, true);
        for (group, _) in &groups {
            let Some(work) = reads.next().await.transpose()? else { break };
            check_group(group, &work, findings);
            all.add(&work.unsuccessful);
            if self.records.job.owns(group.number) {
                own.add(&work.unsuccessful);
            }
            absent |= work.absent;
            out_of_time |= work.out_of_time;
            complete &= work.is_complete();
        }
        if absent {
            findings.mark_unchecked("work_files", "some work files have expired");
        }
        if out_of_time {
            findings.mark_unchecked("work_files", "there was not enough time to read all work files");
        }
        if complete {
            // The report has the failed items of the current generation, and the skipped items of all generations.
            let sides = [("failed.csv", &reported.failed, own.failed), ("skipped.csv", &reported.skipped, all.skipped)];
            for (name, reported, recorded) in sides {
                let Some(reported) = reported else { continue };
                findings.count("work_rows", name, recorded.items(), reported.items());
                let items = "the items in the work files";
                findings.text(
                    "work_items",
                    name,
                    items,
                    Some(if *reported == recorded { items } else { "other items" }),
                );
            }
        }
        Ok(())
    }

    /// Returns the number of concurrent reads: fewer if chunks are large or have many entries, because an entry can be
    /// far larger than its row.
    fn at_once(&self) -> usize {
        let largest = self.records.planned().map(|(group, manifest)| largest_chunk(group, manifest)).max().unwrap_or(0);
        concurrent_reads(largest, READS)
    }

    async fn read_group(&self, group: &Group, manifest: &Manifest) -> PortResult<GroupWork> {
        let mut work = GroupWork::default();
        for (chunk, plan) in (0..).zip(&manifest.chunks) {
            let Some(cursor) = group.cursors.get(&chunk) else { continue };
            let Some(chain) = self.read_chain(ChunkId::new(group.number, chunk), cursor, &mut work).await? else {
                continue;
            };
            match chain.ended(cursor, plan) {
                Some(ended) => work.ended += ended,
                None => work.damaged.push(chunk),
            }
            work.waiting += chain.waiting(cursor.round);
            work.unsuccessful.add(&chain.unsuccessful);
        }
        Ok(work)
    }

    /// Reads the work files of a chunk, from its cursor back. Returns `None` if they cannot be read completely.
    async fn read_chain(&self, id: ChunkId, cursor: &Cursor, work: &mut GroupWork) -> PortResult<Option<Chain>> {
        let (mut chain, mut next) = (Chain::default(), cursor.file.clone());
        while let Some(token) = next {
            if !(self.in_time)() {
                work.out_of_time = true;
                return Ok(None);
            }
            let key = JobFolder::for_job(&self.records.job).chunk(id).work_key(&token);
            let Read::Found(bytes) = self.files.read(&key, None, None).await? else {
                work.absent = true;
                return Ok(None);
            };
            let Ok(prev) = chain.take(&bytes) else {
                work.damaged.push(id.chunk);
                return Ok(None);
            };
            next = prev;
        }
        Ok(Some(chain))
    }
}

/// Compares the work files of a group with the group's counts.
fn check_group(group: &Group, work: &GroupWork, findings: &mut Findings) {
    for chunk in &work.damaged {
        let place = format!("chunk {chunk} of group {}", group.number);
        findings.text("work_files", place, "the items before the cursor", None);
    }
    if !work.is_complete() {
        return;
    }
    let counts = group.counts;
    let deferred = group.cursors.values().map(|cursor| u64::from(cursor.deferred)).sum();
    findings.count("work_ended", place(group), counts.done(), work.ended);
    findings.count("work_failed", place(group), counts.failed, work.unsuccessful.failed.items());
    findings.count("work_skipped", place(group), counts.skipped, work.unsuccessful.skipped.items());
    findings.count("work_waiting", place(group), deferred, work.waiting);
}

/// Items that ended without success.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
struct UnsuccessfulItems {
    failed: ItemSet,
    skipped: ItemSet,
}

impl UnsuccessfulItems {
    /// Adds other items.
    fn add(&mut self, other: &Self) {
        self.failed.add(other.failed);
        self.skipped.add(other.skipped);
    }
}

/// The counted lines of a chunk's work files. Pure.
#[derive(Debug, Default)]
struct Chain {
    unsuccessful: UnsuccessfulItems,
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
    /// Parses a work file, and returns the token of the previous one.
    fn take(&mut self, bytes: &[u8]) -> Result<Option<String>, serde_json::Error> {
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let WorkFileHeader { round, prev, .. } = serde_json::from_slice(lines.next().unwrap_or_default())?;
        for line in lines.filter(|line| !line.is_empty()) {
            let Line { n, end } = serde_json::from_slice(line)?;
            match end {
                End::Failed => self.unsuccessful.failed.take(n),
                End::Skipped => self.unsuccessful.skipped.take(n),
                End::Transient => *self.transient.entry(round).or_default() += 1,
            }
        }
        Ok(prev)
    }

    /// Returns the items that this round deferred to the next one.
    fn waiting(&self, round: u32) -> u64 {
        self.transient.get(&round).copied().unwrap_or_default()
    }

    /// Returns the ended items of the chunk, or `None` if cursor and files contradict each other.
    ///
    /// A later round processes the items that the previous round deferred; all other items of the chunk have ended.
    fn ended(&self, cursor: &Cursor, plan: &ChunkPlan) -> Option<u64> {
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

    fn ended(chain: &Chain, text: &str) -> Option<u64> {
        let plan = ChunkPlan { first: 7, items: 5, start: 0, end: 9, oversize: false, keys: None };
        chain.ended(&Cursor::parse(text).unwrap(), &plan)
    }

    #[test]
    fn ended_items_are_those_before_the_cursor_that_were_not_deferred() {
        let mut chain = Chain::default();
        assert_eq!(chain.take(FIRST.as_bytes()).unwrap(), None);
        assert_eq!(ended(&chain, "0.3.t1.a1.2.-"), Some(1), "7 has failed");
        assert_eq!(ended(&chain, "0.5.t1.a1.2.-"), Some(3));
        assert_eq!(ended(&chain, "1.0.t1.a1.0.9"), Some(3), "8 and 9 wait");
        assert_eq!(ended(&chain, "0.6.t1.a1.2.-"), None, "more items than the chunk has");
        assert_eq!(ended(&chain, "1.3.t1.a1.0.9"), None, "more items than were deferred");
        assert_eq!(chain.take(SECOND.as_bytes()).unwrap().as_deref(), Some("a1"));
        assert_eq!(ended(&chain, "1.1.t2.b1.0.9"), Some(4), "9 waits");
        assert_eq!(ended(&chain, "1.F.t3.b1.0.-"), Some(5));
        assert_eq!((chain.unsuccessful.failed.items(), chain.unsuccessful.skipped.items()), (1, 1));
        assert!(chain.take(b"{\"round\":1}\n{\"n\":1}\n").is_err());
        assert!(chain.take(b"").is_err());
    }
}
