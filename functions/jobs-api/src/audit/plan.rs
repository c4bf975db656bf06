//! Checks the plan: splits the input into records again, and compares the chunks of the manifests with them.

use std::collections::BTreeSet;

use longshore::files::ResumingReader;
use longshore_domain::group::{ChunkPlan, Group};
use longshore_domain::job::SourceFile;
use longshore_domain::ports::{Files, PortResult};
use longshore_domain::records::{Cutter, Span};

use super::findings::Findings;
use super::ledger::Records;
use super::reading::{Streamed, stream};

/// Record counts at the byte offsets where chunks begin and end.
struct Ordinals {
    /// Byte offsets at which a chunk begins or ends, in order.
    places: Vec<u64>,
    /// Number of records that begin before each offset reached so far.
    before: Vec<u64>,
    records: u64,
}

impl Ordinals {
    fn new(places: BTreeSet<u64>) -> Self {
        Self { places: places.into_iter().collect(), before: Vec::new(), records: 0 }
    }

    fn take(&mut self, span: Span) {
        self.reach(span.start);
        self.records += 1;
    }

    /// Marks offsets up to `byte` as reached: no later record begins before it.
    fn reach(&mut self, byte: u64) {
        while self.places.get(self.before.len()).is_some_and(|place| *place <= byte) {
            self.before.push(self.records);
        }
    }

    fn before(&self, byte: u64) -> Option<u64> {
        let place = self.places.binary_search(&byte).ok()?;
        self.before.get(place).copied()
    }

    /// Returns the number of a chunk's first record and its record count, or `None` if the chunk was not reached.
    fn of_chunk(&self, plan: &ChunkPlan) -> Option<(u64, u64)> {
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
    let Some(source) = &records.job.source else { return Ok(()) };
    let places: BTreeSet<_> = ranges(records).flat_map(|(_, _, plan)| [plan.start, plan.end]).collect();
    let Some(start) = places.first().copied() else { return Ok(()) };
    let mut ordinals = Ordinals::new(places);
    match cut(files, source, start, in_time, &mut ordinals).await? {
        Some(Streamed::Whole) => {
            ordinals.reach(u64::MAX);
            if records.job.item_count_final() {
                findings.count("input_items", &source.name, records.job.split.item_count, ordinals.records);
            }
        }
        Some(Streamed::OutOfTime) => {
            findings.leave_out("input_items", "there was no time to read the whole input; its receipt has its SHA-256");
        }
        Some(Streamed::Absent) => findings.leave_out("input_items", "the file is not there any more"),
        None => findings.leave_out("input_items", "another file stands in the place of the input"),
    }
    for (group, chunk, plan) in ranges(records) {
        let Some((first, items)) = ordinals.of_chunk(plan) else { continue };
        let place = format!("chunk {chunk} of group {}", group.number);
        findings.count("planned_items", &place, plan.items.into(), items);
        findings.count("planned_numbers", &place, plan.first, first);
    }
    Ok(())
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
    ordinals: &mut Ordinals,
) -> PortResult<Option<Streamed>> {
    let mut cutter = Cutter::starting_at(source.format, start);
    let reader = ResumingReader::new(files, source, start);
    let mut take = |block: &[u8]| cutter.feed(block, &mut |span| ordinals.take(span));
    let streamed = stream(reader, in_time, &mut take).await?;
    if streamed == Some(Streamed::Whole)
        && let Some(last) = cutter.finish()
    {
        ordinals.take(last);
    }
    Ok(streamed)
}

#[cfg(test)]
mod tests {
    use longshore_domain::records::Format;

    use super::*;

    #[test]
    fn chunks_have_the_records_that_begin_in_them() {
        let text = b"1,a\n\n2,\"b\nb\"\n3,c\n";
        let mut ordinals = Ordinals::new([0, 5, 13, 17].into());
        let mut cutter = Cutter::new(Format::Csv);
        cutter.feed(text, &mut |span| ordinals.take(span));
        let chunk = |start, end| ChunkPlan { first: 1, items: 1, start, end, oversize: false };
        assert_eq!(ordinals.of_chunk(&chunk(0, 5)), Some((1, 1)));
        assert_eq!(ordinals.of_chunk(&chunk(5, 17)), None, "the end was not reached");
        ordinals.reach(u64::MAX);
        assert_eq!(ordinals.of_chunk(&chunk(5, 17)), Some((2, 2)));
        assert_eq!(ordinals.of_chunk(&chunk(0, 17)), Some((1, 3)));
    }
}
