//! What clients ask for: calls of the API over the same services, which may fail, or die half-way.

use longshore::chunk::stop_job;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Reopen, SourceFile, Stop, Transition, deadline};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{JobStore, JobTransitions, PortResult, Queues, Reopened};

use super::function::Shared;
use super::{World, clock};

/// What a client asks for.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Cancel,
    /// What a generation left is run again, with a corrected file or without.
    Retry {
        generation: u32,
        corrected: Option<Box<SourceFile>>,
    },
    Delete,
}

/// As the API does it. What was not accepted is told as well.
pub(super) async fn act(shared: &Shared, id: JobId, act: Act) -> PortResult<&'static str> {
    let Some(job) = shared.ports.store.job(id).await?.filter(|job| !job.is_deleted()) else { return Ok("404") };
    match act {
        Act::Cancel if job.status.is_final() => Ok("409"),
        Act::Cancel => {
            shared.canceled.borrow_mut().insert((id, job.generation));
            stop_job(&shared.ports, &job, &Stop::canceled(clock())).await?;
            Ok("202")
        }
        Act::Retry { generation, .. } if generation != job.generation || !job.has_rest() => Ok("409"),
        Act::Retry { corrected, .. } => retry(shared, job, corrected.map(|file| *file)).await,
        Act::Delete => {
            let Transition::Made(job) = shared.ports.store.delete(job.job_id, clock()).await? else { return Ok("404") };
            shared.canceled.borrow_mut().insert((id, job.generation));
            if job.is_live() {
                // A failure is no failure of the call: the sweeper tells it.
                drop(stop_job(&shared.ports, &job, &Stop::deleted(clock())).await);
            }
            Ok("204")
        }
    }
}

async fn retry(shared: &Shared, job: Job, corrected: Option<SourceFile>) -> PortResult<&'static str> {
    let (generation, at) = (job.generation, clock());
    let deadline_at = deadline(at, job.timeout_s, job.expires_at);
    let reopen = Reopen { generation, at, deadline_at, corrected, only: None };
    let Reopened::Made(job) = shared.ports.store.reopen(&job, &reopen).await? else { return Ok("409") };
    // The sweeper sends it.
    drop(shared.ports.queues.send_create(&CreateMessage::of(&job)).await);
    Ok("202")
}

impl World {
    /// A client that had no answer asks again, or lets it be.
    pub(super) fn wish(&mut self, id: JobId, act: Act) {
        if self.dice.often(500) {
            self.wishes.push((id, act));
        }
    }
}
