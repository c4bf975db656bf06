//! What a job is opened for when its letters are replayed: pure.

use std::collections::BTreeSet;

use longshore_domain::dead_letter::{DeadLetterRecord, Replay};
use longshore_domain::job::{ChunkId, Job, SourceFile};

/// Chunks for which one generation is opened: they stand on the job, which is written often.
const CHUNKS: usize = 100;

/// What of the failed items the next generation runs, as [`longshore_domain::job::Reopen`] says it.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(crate) struct ReplaySelection {
    /// Those that stand in this file.
    pub(crate) corrected: Option<SourceFile>,
    /// Those that were given up with these chunks; all, if it is absent.
    pub(crate) selected_chunks: Option<BTreeSet<ChunkId>>,
}

impl ReplaySelection {
    /// The chunks of the letters; and of a retry whose splitter died, whatever its generation was opened for: it had not yet
    /// filed all of that, and nothing else knows of it.
    pub(crate) fn new(job: &Job, replays: &[(DeadLetterRecord, Replay)]) -> Self {
        let open = || {
            replays.iter().filter(|(_, replay)| *replay == Replay::Open).map(|(dead_letter, _)| &dead_letter.message)
        };
        let places: BTreeSet<_> = open().filter_map(|dead_letter| dead_letter.place()).collect();
        let died = job.generation > 0 && open().any(|dead_letter| dead_letter.place().is_none());
        match (died, &job.retry.corrected, &job.retry.selected_chunks) {
            (true, Some(file), selected_chunks) => {
                Self { corrected: Some(file.clone()), selected_chunks: selected_chunks.clone() }
            }
            (true, None, None) => Self::default(),
            (true, None, Some(before)) => {
                Self { corrected: None, selected_chunks: Some(bounded(before.union(&places))) }
            }
            (false, _, _) => Self { corrected: None, selected_chunks: Some(bounded(&places)) },
        }
    }

    /// Whether the generation runs what this letter took.
    pub(crate) fn serves(&self, (dead_letter, replay): &(DeadLetterRecord, Replay)) -> bool {
        let of_chunk = |place| {
            self.corrected.is_none()
                && self.selected_chunks.as_ref().is_none_or(|selected_chunks| selected_chunks.contains(&place))
        };
        *replay == Replay::Open && dead_letter.message.place().is_none_or(of_chunk)
    }
}

fn bounded<'a>(places: impl IntoIterator<Item = &'a ChunkId>) -> BTreeSet<ChunkId> {
    places.into_iter().take(CHUNKS).copied().collect()
}

#[cfg(test)]
#[path = "replay_selection_tests.rs"]
mod tests;
