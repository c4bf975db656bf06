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
mod tests {
    use longshore_domain::dead_letter::{DeadLetterMessage, Queue};
    use longshore_domain::group::ChunkPlan;
    use longshore_domain::ids::{ChunkId, JobId};
    use longshore_domain::job::RetryState;
    use longshore_domain::message::{ChunkMessage, CreateMessage};
    use longshore_domain::records::Format;
    use longshore_domain::tenant::TenantId;
    use longshore_domain::time_stamp::Timestamp;

    use super::*;

    fn job(generation: u32, selected_chunks: Option<BTreeSet<ChunkId>>) -> Job {
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(0));
        Job { generation, retry: RetryState { selected_chunks, ..job.retry.clone() }, ..job }
    }

    fn place(group: u32) -> ChunkId {
        ChunkId { group, chunk: 0 }
    }

    fn dead_letter(dead_letter: DeadLetterMessage) -> (DeadLetterRecord, Replay) {
        let (queue, at) = (Queue::Chunk, Timestamp(0));
        let dead_letter = DeadLetterRecord {
            id: "id".into(),
            queue,
            message: dead_letter,
            sent_at: at,
            seen_at: at,
            receives: 6,
            size_bytes: 9,
            source: None,
            group_id: None,
            resolution: None,
            expires_at: 9,
        };
        (dead_letter, Replay::Open)
    }

    fn of_chunk(job: &Job, group: u32) -> (DeadLetterRecord, Replay) {
        let plan = ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize: false };
        dead_letter(DeadLetterMessage::Chunk(ChunkMessage::new(job, ChunkId::new(group, 0), &plan)))
    }

    fn of_split(job: &Job) -> (DeadLetterRecord, Replay) {
        let (job_id, generation) = (job.job_id, job.generation);
        dead_letter(DeadLetterMessage::Create(CreateMessage {
            tenant: None,
            job_id,
            generation,
            position: 0,
            resend: 0,
            failures: 0,
        }))
    }

    #[test]
    fn of_what_failed_before_only_the_chunks_of_the_dead_letters_run() {
        let job = job(0, None);
        let replays = [of_chunk(&job, 1), of_split(&job), (of_chunk(&job, 2).0, Replay::Wait)];
        let replay_selection = ReplaySelection::new(&job, &replays);
        assert_eq!(replay_selection, ReplaySelection { corrected: None, selected_chunks: Some([place(1)].into()) });
        assert_eq!(replays.each_ref().map(|replay| replay_selection.serves(replay)), [true, true, false]);
    }

    #[test]
    fn chunks_beyond_the_bound_are_left() {
        let job = job(0, None);
        let replays: Vec<_> = (0..=CHUNKS as u32).map(|group| of_chunk(&job, group)).collect();
        let replay_selection = ReplaySelection::new(&job, &replays);
        let served: Vec<_> = replays.iter().map(|replay| replay_selection.serves(replay)).collect();
        assert_eq!((served[..CHUNKS].iter().all(|s| *s), served[CHUNKS]), (true, false));
    }

    /// The client retried all failed items, and the splitter died before it had replanned them.
    #[test]
    fn a_retry_whose_splitter_died_is_opened_for_what_it_was_opened_for() {
        let all = job(1, None);
        assert_eq!(ReplaySelection::new(&all, &[of_split(&all), of_chunk(&all, 1)]), ReplaySelection::default());
        let some = job(2, Some([place(0)].into()));
        let replay_selection = ReplaySelection::new(&some, &[of_split(&some), of_chunk(&some, 1)]);
        assert_eq!(replay_selection.selected_chunks, Some([place(0), place(1)].into()));
        assert_eq!(
            ReplaySelection::new(&some, &[of_chunk(&some, 1)]).selected_chunks,
            Some([place(1)].into()),
            "its splitter lives"
        );
    }

    #[test]
    fn a_retry_with_a_corrected_file_has_it_again_and_chunks_wait() {
        let size_bytes = 1;
        let (key, etag, name) = ("k".into(), "e".into(), "f.csv".into());
        let file = SourceFile { key, size_bytes, etag, format: Format::Csv, name };
        let job =
            Job { retry: RetryState { corrected: Some(file.clone()), ..job(1, None).retry.clone() }, ..job(1, None) };
        let replays = [of_split(&job), of_chunk(&job, 0)];
        let replay_selection = ReplaySelection::new(&job, &replays);
        assert_eq!(replay_selection, ReplaySelection { corrected: Some(file), selected_chunks: None });
        assert_eq!(replays.each_ref().map(|replay| replay_selection.serves(replay)), [true, false]);
    }
}
