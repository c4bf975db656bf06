//! Concurrency limits of job types: numbered permits, and parked chunks that wait for one.
//!
//! A chunk of a limited job type runs while it holds one of the permits below the limit. Each permit is one small
//! record that is taken by one conditional write, so there are never more holders than permits. A permit expires once
//! its holder is certainly dead. A chunk that finds no free permit is parked and its message is acknowledged: it uses
//! up no receives and occupies no function. A worker that releases its permit wakes the next parked chunks by sending
//! their messages again.

use crate::ids::JobId;
use crate::job::Job;
use crate::message::ChunkMessage;
use crate::timestamp::Timestamp;

/// Seconds by which a permit outlasts its holder's own deadline: the few seconds that a function keeps in reserve until
/// it is killed, and as much again for clock skew.
const PERMIT_MARGIN_S: i64 = 10;

/// Seconds after which a wake counts as lost: its worker died before it sent the message.
const WAKE_S: i64 = 30;

/// Seconds after the time of a chunk that is parked until then, for which only its own delayed message wakes it. A second
/// message would send its items to the handler twice.
const OWN_MESSAGE_S: i64 = 10;

/// Seconds between the turns of consecutive chunks of a job: about the duration of one chunk. A later job overtakes
/// only those chunks of an earlier job that are far from their turn. So a small job does not wait for all of a large
/// one, and a large job cannot be overtaken indefinitely.
const TURN_S: i64 = 60;

/// The right to run one chunk, until it is released or expires.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Permit {
    /// Number of the permit, from 0.
    pub number: u32,
    /// Unique name of the attempt that holds it.
    pub holder: String,
    /// Time of expiry, unless it is released before.
    pub until: Timestamp,
}

impl Permit {
    /// Creates a permit for an attempt that stops by itself at `deadline`.
    pub fn new(number: u32, holder: &str, deadline: Timestamp) -> Self {
        Self { number, holder: holder.to_owned(), until: deadline.plus_seconds(PERMIT_MARGIN_S) }
    }

    /// Returns the name of an attempt of a job.
    pub fn holder_of(job_id: JobId, attempt: &str) -> String {
        format!("{job_id}#{attempt}")
    }

    /// Returns true if an attempt of this job holds the permit.
    pub fn is_of(&self, job_id: JobId) -> bool {
        self.holder.split_once('#').is_some_and(|(holder, _)| JobId::parse(holder) == Some(job_id))
    }

    /// Returns true if and only if the permit can be acquired: it is free, it has expired, or this holder took it by a
    /// call whose response was lost.
    pub fn may_replace(&self, current: Option<&Self>, now: Timestamp) -> bool {
        current.is_none_or(|current| current.until < now || current.holder == self.holder)
    }
}

/// Returns the numbers of the free permits below the limit. Permits beyond it, from a time when the limit was higher,
/// simply expire.
pub fn free_permits(permits: &[Permit], limit: u32, now: Timestamp) -> Vec<u32> {
    let held = |number: &u32| permits.iter().any(|permit| permit.number == *number && permit.until >= now);
    (0..limit).filter(|number| !held(number)).collect()
}

/// A chunk that waits for a permit, or until its handler can be called. No message of it is needed while it is parked.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct ParkedChunk {
    /// Position in the queue of parked chunks: the earliest turn is woken first.
    pub turn: Timestamp,
    /// The message to send on waking, without the chunk's bytes.
    pub message: ChunkMessage,
    /// Concurrency limit of the type, as known to the worker that parked the chunk.
    pub limit: u32,
    /// The last wake; `None` if the chunk has not been woken.
    pub woken: Option<Wake>,
    /// Time of expiry, that of its job, in seconds.
    pub expires_at: i64,
}

/// A worker's mark on a parked chunk: it is sending the chunk's message, or running the chunk.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Wake {
    /// Time of the wake; of a running chunk, the deadline of its worker.
    pub at: Timestamp,
    /// Unique name of the caller: two can wake in the same millisecond.
    pub by: String,
}

impl ParkedChunk {
    /// Creates the parked form of a job's chunk. Every delivery of the chunk gives the same, so that it is parked once.
    pub fn new(job: &Job, message: &ChunkMessage, limit: u32) -> Self {
        let group = i64::from(message.group.saturating_sub(job.retry.carried_over.groups));
        let before = group * crate::group::CHUNKS_PER_GROUP as i64 + i64::from(message.chunk);
        let turn = job.times.started_at.unwrap_or(job.times.created_at).plus_seconds(before * TURN_S);
        let message = ChunkMessage { inline: None, ..message.clone() };
        Self { turn, message, limit, woken: None, expires_at: job.times.expires_at }
    }

    /// Returns the key among parked chunks; keys sort by turn.
    pub fn name(&self) -> String {
        let ChunkMessage { job_id, group, chunk, .. } = &self.message;
        format!("{:015}#{job_id}#{group:05}-{chunk:02}", self.turn.0)
    }

    /// Returns true unless it is parked for longer, its own delayed message is about to come, or a recent wake is about
    /// to send its message.
    pub fn may_be_woken(&self, now: Timestamp) -> bool {
        let is_due = self.message.parked_until.is_none_or(|until| until.plus_seconds(OWN_MESSAGE_S) <= now);
        is_due && self.woken.as_ref().is_none_or(|wake| now > wake.at.plus_seconds(WAKE_S))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::ChunkPlan;
    use crate::ids::ChunkId;
    use crate::ids::JobId;
    use crate::job::{CarriedOver, JobTimes, RetryState};
    use crate::tenant::TenantId;

    const fn at(seconds: i64) -> Timestamp {
        Timestamp(seconds * 1000)
    }

    fn permit(number: u32, holder: &str, until_s: i64) -> Permit {
        Permit { number, holder: holder.into(), until: at(until_s) }
    }

    #[test]
    fn a_permit_can_be_taken_if_it_is_free_expired_or_own() {
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
    fn permits_below_the_limit_are_free_unless_they_are_held() {
        let permits = [permit(0, "a", 50), permit(2, "b", 49), permit(7, "from a higher limit", 99)];
        assert_eq!(free_permits(&permits, 4, at(50)), [1, 2, 3]);
        assert_eq!(free_permits(&permits[..1], 1, at(50)), [0; 0]);
        assert_eq!(free_permits(&[], 2, at(0)), [0, 1]);
    }

    #[test]
    fn a_permit_outlasts_its_attempt() {
        assert_eq!(Permit::new(3, "a", at(100)).until, at(110));
    }

    fn parked(started_s: i64, carried_groups: u32, id: ChunkId) -> ParkedChunk {
        let carried_over = CarriedOver { groups: carried_groups, ..CarriedOver::default() };
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", at(0));
        let job = Job {
            retry: RetryState { carried_over, ..job.retry.clone() },
            times: JobTimes { started_at: Some(at(started_s)), ..job.times.clone() },
            ..job
        };
        let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 1, oversize: false, keys: None };
        let message = ChunkMessage { inline: Some("row".into()), ..ChunkMessage::new(&job, id, &plan) };
        ParkedChunk::new(&job, &message, 2)
    }

    #[test]
    fn a_later_job_overtakes_only_chunks_that_are_far_from_their_turn() {
        let later = parked(600, 0, ChunkId::new(0, 0));
        assert!(parked(0, 0, ChunkId::new(0, 9)).name() < later.name());
        assert!(parked(0, 0, ChunkId::new(0, 11)).name() > later.name());
        assert!(parked(0, 0, ChunkId::new(1, 0)).name() > later.name());
        assert_eq!(
            parked(0, 5, ChunkId::new(5, 3)).turn,
            parked(0, 0, ChunkId::new(0, 3)).turn,
            "a retry begins from nothing"
        );
        assert_eq!(later.message.inline, None);
    }

    #[test]
    fn a_chunk_that_is_parked_until_a_time_is_woken_by_others_only_if_its_own_message_does_not_come() {
        let mut parked = parked(0, 0, ChunkId::new(0, 0));
        assert!(parked.may_be_woken(at(0)), "it waits for a permit");
        parked.message.parked_until = Some(at(100));
        for (now, may_be_woken) in [(at(99), false), (at(100), false), (at(109), false), (at(110), true)] {
            assert_eq!(parked.may_be_woken(now), may_be_woken, "{now:?}");
        }
    }

    #[test]
    fn a_lost_wake_is_repeated() {
        let parked =
            ParkedChunk { woken: Some(Wake { at: at(100), by: "other".into() }), ..parked(0, 0, ChunkId::new(0, 0)) };
        assert!(!parked.may_be_woken(at(130)));
        assert!(parked.may_be_woken(at(131)));
    }
}
