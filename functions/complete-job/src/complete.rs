//! Completion of a job: closes its groups, writes the report, and sets the final status.

use longshore::ports::report_key;
use longshore::receipt::RECEIPT_NAME;
use longshore::result::{RESULT_NAME, Report, ResultDocument};
use longshore_domain::job::{Finish, Job, Transition};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{Files, MultipartFiles, Queues, Store};

use crate::attempt::{Attempt, CheckpointOutcome, TurnBudget};
use crate::closing::nothing_to_end;
use crate::completer::Completer;
use crate::ending::Ending;
use crate::outcome::CompleteError;
use crate::outcome::{CompleteEnd, Halt};
use crate::receipt::receipt;
use crate::report::{InputLayout, Reached, ReportName, ReportWriter, WrittenReport};

/// Maximum number of attempts to end a job. If the job is stopped while its report is written, the final status is
/// refused, and the second attempt sees a stopping job, which can only end. The third attempt is for a report whose
/// upload another completion has ended.
const MAX_ATTEMPTS: usize = 3;

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
            return self.finish(&ending.job, &ending.finish(None, (self.clock)())).await;
        }
        let started = (self.clock)();
        let (mut attempt, stored) = self.attempt(&ending.job, turn_budget).await?;
        let layout = InputLayout::read(self.ports, ending).await?;
        let (name, report) = (attempt.name.clone(), attempt.report.clone());
        let name = ReportName { attempt: &name, report: &report, part_bytes: self.part_bytes };
        let mut writer = ReportWriter::new(self.ports, ending, &layout, name);
        if let Some(stored) = stored {
            writer = writer.restore(&stored).ok_or_else(|| turn_budget.restart(&attempt))?;
            // The next checkpoint claims the attempt, and does not count as progress.
            attempt.began_complete = writer.is_ended();
        }
        self.write_rows(&ending.job, &mut attempt, &mut writer, turn_budget).await?;
        let written = writer.finish().await.map_err(|error| turn_budget.restart_if_upload_gone(&attempt, error))?;
        // If the job is stopped meanwhile, the report is written again after the grace period, so reading the input
        // must leave time for it. A report with a checkpoint is not written again.
        let again_ms = if attempt.checkpoint.is_some() { 0 } else { (self.clock)().millis_since(started) };
        let spare_ms = again_ms.saturating_add(self.stop_grace_ms);
        let finish = ending.finish(Some(attempt.report), (self.clock)());
        let mut finished = ending.job.clone();
        finished.finish(&finish);
        self.write_receipt(&finished, &written, spare_ms).await?;
        self.write_result(&finished, written.report).await?;
        self.finish(&ending.job, &finish).await
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
            let reached = written.map_err(|error| turn_budget.restart_if_upload_gone(attempt, error))?;
            if reached == Reached::End && (!writer.has_parts() || attempt.is_ended) {
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
    async fn finish(&self, job: &Job, finish: &Finish) -> Result<CompleteEnd, Halt> {
        if let Transition::Made(_) = self.ports.store.finish(job.job_id, finish).await? {
            return Ok(CompleteEnd::Finished(finish.status));
        }
        let Some(stored) = self.ports.store.job(job.job_id).await? else { return Ok(CompleteEnd::Absent) };
        nothing_to_end(&stored, job.generation).ok_or(Halt::Again)
    }
}
