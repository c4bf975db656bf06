//! Requests of clients and operators: calls of the API over the same services, which can fail or crash half-way; and
//! the services and state that all functions of a world share.

use std::cell::RefCell;
use std::collections::BTreeSet;

use longshore::chunk::{DefinitionCache, stop_job};
use longshore::handler::Registry;
use longshore::http::{Failure, Operator};
use longshore::pause_cache::PauseCache;
use longshore::ports::Ports;
use longshore_domain::ids::{JobId, PauseId};
use longshore_domain::job::{Job, Reopen, Selection, Stop, Transition, UndoneImport, deadline, has_time};
use longshore_domain::message::CreateMessage;
use longshore_domain::pause::PauseScope;
use longshore_domain::ports::{JobStore, JobTransitions, PortError, PortResult, Queues, Reopened};
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore};
use operations::{Effect, replay_all};
use serde_json::{Value, json};

use super::operators;
use crate::api::{self, Answer, RETENTION_DAYS};
use crate::clock::clock;
use crate::faults;
use crate::lying;
use crate::stepwise::Stepwise;
use crate::unguarded::Unguarded;

/// A request of a client or operator.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Cancel,
    /// Retry of a generation's selected failed items, and of its unprocessed items.
    Retry {
        generation: u32,
        selection: Box<Selection>,
    },
    Delete,
    /// An operator replays all dead letters of the job.
    Replay,
    Undo,
    /// Preview of an undo.
    Preview,
    /// An operator pauses a job type or a tenant.
    Pause {
        scope: PauseScope,
        seconds: i64,
    },
    /// An operator ends a pause.
    Resume(PauseId),
}

/// Executes a request as the API does. Returns the status, also of a refused request.
pub(super) async fn act(shared: &Shared, id: JobId, act: Act) -> PortResult<&'static str> {
    match act {
        Act::Replay => return replay(shared, id).await,
        Act::Pause { scope, seconds } => return operators::pause(shared, scope, seconds).await,
        Act::Resume(pause) => return operators::resume(shared, pause).await,
        _ => {}
    }
    let Some(job) = shared.ports.store.job(id).await?.filter(|job| !job.is_deleted()) else { return Ok("404") };
    match act {
        Act::Undo => undo(shared, &job, None).await,
        Act::Preview => undo(shared, &job, Some(&json!({ "mode": "validate" }))).await,
        // While the import is being undone, the API refuses.
        Act::Delete if job.undo.undoable => Ok(api(shared, &job, ["DELETE", ""], None).await?.status),
        Act::Cancel if job.status.is_final() => Ok("409"),
        Act::Cancel => {
            shared.canceled.borrow_mut().insert((id, job.generation));
            stop_job(&shared.ports, &job, &Stop::canceled(clock())).await?;
            Ok("202")
        }
        Act::Retry { generation, .. } if generation != job.generation || !job.has_remaining() => Ok("409"),
        Act::Retry { selection, .. } => retry(shared, job, *selection).await,
        Act::Delete => {
            let Transition::Made(job) = shared.ports.store.delete(job.job_id, clock()).await? else { return Ok("404") };
            shared.canceled.borrow_mut().insert((id, job.generation));
            if job.is_live() {
                // An error does not fail the call, because the sweeper stops the job.
                drop(stop_job(&shared.ports, &job, &Stop::deleted(clock())).await);
            }
            Ok("204")
        }
        Act::Replay | Act::Pause { .. } | Act::Resume(_) => Ok("404"),
    }
}

/// Calls the API itself for a job. Each call has an instance of its own.
async fn api(shared: &Shared, job: &Job, [method, call]: [&str; 2], body: Option<&Value>) -> PortResult<Answer> {
    let router = api::api(shared.ports.clone(), &shared.records, shared.stall_s);
    api::call(router, &job.tenant, [method, &format!("/api/jobs/{}{call}", job.job_id)], body).await
}

/// Requests an undo of an import, or with a body a preview, and checks which job the answer names.
async fn undo(shared: &Shared, import: &Job, body: Option<&Value>) -> PortResult<&'static str> {
    let Answer { status, job } = api(shared, import, ["POST", "/undo"], body).await?;
    assert_eq!(job.is_some(), status == "202", "an accepted request names its job");
    if let Some(id) = job {
        // The job may already be removed again.
        let job = shared.ports.store.0.job(id).await?;
        let is_of_request = |of: UndoneImport| of.job_id == import.job_id && of.preview == body.is_some();
        let is_named = job.as_ref().is_none_or(|job| job.undo.undoes.is_some_and(is_of_request));
        assert!(is_named, "the answer names another job: {job:?}");
    }
    Ok(status)
}

/// Replays the dead letters of a job. The resolution is stored in the dead-letter records, so a repeated call finds it.
async fn replay(shared: &Shared, id: JobId) -> PortResult<&'static str> {
    let Ports { store, queues, .. } = shared.ports.clone();
    let ports = Ports { store, queues, files: () };
    let operator = Operator { id: "operator".into(), name: None };
    match replay_all(&ports, &operator, id, RETENTION_DAYS, clock).await {
        Ok(replayed) => {
            faults::count_fault(match replayed.effect {
                Effect::Generation => "replay of given-up items",
                Effect::Message => "replay of a completion",
                Effect::RedriveToSource | Effect::Later | Effect::Nothing => "replay of nothing",
            });
            Ok("202")
        }
        Err(Failure::Problem(_)) => {
            faults::count_fault("replay refused");
            Ok("409")
        }
        Err(Failure::Internal(source)) => Err(PortError { service: "simulated", operation: "replay", source }),
    }
}

async fn retry(shared: &Shared, job: Job, selection: Selection) -> PortResult<&'static str> {
    let (generation, at) = (job.generation, clock());
    if !has_time(at, job.times.expires_at) {
        return Ok("409");
    }
    let deadline_at = deadline(at, job.times.timeout_s, job.times.expires_at);
    let reopen = Reopen { generation, at, deadline_at, selection, registration: lying::newest(&job) };
    let Reopened::Made(job) = shared.ports.store.reopen(&job, &reopen).await? else { return Ok("409") };
    // If this fails, the sweeper sends the message.
    drop(shared.ports.queues.send_create(&CreateMessage::new(&job)).await);
    Ok("202")
}

type Services =
    Ports<Stepwise<Unguarded<MemoryStore>>, Stepwise<Unguarded<MemoryQueues>>, Stepwise<Unguarded<MemoryFiles>>>;

/// Services and state that all functions of a world share.
pub(super) struct Shared {
    pub(super) ports: Services,
    pub(super) dead_letters: Stepwise<MemoryQueues>,
    pub(super) records: MemoryRecords,
    pub(super) registry: Registry,
    pub(super) definitions: DefinitionCache,
    /// Pauses that all workers have cached, if their clocks are equal. Otherwise each worker has its own cache.
    pub(super) pauses: Option<PauseCache>,
    pub(super) retry_base_s: i64,
    /// Seconds without progress that count as healthy.
    pub(super) stall_s: i64,
    /// Generations of jobs that clients have stopped.
    pub(super) canceled: RefCell<BTreeSet<(JobId, u32)>>,
}
