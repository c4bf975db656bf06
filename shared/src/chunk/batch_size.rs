//! Sizes of the batches of an attempt: by the time that they take, and by the size of their outputs.

use crate::handler::Processed;

/// Target time of a batch. Batches grow until they take about this long, so that commits and checks are in time.
const BATCH_MS: i64 = 200;

/// Target size of the outputs of a batch. Batches of items with large outputs shrink to it, because a commit can only
/// follow a whole batch.
const BATCH_OUTPUTS_BYTES: usize = 2 << 20;

/// Returns the size of the next batch, from the time that the previous one took.
pub(super) fn next_batch(batch: usize, limit: usize, took_ms: i64) -> usize {
    let next = if took_ms * 2 < BATCH_MS {
        batch * 4
    } else if took_ms > BATCH_MS {
        batch / 2
    } else {
        batch
    };
    next.clamp(1, limit.max(1))
}

/// Returns the number of items whose outputs take [`BATCH_OUTPUTS_BYTES`], if they are as large as these.
pub(super) fn batch_of_outputs(processed: &Processed) -> usize {
    let rows = usize::try_from(processed.rows).unwrap_or(usize::MAX).max(1);
    (BATCH_OUTPUTS_BYTES / (processed.lines.len() / rows).max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::{Processed, batch_of_outputs, next_batch};

    #[test]
    fn a_batch_grows_while_it_is_fast_and_shrinks_with_the_size_of_its_outputs() {
        assert_eq!((next_batch(16, 1_000, 0), next_batch(16, 1_000, 150), next_batch(16, 1_000, 900)), (64, 16, 8));
        let outputs = |rows: u64, bytes: usize| Processed { rows, lines: vec![b'x'; bytes], ..Processed::default() };
        assert_eq!(batch_of_outputs(&outputs(0, 0)), 2 << 20);
        assert_eq!(batch_of_outputs(&outputs(16, 16 << 10)), 2 << 10);
        assert_eq!(batch_of_outputs(&outputs(4, 4 << 20)), 2);
        assert_eq!(batch_of_outputs(&outputs(1, 8 << 20)), 1);
    }
}
