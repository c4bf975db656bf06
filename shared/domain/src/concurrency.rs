//! The gate of a job type of which only so many chunks may run at once: numbered slots, and chunks that wait for one.
//!
//! A chunk runs while it holds one of the slots below the limit; each is one small record, taken by one conditional
//! write, so that there are never more holders than slots. A lease ends by itself once its holder is dead for certain.
//! A chunk that finds no free slot is put down as waiting, and its message is done with: it burns no receives and
//! occupies no function. Whoever leaves calls the next ones by sending their messages again.

use crate::job::Job;
use crate::message::ChunkMessage;
use crate::time_stamp::Timestamp;

/// How long a lease outlasts the time at which its holder should have stopped by itself: the few seconds that a
/// function keeps in reserve until it is killed, and as much again for clocks that disagree.
const PERMIT_MARGIN_S: i64 = 10;

/// After this a call is taken for lost: whoever made it died before it sent the message.
const WAKE_S: i64 = 30;

/// How much later the turn of each next chunk of a job comes: about as long as a chunk should take. A job that begins
/// later than another overtakes those of its chunks that are far from their turn, and no others: a small job does not wait
/// for all of a big one, and a big one cannot be overtaken for ever.
const TURN_S: i64 = 60;

/// The right to run one chunk, until it is given back or ends by itself.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Permit {
    /// Which slot, from 0.
    pub number: u32,
    /// The attempt that holds it, by a name that no other has.
    pub holder: String,
    /// When it ends if it is not given back.
    pub until: Timestamp,
}

impl Permit {
    /// A lease for an attempt that stops by itself at `deadline`.
    pub fn new(number: u32, holder: &str, deadline: Timestamp) -> Self {
        Self { number, holder: holder.to_owned(), until: deadline.plus_seconds(PERMIT_MARGIN_S) }
    }

    /// The meaning of taking a slot: it is free, its lease has ended, or it is ours by a call whose reply was lost.
    pub fn may_replace(&self, current: Option<&Self>, now: Timestamp) -> bool {
        current.is_none_or(|current| current.until < now || current.holder == self.holder)
    }
}

/// Numbers of the slots below the limit that nobody holds. Leases of slots beyond it, from a time when the limit was
/// higher, end as they are.
pub fn free_permits(permits: &[Permit], limit: u32, now: Timestamp) -> Vec<u32> {
    let held = |number: &u32| permits.iter().any(|permit| permit.number == *number && permit.until >= now);
    (0..limit).filter(|number| !held(number)).collect()
}

/// A chunk that waits at its gate. While it does, no message of it is needed.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct ParkedChunk {
    /// Where it stands in the order: the earlier, the sooner.
    pub turn: Timestamp,
    /// What is to be sent, without the chunk's bytes.
    pub message: ChunkMessage,
    /// How many chunks of the type may run at once, as the worker knew it that put this down.
    pub limit: u32,
    /// When somebody set out to send the message.
    pub woken_at: Option<Timestamp>,
    /// When it is forgotten with its job, in seconds.
    pub expires_at: i64,
}

impl ParkedChunk {
    /// A chunk of this job: the same for every delivery of it, so that it waits once.
    pub fn new(job: &Job, message: &ChunkMessage, limit: u32) -> Self {
        let group = i64::from(message.group.saturating_sub(job.retry.carried_over.groups));
        let before = group * crate::group::CHUNKS_PER_GROUP as i64 + i64::from(message.chunk);
        let turn = job.times.started_at.unwrap_or(job.times.created_at).plus_seconds(before * TURN_S);
        let message = ChunkMessage { inline: None, ..message.clone() };
        Self { turn, message, limit, woken_at: None, expires_at: job.times.expires_at }
    }

    /// Its name among those that wait; names sort by turn.
    pub fn name(&self) -> String {
        let ChunkMessage { job_id, group, chunk, .. } = &self.message;
        format!("{:015}#{job_id}#{group:05}-{chunk:02}", self.turn.0)
    }

    /// Nobody is about to send its message.
    pub fn may_be_woken(&self, now: Timestamp) -> bool {
        self.woken_at.is_none_or(|woken_at| now > woken_at.plus_seconds(WAKE_S))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::ChunkPlan;
    use crate::ids::JobId;
    use crate::job::{CarriedOver, JobTimes, RetryState};

    const fn at(seconds: i64) -> Timestamp {
        Timestamp(seconds * 1000)
    }

    fn permit(number: u32, holder: &str, until_s: i64) -> Permit {
        Permit { number, holder: holder.into(), until: at(until_s) }
    }

    #[test]
    fn a_permit_is_taken_if_it_is_free_ended_or_ours() {
        let own = permit(0, "own", 99);
        for (current, taken) in [
            (None, true),
            (Some(permit(0, "other", 50)), false),
            (Some(permit(0, "other", 49)), true),
            (Some(permit(0, "own", 50)), true),
        ] {
            assert_eq!(own.may_replace(current.as_ref(), at(50)), taken, "{current:?}");
        }
    }

    #[test]
    fn permits_below_the_limit_are_free_unless_somebody_holds_them() {
        let permits = [permit(0, "a", 50), permit(2, "b", 49), permit(7, "from a higher limit", 99)];
        assert_eq!(free_permits(&permits, 4, at(50)), [1, 2, 3]);
        assert_eq!(free_permits(&permits[..1], 1, at(50)), [0; 0]);
        assert_eq!(free_permits(&[], 2, at(0)), [0, 1]);
    }

    #[test]
    fn a_lease_outlasts_its_attempt() {
        assert_eq!(Permit::new(3, "a", at(100)).until, at(110));
    }

    fn parked(started_s: i64, carried_groups: u32, (group, chunk): (u32, u32)) -> ParkedChunk {
        let carried_over = CarriedOver { groups: carried_groups, ..CarriedOver::default() };
        let job = Job::waiting(JobId::generate(), "t", "import", at(0));
        let job = Job {
            retry: RetryState { carried_over, ..job.retry.clone() },
            times: JobTimes { started_at: Some(at(started_s)), ..job.times.clone() },
            ..job
        };
        let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 1, oversize: false };
        let message = ChunkMessage { inline: Some("row".into()), ..ChunkMessage::new(&job, (group, chunk), &plan) };
        ParkedChunk::new(&job, &message, 2)
    }

    #[test]
    fn a_later_job_overtakes_what_is_far_from_its_turn_and_nothing_else() {
        let later = parked(600, 0, (0, 0));
        assert!(parked(0, 0, (0, 9)).name() < later.name());
        assert!(parked(0, 0, (0, 11)).name() > later.name());
        assert!(parked(0, 0, (1, 0)).name() > later.name());
        assert_eq!(parked(0, 5, (5, 3)).turn, parked(0, 0, (0, 3)).turn, "a retry begins from nothing");
        assert_eq!(later.message.inline, None);
    }

    #[test]
    fn a_call_that_was_not_followed_up_is_made_again() {
        let parked = ParkedChunk { woken_at: Some(at(100)), ..parked(0, 0, (0, 0)) };
        assert!(!parked.may_be_woken(at(130)));
        assert!(parked.may_be_woken(at(131)));
    }
}
