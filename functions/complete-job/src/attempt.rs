//! One attempt to write a report: its turns, its checkpoints and its continuations.

use longshore::ports::{JobFolder, report_name};
use longshore_domain::job::{Checkpoint, Job, MoveCheckpoint, Transition};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{Files, MultipartFiles, Queues, Read, Store};
use longshore_domain::random::nonce;
use longshore_domain::timestamp::Timestamp;

use crate::completer::Completer;
use crate::outcome::CompleteError;
use crate::outcome::{CompleteEnd, Halt};
use crate::report::ReportWriter;

/// Length of a completion's turn, in seconds. After a turn, the completion stores its report so far and sends a
/// continuation to the end of its tenant's lane. The turn bounds the wait of other jobs, and the work that is lost with
/// a crash. Reading the input for the receipt is not part of a turn.
pub const TURN_S: i64 = 10;

/// Time reserved at the end of an invocation for the last chunk, the checkpoint and the continuation. A short
/// invocation reserves a quarter of its time instead.
const RESERVE_MS: i64 = 20_000;

/// Time and attempts of one invocation.
pub(crate) struct TurnBudget {
    /// Time after which the report is handed over.
    pub(crate) ends_at: Timestamp,
    /// Token of a checkpoint that cannot be continued: its upload has ended, or other code has stored it.
    pub(crate) unusable_checkpoint: Option<String>,
}

impl TurnBudget {
    /// Creates the budget of an invocation that starts now.
    pub(crate) fn new(now: Timestamp, deadline: Timestamp) -> Self {
        let left_ms = deadline.0.saturating_sub(now.0);
        let ends_at = Timestamp(deadline.0.saturating_sub(RESERVE_MS.min(left_ms / 4)));
        Self { ends_at: ends_at.min(now.plus_seconds(TURN_S)), unusable_checkpoint: None }
    }

    /// Makes the next attempt start from the beginning.
    pub(crate) fn restart(&mut self, attempt: &Attempt) -> Halt {
        self.unusable_checkpoint = attempt.checkpoint.as_ref().map(|at| at.token.clone());
        Halt::Again
    }

    /// Makes the next attempt start from the beginning if an upload of this attempt no longer exists. Returns any other
    /// error.
    pub(crate) fn restart_if_upload_gone(&mut self, attempt: &Attempt, error: CompleteError) -> Halt {
        match error {
            CompleteError::UploadGone => self.restart(attempt),
            error => Halt::Error(error),
        }
    }
}

/// Outcome of a checkpoint.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum CheckpointOutcome {
    /// The job's checkpoint is at the report so far.
    Moved,
    /// Another completion has moved the job's checkpoint.
    Overtaken,
}

/// An attempt to write the report of a generation, over as many invocations as it takes.
pub(crate) struct Attempt {
    pub(crate) name: String,
    /// Name of the report of this attempt. No other attempt writes under this name.
    pub(crate) report: String,
    /// The job's checkpoint that this attempt has read or written.
    pub(crate) checkpoint: Option<Checkpoint>,
    /// True if all rows are before the checkpoint.
    pub(crate) is_ended: bool,
    /// True if all rows were before the checkpoint when this delivery started.
    pub(crate) began_complete: bool,
}

impl Attempt {
    fn new(name: String, checkpoint: Option<Checkpoint>) -> Self {
        let report = report_name(&name, &nonce());
        Self { name, report, checkpoint, is_ended: false, began_complete: false }
    }
}

impl<S: Store, Q: Queues, F: Files + MultipartFiles> Completer<'_, S, Q, F> {
    /// Returns the attempt to continue from the last checkpoint with its stored report, or a new attempt.
    pub(crate) async fn attempt(
        &self,
        job: &Job,
        turn_budget: &TurnBudget,
    ) -> Result<(Attempt, Option<Vec<u8>>), CompleteError> {
        let checkpoint = job.completion.checkpoint.clone();
        if let Some(at) = checkpoint.as_ref().filter(|at| turn_budget.unusable_checkpoint.as_ref() != Some(&at.token))
            && let Read::Found(stored) = self.ports.files.read(&state_key(job, at), None, None).await?
        {
            return Ok((Attempt::new(at.attempt.clone(), checkpoint), Some(stored)));
        }
        Ok((Attempt::new(nonce(), checkpoint), None))
    }

    /// Stores the report so far, and moves the job's checkpoint there if it is still the one that this attempt
    /// continued from. Each call stores its file under a new name, so it
    /// is never overwritten.
    pub(crate) async fn checkpoint(
        &self,
        job: &Job,
        attempt: &mut Attempt,
        writer: &ReportWriter<'_, S, F>,
    ) -> Result<CheckpointOutcome, CompleteError> {
        let step = attempt.checkpoint.as_ref().map_or(0, |at| at.step) + 1;
        let to = Checkpoint { attempt: attempt.name.clone(), token: nonce(), step };
        self.ports.files.write(&state_key(job, &to), "application/octet-stream", writer.stored()?).await?;
        let (generation, from, at) = (job.generation, attempt.checkpoint.clone(), (self.clock)());
        let is_new = from.as_ref().is_none_or(|from| from.attempt != to.attempt);
        let is_progress = (from.is_none() || !is_new) && !attempt.began_complete;
        let request = MoveCheckpoint { generation, from, to, is_progress, at };
        if let Transition::Made(_) = self.ports.store.checkpoint(job.job_id, &request).await? {
            attempt.checkpoint = Some(request.to);
            return Ok(CheckpointOutcome::Moved);
        }
        if is_new {
            // No other completion uses the uploads of an attempt without a checkpoint. If only the response was lost, a
            // completion that continues from the checkpoint finds no uploads and restarts the report.
            writer.abort().await;
        }
        Ok(CheckpointOutcome::Overtaken)
    }

    /// Sends a continuation of this message. After a crash before it is sent, this message is delivered again.
    pub(crate) async fn hand_over(&self, job: &Job, attempt: &Attempt) -> Result<CompleteEnd, CompleteError> {
        let step = attempt.checkpoint.as_ref().map_or(0, |at| at.step);
        let message = CompleteMessage { step, ..CompleteMessage::new(job) };
        self.ports.queues.send_complete(&message).await?;
        Ok(CompleteEnd::HandedOver)
    }
}

/// Key of a checkpoint's stored report.
fn state_key(job: &Job, at: &Checkpoint) -> String {
    JobFolder::for_job(job).report_key(job.generation, Some(&at.attempt), &format!("state-{}", at.token))
}
