//! The items for which a replay opens a job. Pure.

use std::collections::BTreeSet;

use longshore_domain::dead_letter::{DeadLetterRecord, Replay};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Job, SourceFile};

/// Maximum chunks for which one generation is opened: they are stored on the job, which is written often.
const CHUNKS: usize = 100;

/// Failed items that the next generation runs, as in [`longshore_domain::job::Reopen`].
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(crate) struct ReplaySelection {
    /// Only the items in this corrected file.
    pub(crate) corrected: Option<SourceFile>,
    /// Only the items that were given up with these chunks; all if `None`.
    pub(crate) selected_chunks: Option<BTreeSet<ChunkId>>,
}

impl ReplaySelection {
    /// Selects the chunks of the dead letters. For a retry whose splitter died, adds the selection of its generation:
    /// the splitter had not replanned all of it, and it is recorded nowhere else.
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

    /// Returns true if the generation runs the items of this dead letter.
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
