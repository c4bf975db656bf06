//! Reasons for which a job waits: a pause, or the state that the workers of its registered type share.

use longshore_domain::concurrency::{ParkedChunk, Permit};
use longshore_domain::group::Group;
use longshore_domain::job::{Job, Status};
use longshore_domain::pause::{Pause, pause_of};
use longshore_domain::ports::{HandlerStates, ParkedChunks, Permits, PortResult};
use longshore_domain::progress::updated_at;
use longshore_domain::remote::{FirstParked, ReadState, WaitReason};
use longshore_domain::timestamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// Maximum number of parked chunks that a read looks at. A job behind so many others waits for them.
pub const PARKED: usize = 40;

/// What a job waits for, although no item of it is processed.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingFor {
    /// The reason.
    pub reason: WaitReason,
    /// Time from which it holds, or of the job's last progress.
    #[schema(format = DateTime)]
    pub since: String,
    /// Time of the next try; `null` if it begins when other chunks of the type have ended.
    #[schema(required = true, format = DateTime)]
    pub next_try: Option<String>,
}

/// The state of a registered job type, as its workers share it.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct TypeState {
    /// Circuit breaker, rate limit and concurrency limit.
    pub handler: ReadState,
    /// Permits that were acquired and not released, expired ones included.
    pub permits: Vec<Permit>,
    /// The first parked chunks by turn, up to [`PARKED`].
    pub parked: Vec<ParkedChunk>,
}

impl TypeState {
    /// Reads the state of a job type.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn read(store: &(impl HandlerStates + Permits + ParkedChunks), job_type: &str) -> PortResult<Self> {
        let (handler, permits, parked) =
            futures::try_join!(store.handler_state(job_type), store.permits(job_type), store.parked(job_type, PARKED))?;
        Ok(Self { handler, permits, parked })
    }

    /// Returns what a job of this type waits for, if it [can wait](can_wait); `None` if it does not wait. Without the
    /// groups, the last progress is that of the job itself.
    pub fn waiting_for(&self, job: &Job, groups: &[Group], now: Timestamp) -> Option<WaitingFor> {
        let parked = FirstParked { chunks: &self.parked, limit: PARKED };
        let waiting = self.handler.waiting(job.job_id, &self.permits, parked, now)?;
        Some(WaitingFor {
            reason: waiting.reason,
            since: waiting.since.unwrap_or_else(|| updated_at(job, groups)).to_rfc3339(),
            next_try: waiting.next_try.map(Timestamp::to_rfc3339),
        })
    }
}

/// Returns what an unfinished job waits for that an operator has paused; `None` if it is not paused.
pub fn paused(job: &Job, pauses: &[Pause], now: Timestamp) -> Option<WaitingFor> {
    let pause = pause_of(pauses, job, now).filter(|_| job.is_live() && !job.all_done())?;
    Some(WaitingFor {
        reason: WaitReason::Paused,
        since: pause.since.max(job.times.waits_since()).to_rfc3339(),
        next_try: Some(pause.until.to_rfc3339()),
    })
}

/// Returns true for a running job of a registered type: its items may have to wait.
pub fn can_wait(job: &Job) -> bool {
    job.is_registered && job.status == Status::Running && job.is_live()
}
