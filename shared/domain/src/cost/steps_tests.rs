//! The formula beside the calls that an earlier run of the benchmark has counted. They are fixed here; `SINCE` lists the
//! calls that were added since.

use super::*;
use crate::cost::Prices;

/// A measured job: its calls by the functions that split it, process its chunks and end it.
struct Measured {
    name: &'static str,
    bytes: u64,
    groups: u64,
    chunks: u64,
    failed: u64,
    sends: u64,
    /// Invocations and seconds of the three functions.
    invocations: [(u64, f64); 3],
    calls: &'static [(&'static str, u64)],
    /// Records that were written, and commits.
    records: u64,
    commits: u64,
    work_files: u64,
}

const ROW_BYTES: u64 = 100;

/// Calls for each job since the measurement: the events of start and end are moved, each with a read of the endpoints;
/// the final status is written with the month's costs in a transaction, no longer by an update; and the end of the split
/// reads the definition.
const SINCE: [(&str, u64); 3] = [("DynamoDB.TransactWriteItems", 3), ("DynamoDB.Query", 2), ("DynamoDB.GetItem", 1)];

/// Indexes of jobs that project the status: `tenant` and `day`.
const INDEXES_OF_STATUS: u64 = 2;

const MEASURED: [Measured; 5] = [
    Measured {
        name: "validate 10 k",
        bytes: 10_000 * ROW_BYTES,
        groups: 4,
        chunks: 21,
        failed: 0,
        sends: 4,
        invocations: [(1, 0.12), (21, 0.30), (1, 0.01)],
        calls: &[
            ("DynamoDB.GetItem", 12),
            ("DynamoDB.Query", 1),
            ("DynamoDB.BatchGetItem", 21),
            ("DynamoDB.TransactWriteItems", 4),
            ("DynamoDB.UpdateItem", 29),
            ("S3.GetObject", 3),
            ("S3.PutObject", 2),
            ("SQS.SendMessageBatch", 4),
            ("SQS.SendMessage", 1),
        ],
        records: 0,
        commits: 21,
        work_files: 0,
    },
    Measured {
        name: "validate 100 k, 1 row in 100 fails",
        bytes: 100_000 * ROW_BYTES,
        groups: 5,
        chunks: 32,
        failed: 1_000,
        sends: 6,
        invocations: [(1, 0.09), (32, 0.68), (1, 0.04)],
        calls: &[
            ("DynamoDB.GetItem", 13),
            ("DynamoDB.Query", 1),
            ("DynamoDB.BatchGetItem", 32),
            ("DynamoDB.TransactWriteItems", 5),
            ("DynamoDB.UpdateItem", 41),
            ("S3.GetObject", 67),
            ("S3.PutObject", 35),
            ("SQS.SendMessageBatch", 6),
            ("SQS.SendMessage", 1),
        ],
        records: 0,
        commits: 32,
        work_files: 32,
    },
    Measured {
        name: "upsert 100 k",
        bytes: 100_000 * ROW_BYTES,
        groups: 5,
        chunks: 32,
        failed: 0,
        sends: 6,
        invocations: [(1, 0.52), (36, 92.48), (1, 0.02)],
        calls: &[
            ("DynamoDB.GetItem", 45),
            ("DynamoDB.Query", 1),
            ("DynamoDB.BatchGetItem", 36),
            ("DynamoDB.TransactWriteItems", 5),
            ("DynamoDB.UpdateItem", 113),
            ("DynamoDB.PutItem", 4),
            ("S3.GetObject", 35),
            ("S3.PutObject", 2),
            ("SQS.SendMessageBatch", 6),
            ("SQS.SendMessage", 1),
        ],
        records: 100_000,
        commits: 104,
        work_files: 0,
    },
    Measured {
        name: "validate 1 M",
        bytes: 1_000_000 * ROW_BYTES,
        groups: 5,
        chunks: 32,
        failed: 0,
        sends: 6,
        invocations: [(1, 0.38), (32, 1.79), (1, 0.20)],
        calls: &[
            ("DynamoDB.GetItem", 13),
            ("DynamoDB.Query", 1),
            ("DynamoDB.BatchGetItem", 32),
            ("DynamoDB.TransactWriteItems", 5),
            ("DynamoDB.UpdateItem", 41),
            ("S3.GetObject", 35),
            ("S3.PutObject", 2),
            ("SQS.SendMessageBatch", 6),
            ("SQS.SendMessage", 1),
        ],
        records: 0,
        commits: 32,
        work_files: 0,
    },
    Measured {
        name: "validate 1 GB",
        bytes: 10_000_000 * ROW_BYTES,
        groups: 18,
        chunks: 239,
        failed: 0,
        sends: 32,
        invocations: [(2, 4.71), (239, 20.33), (1, 2.43)],
        calls: &[
            ("DynamoDB.GetItem", 28),
            ("DynamoDB.Query", 1),
            ("DynamoDB.BatchGetItem", 239),
            ("DynamoDB.TransactWriteItems", 18),
            ("DynamoDB.UpdateItem", 266),
            ("S3.GetObject", 244),
            ("S3.PutObject", 2),
            ("SQS.SendMessageBatch", 32),
            ("SQS.SendMessage", 2),
        ],
        records: 0,
        commits: 243,
        work_files: 0,
    },
];

/// Returns the units of one measured call: its items are small.
fn units_of(call: &str) -> Units {
    let none = Units::NONE;
    match call {
        "DynamoDB.GetItem" | "DynamoDB.Query" => Units { reads: 1, ..none },
        // A group and its job.
        "DynamoDB.BatchGetItem" => Units { reads: 2, ..none },
        "DynamoDB.UpdateItem" | "DynamoDB.PutItem" => Units { writes: 1, ..none },
        // At twice the price of a plain write: group, manifest and job; or the event and the ended job, of two units.
        "DynamoDB.TransactWriteItems" => Units { writes: 6, ..none },
        "SQS.SendMessageBatch" | "SQS.SendMessage" => Units { queue: 1, ..none },
        "S3.GetObject" => Units { object_reads: 1, ..none },
        "S3.PutObject" => Units { object_writes: 1, ..none },
        _ => panic!("{call} has no units"),
    }
}

impl Measured {
    /// Returns the units that were counted, without times.
    fn counted(&self) -> Units {
        let mut units = Units { writes: self.records, ..Units::default() };
        for (call, count) in self.calls {
            (0..*count).for_each(|_| units += units_of(call));
        }
        for (invocations, _) in self.invocations {
            units.requests += invocations;
            // The mapping receives and deletes each message.
            units.queue += 2 * invocations;
        }
        if SourceSize::is_inline(self.source()) {
            units.queue += 2 * self.bytes / MESSAGE_BYTES;
        }
        // The create message.
        units.queue += 1;
        for (call, count) in SINCE {
            (0..count).for_each(|_| units += units_of(call));
        }
        // Each turn of the splitter reads the pauses.
        units.reads += self.invocations[0].0;
        units.writes -= 1;
        // The job changes its status twice, and then leaves the index `unfinished`: see `template.yaml`.
        units.writes += 2 * INDEXES_OF_STATUS + 1;
        units
    }

    fn source(&self) -> SourceSize {
        SourceSize { bytes: self.bytes, preparation: None, has_item_files: false }
    }

    /// Returns the units of the formula: those of split and end, and those of the chunks, without their time. The
    /// ledger records the time, the commits and the deliveries of the chunks, so these are the measured ones.
    fn computed(&self) -> (Units, Units) {
        let deliveries = self.invocations[1].0;
        let usage = ChunkUsage {
            gb_ms: 0,
            deliveries,
            writes: self.commits + self.records,
            reads: DELIVERY_READS * deliveries,
            object_writes: self.work_files,
        };
        let Self { groups, chunks: begun, sends, bytes: split_bytes, .. } = *self;
        let ledger = Ledger { groups, done_groups: groups, chunks: begun, sends, split_bytes, usage };
        let counts = Counts { failed: self.failed, ..Counts::default() };
        let split_and_end = split(self.source(), &ledger) + end(self.source(), &ledger, counts, End::Completed);
        (split_and_end, Units { gb_ms: 0, ..chunks(self.source(), &ledger) })
    }
}

#[test]
fn the_formula_is_within_a_tenth_of_the_counted_calls() {
    let prices = Prices::current();
    for measured in &MEASURED {
        let (split_and_end, chunks) = measured.computed();
        let counted = prices.cost(&measured.counted());
        let computed = prices.cost(&(Units { gb_ms: 0, ..split_and_end } + chunks));
        let whole = counted.total().dollars();
        let ratio = computed.total().dollars() / whole;
        assert!((0.9..=1.1).contains(&ratio), "{}: {ratio}: {computed:?} for {counted:?}", measured.name);
        // Also each part that is more than a tenth of the whole.
        let parts = [
            (computed.requests, counted.requests),
            (computed.database, counted.database),
            (computed.storage, counted.storage),
            (computed.queue, counted.queue),
        ];
        for (computed_part, part) in parts.into_iter().filter(|(_, part)| part.dollars() * 10.0 > whole) {
            let ratio = computed_part.dollars() / part.dollars();
            assert!((0.9..=1.1).contains(&ratio), "{}: {ratio}: {computed:?} for {counted:?}", measured.name);
        }
        // The times of split and end are those of another run, so they are compared with the whole.
        let [(_, split_s), _, (_, end_s)] = measured.invocations;
        let times = Units { gb_ms: gb_ms((split_s + end_s) * 1_000.0, GB), ..Units::default() };
        let [of_times, of_formula] = [times, split_and_end].map(|units| prices.cost(&units).compute.dollars());
        assert!((of_times - of_formula).abs() < whole / 10.0, "{}: {of_formula} for {of_times}", measured.name);
    }
}
