//! The billed units of an attempt, which its commits record.

use longshore_domain::cost::{ChunkUsage, Units};
use longshore_domain::timestamp::Timestamp;

use super::worker::CostMeter;

/// The units of an attempt since its last commit.
#[derive(Copy, Clone, Debug)]
pub(super) struct AttemptUsage {
    meter: CostMeter,
    since: Timestamp,
    units: Units,
    /// Deliveries that no commit has recorded yet: this one and the failed ones before it, until the first commit.
    deliveries: u64,
    /// Reads of an earlier delivery that no commit has recorded.
    carried_reads: u64,
    /// Usage that the last commit has recorded.
    pub(super) recorded: ChunkUsage,
}

impl AttemptUsage {
    /// Begins with a delivery whose first reading of the meter was this one, and with the reads that an earlier one has
    /// left.
    pub(super) fn new(meter: CostMeter, units: Units, carried_reads: u64, now: Timestamp) -> Self {
        Self { meter, since: now, units, deliveries: 1, carried_reads, recorded: ChunkUsage::default() }
    }

    /// Adds the deliveries of the message that have failed before. One that committed before it failed counts twice.
    pub(super) fn after_failures(self, failures: u32) -> Self {
        Self { deliveries: self.deliveries + u64::from(failures), ..self }
    }

    /// Returns the units up to a commit at this time, with its own write. The next ones are those after it.
    pub(super) fn take(&mut self, at: Timestamp) -> ChunkUsage {
        let Units { writes, reads, object_writes, .. } = (self.meter.read)() - self.units;
        let worked_ms = at.millis_since(self.since) as f64;
        self.since = at;
        self.recorded = ChunkUsage {
            gb_ms: (worked_ms * self.meter.gb()).round() as u64,
            deliveries: std::mem::take(&mut self.deliveries),
            writes: writes + 1,
            reads: reads + std::mem::take(&mut self.carried_reads),
            object_writes,
        };
        self.recorded
    }

    /// Returns the reads that no commit has recorded: those since the last commit. Before the first one, only those of
    /// earlier deliveries, because a delivery without a commit adds nothing.
    pub(super) fn unrecorded_reads(&self) -> u64 {
        if self.deliveries > 0 { self.carried_reads } else { ((self.meter.read)() - self.units).reads }
    }

    /// Leaves out the calls of the commit, which its usage has already.
    pub(super) fn committed(&mut self) {
        self.units = (self.meter.read)();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn each_commit_records_what_was_used_since_the_last_one() {
        let read = || Units { writes: 8, reads: 2, ..Units::NONE };
        let meter = CostMeter { read, memory_mb: 2_048, ..CostMeter::default() };
        let mut usage = AttemptUsage::new(meter, Units { writes: 5, ..Units::NONE }, 0, Timestamp(1_000));
        let first = ChunkUsage { gb_ms: 3_000, deliveries: 1, writes: 4, reads: 2, object_writes: 0 };
        assert_eq!(usage.take(Timestamp(2_500)), first);
        usage.committed();
        assert_eq!(usage.take(Timestamp(2_500)), ChunkUsage { writes: 1, ..ChunkUsage::default() });
    }

    thread_local! {
        static READS: Cell<u64> = const { Cell::new(0) };
    }

    #[test]
    fn reads_after_the_last_commit_of_a_delivery_are_recorded_by_the_next_one() {
        let meter = CostMeter { read: || Units { reads: READS.get(), ..Units::NONE }, ..CostMeter::default() };
        let begin = |carried| AttemptUsage::new(meter, (meter.read)(), carried, Timestamp(0));
        let read = |number: u64| READS.set(READS.get() + number);
        let mut first = begin(0);
        read(2);
        assert_eq!(first.unrecorded_reads(), 0, "a delivery without a commit adds nothing");
        assert_eq!(first.take(Timestamp(1)).reads, 2);
        first.committed();
        read(7);
        let mut second = begin(first.unrecorded_reads());
        read(2);
        assert_eq!(second.unrecorded_reads(), 7, "the next one has not committed");
        assert_eq!(second.take(Timestamp(2)).reads, 9);
        second.committed();
        assert_eq!((second.unrecorded_reads(), second.take(Timestamp(3)).reads), (0, 0));
    }
}
