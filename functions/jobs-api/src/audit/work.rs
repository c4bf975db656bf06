//! Recounts the work files: compares every item in them with the counts of the ledger and the rows of the report. Only
//! files that a cursor refers to are read; they never change.

use futures::{FutureExt, StreamExt, stream};
use longshore::chunk::concurrent_reads;
use longshore::ports::JobFolder;
use longshore::result::RESULTS_INDEX_NAME;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{Group, Manifest};
use longshore_domain::ids::ChunkId;
use longshore_domain::ports::{Files, PortResult, Read};

use super::chain::{Chain, Recorded};
use super::findings::Findings;
use super::ledger::{Records, place};
use super::report::Reported;

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
    recorded: Recorded,
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
        let (mut own, mut all) = (Recorded::default(), Recorded::default());
        let (mut absent, mut out_of_time, mut complete) = (false, false, true);
        for (group, _) in &groups {
            let Some(work) = reads.next().await.transpose()? else { break };
            self.check_group(group, &work, findings);
            all.add(&work.recorded);
            if self.records.job.owns(group.number) {
                own.add(&work.recorded);
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
            if let Some(slices) = reported.slices {
                let (index, outputs) = (RESULTS_INDEX_NAME, "the slices of the work files");
                findings.count("work_slices", index, all.slices.items(), slices.items());
                let found = if slices == all.slices { outputs } else { "other slices" };
                findings.text("work_outputs", index, outputs, Some(found));
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
            work.recorded.add(&chain.recorded);
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
            let Ok(prev) = chain.take(&bytes, id, &token) else {
                work.damaged.push(id.chunk);
                return Ok(None);
            };
            next = prev;
        }
        Ok(Some(chain))
    }

    /// Compares the work files of a group with the group's counts.
    fn check_group(&self, group: &Group, work: &GroupWork, findings: &mut Findings) {
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
        findings.count("work_failed", place(group), counts.failed, work.recorded.failed.items());
        findings.count("work_skipped", place(group), counts.skipped, work.recorded.skipped.items());
        findings.count("work_waiting", place(group), deferred, work.waiting);
        if self.records.results.is_some() {
            findings.count("work_succeeded", place(group), counts.succeeded, work.recorded.outputs);
        }
    }
}
