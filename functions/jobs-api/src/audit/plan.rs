//! Checks the plan: splits the input into records again, and compares the chunks of the manifests with them. The input
//! of a job over a dataset, or over a part of another job, is its item files.

use std::collections::{BTreeMap, BTreeSet};

use longshore::files::ResumingReader;
use longshore_domain::group::{ChunkPlan, Group};
use longshore_domain::job::SourceFile;
use longshore_domain::ports::{Files, PortResult};
use longshore_domain::records::Span;

use super::findings::Findings;
use super::ledger::Records;
use super::reading::{Streamed, stream};

/// Record counts at the byte offsets where chunks begin and end.
struct RecordCounts {
    /// Byte offsets at which a chunk begins or ends, in order.
    offsets: Vec<u64>,
    /// Number of records that begin before each offset reached so far.
    before: Vec<u64>,
    records: u64,
}

impl RecordCounts {
    fn new(offsets: BTreeSet<u64>) -> Self {
        Self { offsets: offsets.into_iter().collect(), before: Vec::new(), records: 0 }
    }

    fn add(&mut self, span: Span) {
        self.reach(span.start);
        self.records += 1;
    }

    /// Marks offsets up to `byte` as reached: no later record begins before it.
    fn reach(&mut self, byte: u64) {
        while self.offsets.get(self.before.len()).is_some_and(|offset| *offset <= byte) {
            self.before.push(self.records);
        }
    }

    fn before(&self, byte: u64) -> Option<u64> {
        let index = self.offsets.binary_search(&byte).ok()?;
        self.before.get(index).copied()
    }

    /// Returns the number of a chunk's first record and its record count, or `None` if the chunk was not reached.
    fn records_of_chunk(&self, plan: &ChunkPlan) -> Option<(u64, u64)> {
        let (start, end) = (self.before(plan.start)?, self.before(plan.end)?);
        Some((start + 1, end - start))
    }
}

/// Compares the chunks that are ranges of the input with its records. Replanned items of a retry have no range.
pub(super) async fn check_plan(
    files: &impl Files,
    records: &Records,
    in_time: &(dyn Fn() -> bool + Sync),
    findings: &mut Findings,
) -> PortResult<()> {
    let Some(source) = records.job.file() else { return check_item_files(files, records, in_time, findings).await };
    let offsets: BTreeSet<_> = ranges(records).flat_map(|(_, _, plan)| [plan.start, plan.end]).collect();
    let Some(start) = offsets.first().copied() else { return Ok(()) };
    let mut record_counts = RecordCounts::new(offsets);
    match cut(files, source, start, in_time, &mut record_counts).await? {
        Some(Streamed::Complete) => {
            record_counts.reach(u64::MAX);
            if records.job.item_count_final() {
                let replanned = records.planned().filter(|(_, manifest)| records.is_replanned_by_import(manifest));
                let replanned: u64 = replanned.map(|(_, manifest)| manifest.items()).sum();
                let expected = records.job.split.item_count.saturating_sub(replanned);
                findings.count("input_items", &source.name, expected, record_counts.records);
            }
        }
        Some(Streamed::OutOfTime) => {
            findings.mark_unchecked(
                "input_items",
                "there was not enough time to read the whole input; compare it with the SHA-256 in the receipt",
            );
        }
        Some(Streamed::Absent) => findings.mark_unchecked("input_items", "the input file no longer exists"),
        None => findings.mark_unchecked("input_items", "the input has been replaced by another file"),
    }
    for (group, chunk, plan) in ranges(records) {
        let Some((first, items)) = record_counts.records_of_chunk(plan) else { continue };
        let place = format!("chunk {chunk} of group {}", group.number);
        findings.count("planned_items", &place, plan.items.into(), items);
        findings.count("planned_numbers", &place, plan.first, first);
    }
    Ok(())
}

/// Compares the chunks that are ranges of item files with the items in these files.
async fn check_item_files(
    files: &impl Files,
    records: &Records,
    in_time: &(dyn Fn() -> bool + Sync),
    findings: &mut Findings,
) -> PortResult<()> {
    for (file, chunks) in item_files(records).into_values() {
        let mut record_counts = RecordCounts::new(chunks.iter().flat_map(|(_, plan)| [plan.start, plan.end]).collect());
        let unchecked = match cut(files, &file, 0, in_time, &mut record_counts).await? {
            Some(Streamed::Complete) => None,
            Some(Streamed::OutOfTime) => Some("there was not enough time to read all files with items"),
            Some(Streamed::Absent) => Some("a file with items no longer exists"),
            None => Some("a file with items has been replaced by another file"),
        };
        if let Some(reason) = unchecked {
            findings.mark_unchecked("planned_items", reason);
            return Ok(());
        }
        record_counts.reach(u64::MAX);
        for (place, plan) in chunks {
            let items = record_counts.records_of_chunk(plan).map_or(0, |(_, items)| items);
            findings.count("planned_items", &place, plan.items.into(), items);
        }
    }
    Ok(())
}

/// An item file, with the places and plans of its chunks.
type PlannedItems<'a> = (SourceFile, Vec<(String, &'a ChunkPlan)>);

/// Returns the item files by their names.
fn item_files(records: &Records) -> BTreeMap<String, PlannedItems<'_>> {
    let mut item_files = BTreeMap::<_, PlannedItems<'_>>::new();
    for (group, chunk, plan) in ranges(records) {
        let Some(file) = records.job.chunk_file(plan) else { continue };
        let file = file.into_owned();
        let (known, chunks) = item_files.entry(file.key.clone()).or_insert_with(|| (file.clone(), Vec::new()));
        known.size_bytes = known.size_bytes.max(file.size_bytes);
        chunks.push((format!("chunk {chunk} of group {}", group.number), plan));
    }
    item_files
}

fn ranges(records: &Records) -> impl Iterator<Item = (&Group, u32, &ChunkPlan)> {
    let chunks = records
        .planned()
        .flat_map(|(group, manifest)| (0..).zip(&manifest.chunks).map(move |(number, plan)| (group, number, plan)));
    chunks.filter(|(_, _, plan)| plan.start < plan.end)
}

async fn cut(
    files: &impl Files,
    source: &SourceFile,
    start: u64,
    in_time: &(dyn Fn() -> bool + Sync),
    record_counts: &mut RecordCounts,
) -> PortResult<Option<Streamed>> {
    let mut cutter = source.cutter(start);
    let reader = ResumingReader::new(files, source, start);
    let mut take = |block: &[u8]| cutter.feed(block, &mut |span| record_counts.add(span));
    let streamed = stream(reader, in_time, &mut take).await?;
    if streamed == Some(Streamed::Complete)
        && let Some(last) = cutter.finish()
    {
        record_counts.add(last);
    }
    Ok(streamed)
}

#[cfg(test)]
mod tests {
    use longshore_domain::records::{Cutter, Format};

    use super::*;

    #[test]
    fn a_chunk_has_the_records_that_begin_in_it() {
        let text = b"1,a\n\n2,\"b\nb\"\n3,c\n";
        let mut record_counts = RecordCounts::new([0, 5, 13, 17].into());
        let mut cutter = Cutter::new(Format::Csv);
        cutter.feed(text, &mut |span| record_counts.add(span));
        let chunk = |start, end| ChunkPlan { first: 1, items: 1, start, end, oversize: false, keys: None };
        assert_eq!(record_counts.records_of_chunk(&chunk(0, 5)), Some((1, 1)));
        assert_eq!(record_counts.records_of_chunk(&chunk(5, 17)), None, "the end was not reached");
        record_counts.reach(u64::MAX);
        assert_eq!(record_counts.records_of_chunk(&chunk(5, 17)), Some((2, 2)));
        assert_eq!(record_counts.records_of_chunk(&chunk(0, 17)), Some((1, 3)));
    }
}
