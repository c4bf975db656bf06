//! What a job of a registered type waits for: derived from the state that the type's workers share, when it is read.

use longshore::ports::Ports;
use longshore_domain::group::Group;
use longshore_domain::job::{Job, Status};
use longshore_domain::ports::{HandlerStates, ParkedChunks, Permits, PortResult};
use longshore_domain::progress::updated_at;
use longshore_domain::remote::{FirstParked, WaitReason};
use longshore_domain::timestamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// Maximum number of parked chunks that a read looks at. A job behind so many others waits for them.
const PARKED: usize = 40;

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

/// Returns what the job waits for; `None` if it does not wait, or its type is not registered.
///
/// # Errors
/// If the store fails.
pub(super) async fn waiting_for<S: HandlerStates + Permits + ParkedChunks, Q, F>(
    ports: &Ports<S, Q, F>,
    job: &Job,
    groups: &[Group],
    now: Timestamp,
) -> PortResult<Option<WaitingFor>> {
    if !job.is_registered || job.status != Status::Running || !job.is_live() {
        return Ok(None);
    }
    let (store, name) = (&ports.store, job.job_type.as_str());
    let (state, permits, chunks) =
        futures::try_join!(store.handler_state(name), store.permits(name), store.parked(name, PARKED))?;
    let parked = FirstParked { chunks: &chunks, limit: PARKED };
    let waiting = state.waiting(job.job_id, &permits, parked, now);
    Ok(waiting.map(|waiting| WaitingFor {
        reason: waiting.reason,
        since: waiting.since.unwrap_or_else(|| updated_at(job, groups)).to_rfc3339(),
        next_try: waiting.next_try.map(Timestamp::to_rfc3339),
    }))
}
