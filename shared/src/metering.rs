//! The billed units of this process: counted for each attempt of an AWS call, and by the adapters whose calls are
//! billed by size. An invocation processes one chunk, so the difference of two readings is the usage of that chunk.
//!
//! The values are estimates, like those of [`metrics`](crate::metrics): no condition guards them.

use std::sync::{Mutex, PoisonError};

use longshore_domain::cost::Units;

/// Bytes of one write unit, and of one read unit.
const WRITE_BYTES: u64 = 1 << 10;
const READ_BYTES: u64 = 4 << 10;

/// Units of all calls since the start of the process.
static UNITS: Mutex<Units> = Mutex::new(Units::NONE);

/// Returns the units of this process since its start.
pub fn read() -> Units {
    *UNITS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds units.
pub fn add(units: Units) {
    *UNITS.lock().unwrap_or_else(PoisonError::into_inner) += units;
}

/// Returns the units of one call of a service, named as in the last log line of an invocation; `None` for a call that
/// has no price here. DynamoDB charges by the size of items: one unit for each item of a call is exact for items up to
/// 1 KB (writes) and 4 KB (reads). Writes of indexes are not in it.
pub fn units_for_call(call: &str) -> Option<Units> {
    let none = Units::NONE;
    Some(match call {
        "DynamoDB.GetItem" | "DynamoDB.Query" => Units { reads: 1, ..none },
        // A group and its job.
        "DynamoDB.BatchGetItem" => Units { reads: 2, ..none },
        "DynamoDB.UpdateItem" | "DynamoDB.PutItem" | "DynamoDB.DeleteItem" => Units { writes: 1, ..none },
        // At twice the price of a plain write: three items, such as group, manifest and job; or two, with an ended job
        // of two units. The event of a start has two of one unit, which are four.
        "DynamoDB.TransactWriteItems" => Units { writes: 6, ..none },
        // Charged by record.
        "DynamoDB.BatchExecuteStatement" => none,
        "SQS.SendMessageBatch" | "SQS.SendMessage" => Units { queue: 1, ..none },
        "S3.GetObject" | "S3.HeadObject" => Units { object_reads: 1, ..none },
        _ if call.starts_with("S3.") => Units { object_writes: 1, ..none },
        _ => return None,
    })
}

/// Adds the units of items of these sizes that are written.
pub(crate) fn add_written(sizes: impl Iterator<Item = usize>) {
    let writes = sizes.map(|bytes| (bytes as u64).div_ceil(WRITE_BYTES).max(1)).sum();
    add(Units { writes, ..Units::NONE });
}

/// Adds the units of a query that has read items of this size together, beyond the one that each call has.
pub(crate) fn add_queried(bytes: usize) {
    add(Units { reads: (bytes as u64).div_ceil(READ_BYTES).saturating_sub(1), ..Units::NONE });
}

/// Adds the units of a query whose answer has its capacity units, beyond the one that each call has.
pub(crate) fn add_consumed(units: f64) {
    add(Units { reads: (units.ceil() as u64).saturating_sub(1), ..Units::NONE });
}

/// Adds the units of a batch that reads this number of small items, beyond the two that each call has.
pub(crate) fn add_gets(items: usize) {
    add(Units { reads: (items as u64).saturating_sub(2), ..Units::NONE });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_billed_by_their_size_and_calls_by_the_call() {
        let before = read();
        add_written([1, 1_024, 1_025].into_iter());
        add_queried(4_096 * 3);
        add_queried(0);
        add_consumed(0.5);
        add_consumed(7.5);
        add_gets(100);
        let Units { writes, reads, .. } = read() - before;
        assert_eq!((writes, reads), (4, 2 + 7 + 98));
    }
}
