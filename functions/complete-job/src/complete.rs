//! Completion of a job in turns: writes its report and receipt, stores a checkpoint after each turn, and sets the final
//! status. `Ending` closes the groups first.

use longshore::events::move_events_now;
use longshore::metrics::{self, Metric};
use longshore::ports::{JobFolder, report_key};
use longshore::receipt::RECEIPT_NAME;
use longshore::result::{FailuresByCode, RESULT_NAME, Report, ResultDocument};
use longshore_domain::job::{Checkpoint, Finish, Job, MoveCheckpoint, Transition};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{Files, MultipartFiles, Queues, Read, Store};
use longshore_domain::random::nonce;

use crate::attempt::{Attempt, TurnBudget};
use crate::completer::Completer;
use crate::ending::{Ending, nothing_to_end};
use crate::outcome::{CompleteEnd, CompleteError, Halt, WorkbookError};
use crate::receipt::receipt;
use crate::report::{InputLayout, Reached, ReportName, ReportWriter, WrittenReport};

/// Maximum number of attempts to end a job. If the job is stopped while its report is written, the final status is
/// refused, and the second attempt sees a stopping job, which can only end. The third attempt is for a report whose
/// upload another completion has ended.
const MAX_ATTEMPTS: usize = 3;

/// Outcome of a checkpoint.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum CheckpointOutcome {
    /// The job's checkpoint is at the report so far.
    Moved,
    /// Another completion has moved the job's checkpoint.
    Overtaken,
}

impl<S: Store, Q: Queues, F: Files + MultipartFiles> Completer<'_, S, Q, F> {
    /// Processes one delivery of a message. A redelivered message does not block its tenant's lane: the completer sends
    /// a copy of it and acknowledges the original. Sending the copy twice is as harmless as two deliveries.
    ///
    /// # Errors
    /// See [`CompleteError`]; if the copy cannot be sent, the next delivery sends it.
    pub async fn deliver(&self, message: &CompleteMessage, failures: u32) -> Result<CompleteEnd, CompleteError> {
        if let Some(copy) = message.copy_of_failed(failures) {
            let text = "a completion has failed; its message moves to the copies lane";
            tracing::warn!(job.id = %message.job_id, failures, "{text}");
            self.ports.queues.send_complete(&copy).await?;
            return Ok(CompleteEnd::Replaced);
        }
        let is_first = failures == 0 && message.failures == 0 && message.resend == 0;
        self.complete_up_to(message, if is_first { message.step } else { u32::MAX }).await
    }

    /// Ends the job if it can be ended. For a stopping job, waits until its grace period is over.
    ///
    /// # Errors
    /// See [`CompleteError`]; the next delivery continues.
    pub async fn complete(&self, message: &CompleteMessage) -> Result<CompleteEnd, CompleteError> {
        self.complete_up_to(message, u32::MAX).await
    }

    /// Ends the job unless its checkpoint is beyond this step. On the first delivery of a message, such a checkpoint
    /// belongs to another message, which continues or has handed over: two chains of turns would occupy two lanes of
    /// the tenant.
    async fn complete_up_to(&self, message: &CompleteMessage, mut step: u32) -> Result<CompleteEnd, CompleteError> {
        let mut turn_budget = TurnBudget::new((self.clock)(), self.deadline);
        for _ in 0..MAX_ATTEMPTS {
            match self.try_to_end(message, &mut step, &mut turn_budget).await {
                Ok(end) | Err(Halt::End(end)) => return Ok(end),
                Err(Halt::Again) => {}
                Err(Halt::Error(error)) => return Err(error),
            }
        }
        Ok(CompleteEnd::NothingToDo)
    }

    async fn try_to_end(
        &self,
        message: &CompleteMessage,
        step: &mut u32,
        turn_budget: &mut TurnBudget,
    ) -> Result<CompleteEnd, Halt> {
        let ending = self.load_ending(message).await?;
        if ending.job.completion.checkpoint.as_ref().is_some_and(|at| at.step > *step) {
            return Ok(CompleteEnd::Overtaken);
        }
        // From here on, this call may move the checkpoint itself.
        *step = u32::MAX;
        self.end(&ending, turn_budget).await
    }

    /// Writes the report, receipt, result document and final status, in this order. Files written whole are named by
    /// this invocation, multipart uploads by the attempt; both count only if the job names them. The report of a
    /// deleted job is never read, so such a job only gets its final status, and the sweeper may then remove it.
    async fn end(&self, ending: &Ending, turn_budget: &mut TurnBudget) -> Result<CompleteEnd, Halt> {
        if ending.job.is_deleted() {
            let finish = ending.finish(None, (self.clock)());
            return self.finish(ending, &finish, &FailuresByCode::default()).await;
        }
        let started = (self.clock)();
        let (mut attempt, stored) = self.attempt(&ending.job, turn_budget).await?;
        let as_csv = stored.as_deref().map_or(turn_budget.results_as_csv, ReportWriter::<S, F>::is_as_csv);
        if turn_budget.results_as_csv && !as_csv {
            // Another completion has moved the checkpoint meanwhile, and its report is still for a workbook.
            return Err(turn_budget.restart(&attempt));
        }
        let layout = InputLayout::read(self.ports, ending, as_csv).await?;
        let (name, report) = (attempt.name.clone(), attempt.report.clone());
        let name = ReportName { attempt: &name, report: &report, part_bytes: self.part_bytes };
        let mut writer = ReportWriter::new(self.ports, ending, &layout, name);
        if let Some(stored) = stored {
            writer = writer.restore(&stored).ok_or_else(|| turn_budget.restart(&attempt))?;
            // The next checkpoint claims the attempt, and does not count as progress.
            attempt.began_complete = writer.is_ended();
            if writer.is_out_of_tries() {
                return Err(turn_budget.restart_as_csv(&ending.job, &attempt, &WorkbookError::TooManyTries));
            }
        }
        self.write_rows(&ending.job, &mut attempt, &mut writer, turn_budget).await?;
        let workbook_ends_at = turn_budget.workbook_ends_at;
        let written = writer.finish(&|| (self.clock)() >= workbook_ends_at).await;
        let written = written.map_err(|error| turn_budget.restart_or_fail(&ending.job, &attempt, error))?;
        // If the job is stopped meanwhile, the report is written again after the grace period, so reading the input
        // must leave time for it. A report with a checkpoint is not written again.
        let again_ms = if attempt.checkpoint.is_some() { 0 } else { (self.clock)().millis_since(started) };
        let spare_ms = again_ms.saturating_add(self.stop_grace_ms);
        let finish = ending.finish(Some(attempt.report), (self.clock)());
        let mut finished = ending.job.clone();
        finished.finish(&finish);
        self.write_receipt(&finished, &written, spare_ms).await?;
        let failures = written.report.failures_by_code.clone();
        self.write_result(&finished, written.report).await?;
        self.finish(ending, &finish, &failures).await
    }

    /// Returns the attempt to continue from the last checkpoint with its stored report, or a new attempt.
    async fn attempt(&self, job: &Job, turn_budget: &TurnBudget) -> Result<(Attempt, Option<Vec<u8>>), CompleteError> {
        let checkpoint = job.completion.checkpoint.clone();
        if let Some(at) = checkpoint.as_ref().filter(|at| turn_budget.unusable_checkpoint.as_ref() != Some(&at.token))
            && let Read::Found(stored) = self.ports.files.read(&state_key(job, at), None, None).await?
        {
            return Ok((Attempt::new(at.attempt.clone(), checkpoint), Some(stored)));
        }
        Ok((Attempt::new(nonce(), checkpoint), None))
    }

    /// Writes the remaining rows. Stops after sending a continuation, or if another completion was first.
    async fn write_rows(
        &self,
        job: &Job,
        attempt: &mut Attempt,
        writer: &mut ReportWriter<'_, S, F>,
        turn_budget: &mut TurnBudget,
    ) -> Result<(), Halt> {
        loop {
            let ends_at = turn_budget.ends_at;
            let written = writer.write(&|| (self.clock)() >= ends_at).await;
            let reached = written.map_err(|error| turn_budget.restart_or_fail(job, attempt, error))?;
            if reached == Reached::End && (!writer.needs_checkpoint() || attempt.is_ended) {
                return Ok(());
            }
            if self.checkpoint(job, attempt, writer).await? == CheckpointOutcome::Overtaken {
                return Err(Halt::End(CompleteEnd::Overtaken));
            }
            attempt.is_ended = reached == Reached::End;
            if reached == Reached::Due {
                return Err(Halt::End(self.hand_over(job, attempt).await?));
            }
        }
    }

    /// Stores the report so far, and moves the job's checkpoint there if it is still the one that this attempt
    /// continued from. Each call stores its file under a new name, so it is never overwritten.
    async fn checkpoint(
        &self,
        job: &Job,
        attempt: &mut Attempt,
        writer: &mut ReportWriter<'_, S, F>,
    ) -> Result<CheckpointOutcome, CompleteError> {
        let step = attempt.checkpoint.as_ref().map_or(0, |at| at.step) + 1;
        let to = Checkpoint { attempt: attempt.name.clone(), token: nonce(), step };
        let stored = writer.stored()?;
        self.ports.files.write(&state_key(job, &to), "application/octet-stream", stored).await?;
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
    async fn hand_over(&self, job: &Job, attempt: &Attempt) -> Result<CompleteEnd, CompleteError> {
        let step = attempt.checkpoint.as_ref().map_or(0, |at| at.step);
        let message = CompleteMessage { step, ..CompleteMessage::new(job) };
        self.ports.queues.send_complete(&message).await?;
        Ok(CompleteEnd::HandedOver)
    }

    async fn write_receipt(&self, finished: &Job, written: &WrittenReport, spare_ms: i64) -> Result<(), CompleteError> {
        let in_time = || self.deadline.millis_since((self.clock)()) > spare_ms;
        let receipt = receipt(self.ports, finished, written, &in_time).await?;
        let (key, bytes) = (report_key(finished, RECEIPT_NAME), serde_json::to_vec_pretty(&receipt)?);
        Ok(self.ports.files.write(&key, "application/json", bytes).await?)
    }

    async fn write_result(&self, finished: &Job, report: Report) -> Result<(), CompleteError> {
        let (key, result) = (report_key(finished, RESULT_NAME), ResultDocument::new(finished, report));
        Ok(self.ports.files.write(&key, "application/json", serde_json::to_vec(&result)?).await?)
    }

    /// Writes the final status and the name of the report, in one conditional write. If it is refused, another delivery
    /// was first, or the job was stopped.
    async fn finish(&self, ending: &Ending, finish: &Finish, failures: &FailuresByCode) -> Result<CompleteEnd, Halt> {
        let Job { job_id, generation, .. } = ending.job;
        if let Transition::Made(job) = self.ports.store.finish(job_id, finish).await? {
            // A retry may have reopened the stored job since.
            let mut ended = ending.job.clone();
            ended.finish(finish);
            metrics::job_ended(&ended, failures);
            if let Some(progressed_at) = ending.groups.iter().map(|group| group.progressed_at).max() {
                metrics::time(Metric::CompletionDuration, &[], finish.at.millis_since(progressed_at));
            }
            move_events_now(self.ports, &job, self.clock, self.deadline).await;
            return Ok(CompleteEnd::Finished(finish.status));
        }
        let Some(stored) = self.ports.store.job(job_id).await? else { return Ok(CompleteEnd::Absent) };
        nothing_to_end(&stored, generation).ok_or(Halt::Again)
    }
}

/// Key of a checkpoint's stored report.
fn state_key(job: &Job, at: &Checkpoint) -> String {
    JobFolder::for_job(job).report_key(job.generation, Some(&at.attempt), &format!("state-{}", at.token))
}
