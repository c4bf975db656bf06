//! What a job is opened for when its letters are replayed: pure.

use std::collections::BTreeSet;

use longshore_domain::dead_letter::{DeadLetter, Replay};
use longshore_domain::job::{Job, Place, SourceFile};

/// Chunks for which one generation is opened: they stand on the job, which is written often.
const CHUNKS: usize = 100;

/// What of the failed items the next generation runs, as [`longshore_domain::job::Reopen`] says it.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(crate) struct Wish {
    /// Those that stand in this file.
    pub(crate) corrected: Option<SourceFile>,
    /// Those that were given up with these chunks; all, if it is absent.
    pub(crate) only: Option<BTreeSet<Place>>,
}

impl Wish {
    /// The chunks of the letters; and of a retry whose splitter died, whatever its generation was opened for: it had not yet
    /// filed all of that, and nothing else knows of it.
    pub(crate) fn of(job: &Job, replays: &[(DeadLetter, Replay)]) -> Self {
        let open = || replays.iter().filter(|(_, replay)| *replay == Replay::Open).map(|(letter, _)| &letter.letter);
        let places: BTreeSet<_> = open().filter_map(|letter| letter.place()).collect();
        let died = job.generation > 0 && open().any(|letter| letter.place().is_none());
        match (died, &job.corrected, &job.only) {
            (true, Some(file), only) => Self { corrected: Some(file.clone()), only: only.clone() },
            (true, None, None) => Self::default(),
            (true, None, Some(before)) => Self { corrected: None, only: Some(bounded(before.union(&places))) },
            (false, _, _) => Self { corrected: None, only: Some(bounded(&places)) },
        }
    }

    /// Whether the generation runs what this letter took.
    pub(crate) fn serves(&self, (letter, replay): &(DeadLetter, Replay)) -> bool {
        let of_chunk = |place| self.corrected.is_none() && self.only.as_ref().is_none_or(|only| only.contains(&place));
        *replay == Replay::Open && letter.letter.place().is_none_or(of_chunk)
    }
}

fn bounded<'a>(places: impl IntoIterator<Item = &'a Place>) -> BTreeSet<Place> {
    places.into_iter().take(CHUNKS).copied().collect()
}

#[cfg(test)]
#[path = "wish_tests.rs"]
mod tests;
