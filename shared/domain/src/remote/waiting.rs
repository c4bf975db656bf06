//! What a job of a registered type waits for, as its document says it.

use serde::Serialize;

use super::breaker::OpenReason;
use super::handler_state::ReadState;
use crate::concurrency::{ParkedChunk, Permit};
use crate::ids::JobId;
use crate::timestamp::Timestamp;

/// Reason why items of a job wait. The runbook has a section for each: `docs/runbook.md#paused` for `paused`.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// The handler does not answer its pings. No item spends a try.
    HandlerUnavailable,
    /// The handler answers its pings, and fails on the batches of several chunks.
    HandlerFailing,
    /// The handler asked for fewer calls, by 429, 503, `retryBatch` or throttling by Lambda, or the next ping is awaited.
    Backpressure,
    /// The rate limit of the job type is used up, by this job or others.
    RateLimit,
    /// Other chunks of the job type use its concurrency limit.
    ConcurrencyLimit,
    /// An operator has paused the job type or the tenant.
    Paused,
}

/// A wait of a job.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Waiting {
    /// The reason.
    pub reason: WaitReason,
    /// Time from which it holds; `None` if only the job's own progress says it.
    pub since: Option<Timestamp>,
    /// Time of the next try; `None` if another chunk's end decides it.
    pub next_try: Option<Timestamp>,
}

/// The parked chunks of a job type that were read, in the order of their turns.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct FirstParked<'a> {
    /// The chunks.
    pub chunks: &'a [ParkedChunk],
    /// Maximum number that was read.
    pub limit: usize,
}

impl ReadState {
    /// Returns what a running job waits for; `None` if one of its chunks is processed or about to be.
    pub fn waiting(&self, job: JobId, permits: &[Permit], parked: FirstParked<'_>, now: Timestamp) -> Option<Waiting> {
        if let Some(open) = self.state.breaker.open() {
            let reason = match open.reason {
                OpenReason::Unreachable => WaitReason::HandlerUnavailable,
                OpenReason::BatchesFail => WaitReason::HandlerFailing,
            };
            return Some(Waiting { reason, since: Some(open.since), next_try: Some(open.trial_at) });
        }
        if permits.iter().any(|permit| permit.is_of(job) && permit.until >= now) {
            return None;
        }
        let own: Vec<_> = parked.chunks.iter().filter(|chunk| chunk.message.job_id == job).collect();
        let for_permit = Waiting { reason: WaitReason::ConcurrencyLimit, since: None, next_try: None };
        if own.is_empty() {
            return (parked.chunks.len() >= parked.limit).then_some(for_permit);
        }
        let Some(until) = own.iter().filter_map(|chunk| chunk.message.parked_until).min() else {
            return Some(for_permit);
        };
        Some(match self.reserved.is_ahead_of(now) {
            true => Waiting { reason: WaitReason::RateLimit, since: None, next_try: Some(until) },
            false => {
                let since = self.state.concurrency.lowered_at();
                Waiting { reason: WaitReason::Backpressure, since, next_try: Some(until) }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{HandlerState, PingResult, ReservedUntil};
    use super::*;
    use crate::group::ChunkPlan;
    use crate::ids::ChunkId;
    use crate::job::Job;
    use crate::message::ChunkMessage;
    use crate::tenant::TenantId;

    const NOW: Timestamp = Timestamp(100_000);

    fn parked(job: &Job, until: Option<Timestamp>) -> ParkedChunk {
        let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 1, oversize: false, keys: None };
        let message = ChunkMessage { parked_until: until, ..ChunkMessage::new(job, ChunkId::default(), &plan) };
        ParkedChunk::new(job, &message, 1)
    }

    fn reserved() -> ReadState {
        ReadState { reserved: ReservedUntil(NOW.0 * 1_000 + 1), ..ReadState::default() }
    }

    fn read(state: HandlerState) -> ReadState {
        ReadState { state, ..ReadState::default() }
    }

    #[test]
    fn a_job_waits_if_its_chunks_are_parked_and_none_is_processed() {
        let job = |id| Job::waiting(id, TenantId::from_static("t"), "mail", Timestamp(0));
        let [own, other] = [job(JobId::generate()), job(JobId::generate())];
        let permit = |job: &Job, until| Permit { until, ..Permit::new(0, &Permit::holder_of(job.job_id, "a"), NOW) };
        let lowered = read(HandlerState {
            concurrency: HandlerState::default().concurrency.lowered(8, Timestamp(90_000)).unwrap(),
            ..HandlerState::default()
        });
        let working = ReadState::default();
        let due = Some(Timestamp(107_000));
        let held = [permit(&own, NOW)];
        for (state, permits, chunks, expected) in [
            (&working, &[][..], vec![], None),
            (&working, &[], vec![parked(&own, None)], Some((WaitReason::ConcurrencyLimit, None, None))),
            (&working, &held, vec![parked(&own, None)], None),
            (
                &working,
                &[permit(&own, Timestamp(99_999))],
                vec![parked(&own, None)],
                Some((WaitReason::ConcurrencyLimit, None, None)),
            ),
            (&working, &[permit(&other, NOW)], vec![parked(&other, None)], None),
            (&working, &[], vec![parked(&other, None); 2], Some((WaitReason::ConcurrencyLimit, None, None))),
            (&reserved(), &[], vec![parked(&own, due)], Some((WaitReason::RateLimit, None, due))),
            (
                &lowered,
                &[],
                vec![parked(&own, None), parked(&own, due)],
                Some((WaitReason::Backpressure, Some(Timestamp(90_000)), due)),
            ),
        ] {
            let found = state.waiting(own.job_id, permits, FirstParked { chunks: &chunks, limit: 2 }, NOW);
            let found = found.map(|waiting| (waiting.reason, waiting.since, waiting.next_try));
            assert_eq!(found, expected, "{permits:?} {chunks:?}");
        }
    }

    #[test]
    fn an_open_breaker_is_the_reason_for_every_job_of_the_type() {
        let claimed = match HandlerState::default().breaker.after_fault(NOW, NOW) {
            super::super::breaker::AfterFault::Ping(breaker) => breaker,
            other => unreachable!("{other:?}"),
        };
        let breaker = claimed.after_ping(NOW, PingResult::Bad, NOW).unwrap();
        let state = read(HandlerState { breaker, ..HandlerState::default() });
        let found = state.waiting(JobId::generate(), &[], FirstParked { chunks: &[], limit: 2 }, NOW).unwrap();
        assert_eq!((found.reason, found.since), (WaitReason::HandlerUnavailable, Some(NOW)));
        assert!(found.next_try > Some(NOW));
    }
}
