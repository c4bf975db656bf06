//! Completion of a job: stop all counting, write the report, set the final status.

use std::time::Duration;

use longshore::ports::{JobFolder, Ports, report_key, report_name};
use longshore::receipt::RECEIPT_NAME;
use longshore::result::{RESULT_NAME, Report, ResultDocument};
use longshore_domain::group::Group;
use longshore_domain::ids::nonce;
use longshore_domain::job::{Checkpoint, Finish, Job, MoveCheckpoint, Stage, Status, Transition};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{Files, MultipartFiles, Queues, Read, Store};
use longshore_domain::time_stamp::Timestamp;

use crate::CompleteError;
use crate::ending::{Ending, grace_left_ms};
use crate::receipt::receipt;
use crate::report::{Layout, Reached, ReportName, ReportWriter, WrittenReport};

/// Maximum attempts to end a job. If the job is stopped while its report is written, the final status is refused. The
/// second attempt then sees the job stopping, and only a final status can follow that. The third one is for a report
/// whose upload another completion has ended.
const TRIES: usize = 3;

/// Length of a completion's turn, in seconds. After a turn the completion stores its report so far and sends a
/// continuation to the end of its tenant's lane. The turn bounds the wait of other jobs and the work that a crash
/// loses. Reading the input for the receipt is not part of a turn.
pub const TURN_S: i64 = 10;

/// Time reserved at the end of an invocation for the last chunk, the checkpoint and the continuation. A short
/// invocation reserves a quarter of its time instead.
const RESERVE_MS: i64 = 20_000;

/// Ends one job.
pub struct Completer<'a, S, Q, F> {
    /// The services.
    pub ports: &'a Ports<S, Q, F>,
    /// Grace period in milliseconds between the stop of a job and the closing of its groups. Longer than the interval
    /// at which a worker checks that its job is still running, so that no item starts after the closing.
    pub stop_grace_ms: i64,
    /// Deadline of the function. Shortly before it, an incomplete report is handed over to the next message, and the
    /// input is no longer read for the receipt.
    pub deadline: Timestamp,
    /// Initial size of the parts of a report's file, in bytes. S3 accepts no part under 5 MiB except the last one.
    pub part_bytes: usize,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

/// Time and attempts of one invocation.
struct TurnBudget {
    /// Time after which the report is handed over.
    over_at: Timestamp,
    /// Token of a checkpoint that cannot be continued: its upload has ended, or other code has stored it.
    gone: Option<String>,
}

impl TurnBudget {
    /// Makes the next attempt start from the beginning.
    fn begin_anew(&mut self, attempt: &Attempt) -> Option<CompleteEnd> {
        self.gone = attempt.checkpoint.as_ref().map(|at| at.token.clone());
        None
    }
}

/// An attempt to write the report of a generation, over as many invocations as it takes.
struct Attempt {
    name: String,
    /// Name of the report that this attempt ends. No other attempt writes under this name.
    report: String,
    /// The job's checkpoint, as this attempt read or moved it.
    checkpoint: Option<Checkpoint>,
    /// True if all rows are before the checkpoint.
    is_ended: bool,
    /// True if all rows were before the checkpoint when this delivery began.
    has_all: bool,
}

impl Attempt {
    fn new(name: String, checkpoint: Option<Checkpoint>) -> Self {
        let report = report_name(&name, &nonce());
        Self { name, report, checkpoint, is_ended: false, has_all: false }
    }
}

/// Outcome of a delivery that processed its message. The message is acknowledged in every case.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum CompleteEnd {
    /// The report is written and the job has this final status.
    Finished(Status),
    /// The job already had a final status, or another delivery was first.
    AlreadyFinished,
    /// The message belongs to another generation than the job's current one.
    OtherGeneration,
    /// The delivery's time is nearly over: another message continues from the checkpoint.
    HandedOver,
    /// Another completion has moved the checkpoint, and continues.
    Overtaken,
    /// Some items have not ended. The worker that ends the last one, or the sweeper, requests completion again.
    NothingToDo,
    /// The job no longer exists: it was deleted.
    Absent,
    /// An earlier delivery failed. A copy of the message in the copies lane has replaced it.
    Replaced,
}

impl<S: Store, Q: Queues, F: Files + MultipartFiles> Completer<'_, S, Q, F> {
    /// Processes one delivery of a message. A redelivered message does not block its tenant's lane: the completer sends
    /// a copy of it and acknowledges the original. Sending the copy twice is as harmless as two deliveries.
    ///
    /// # Errors
    /// See [`CompleteError`]; if the copy cannot be sent, the next delivery sends it.
    pub async fn deliver(&self, message: &CompleteMessage, failures: u32) -> Result<CompleteEnd, CompleteError> {
        if let Some(copy) = message.copy_of_failed(failures) {
            tracing::warn!(job.id = %message.job_id, failures, "a completion has failed; its message leaves its lane");
            self.ports.queues.send_complete(&copy).await?;
            return Ok(CompleteEnd::Replaced);
        }
        let is_first = failures == 0 && message.failures == 0 && message.resend == 0;
        self.complete_up_to(message, if is_first { message.step } else { u32::MAX }).await
    }

    /// Ends the job if it can be ended. For a stopping job, waits until its grace period is over.
    ///
    /// # Errors
    /// See [`CompleteError`]; the next delivery begins again.
    pub async fn complete(&self, message: &CompleteMessage) -> Result<CompleteEnd, CompleteError> {
        self.complete_up_to(message, u32::MAX).await
    }

    /// Ends the job unless its checkpoint is beyond this step. On the first delivery of a message, such a checkpoint
    /// belongs to another message, which continues or has handed over: two chains of turns would occupy two lanes of
    /// the tenant.
    async fn complete_up_to(&self, message: &CompleteMessage, mut step: u32) -> Result<CompleteEnd, CompleteError> {
        let mut turn_budget = self.turn_budget();
        for _ in 0..TRIES {
            let ending = match self.ending(message).await? {
                Ok(ending) => ending,
                Err(end) => return Ok(end),
            };
            if ending.job.completion.checkpoint.as_ref().is_some_and(|at| at.step > step) {
                return Ok(CompleteEnd::Overtaken);
            }
            // From here on this call may move the checkpoint itself.
            step = u32::MAX;
            if let Some(end) = self.end(&ending, &mut turn_budget).await? {
                return Ok(end);
            }
        }
        Ok(CompleteEnd::NothingToDo)
    }

    fn turn_budget(&self) -> TurnBudget {
        let now = (self.clock)();
        let left_ms = self.deadline.0.saturating_sub(now.0);
        let over_at = Timestamp(self.deadline.0.saturating_sub(RESERVE_MS.min(left_ms / 4)));
        TurnBudget { over_at: over_at.min(now.plus_seconds(TURN_S)), gone: None }
    }

    /// Returns the job and its groups once their counts cannot change any more, or the reason why there is nothing to
    /// end.
    async fn ending(&self, message: &CompleteMessage) -> Result<Result<Ending, CompleteEnd>, CompleteError> {
        let Some((groups, job)) = self.ports.store.progress(message.job_id).await? else {
            return Ok(Err(CompleteEnd::Absent));
        };
        if let Some(end) = nothing_to_end(&job, message.generation) {
            return Ok(Err(end));
        }
        let (groups, older): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| job.owns(group.number));
        let groups = match job.stage {
            Stage::Stopping => self.close(&job, &groups).await?,
            _ => self.done(&job, groups).await?,
        };
        Ok(groups.map(|groups| Ending { job, groups, older }).ok_or(CompleteEnd::Absent))
    }

    /// Closes every group of a stopping job; returns `None` if the job was deleted meanwhile. The job's own number of
    /// groups is final, because no group is committed to a stopping job.
    async fn close(&self, job: &Job, groups: &[Group]) -> Result<Option<Vec<Group>>, CompleteError> {
        let wait_ms = grace_left_ms(job, self.stop_grace_ms, (self.clock)());
        if wait_ms > 0 {
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        }
        let mut closed = Vec::new();
        for number in job.retry.carried_over.groups..job.split.groups {
            // A closed group no longer changes: a continuing completion already has it.
            let known = groups.iter().find(|group| group.number == number && !group.open).cloned();
            let group = if known.is_some() { known } else { self.ports.store.close(job.job_id, number).await? };
            let Some(group) = group else { return Ok(None) };
            closed.push(group);
        }
        Ok(Some(closed))
    }

    /// Returns the groups of a job whose groups are all marked as done. The groups were read before the job, so the
    /// last of them may have ended in between: then they are read again.
    async fn done(&self, job: &Job, groups: Vec<Group>) -> Result<Option<Vec<Group>>, CompleteError> {
        if unfinished(job, &groups) == 0 {
            return Ok(Some(groups));
        }
        let Some((mut groups, _)) = self.ports.store.progress(job.job_id).await? else { return Ok(None) };
        groups.retain(|group| job.owns(group.number));
        match unfinished(job, &groups) {
            0 => Ok(Some(groups)),
            n => Err(CompleteError::Unfinished(n)),
        }
    }

    /// Writes the report, receipt, result document and final status, in this order. Returns `None` if the job must be
    /// read again: it was stopped meanwhile, or another completion has written its report. Files written whole are
    /// named by this invocation, multipart uploads by the attempt; both count only if the job names them. The report of
    /// a deleted job is never read, so such a job only gets its final status, and the sweeper may then remove it.
    async fn end(&self, ending: &Ending, turn_budget: &mut TurnBudget) -> Result<Option<CompleteEnd>, CompleteError> {
        if ending.job.is_deleted() {
            return self.finish(&ending.job, &ending.finish(None, (self.clock)())).await;
        }
        let began = (self.clock)();
        let (mut attempt, stored) = self.attempt(&ending.job, turn_budget).await?;
        let layout = Layout::read(self.ports, ending).await?;
        let (name, report) = (attempt.name.clone(), attempt.report.clone());
        let name = ReportName { attempt: &name, report: &report, part_bytes: self.part_bytes };
        let new = || ReportWriter::new(self.ports, ending, &layout, name);
        let mut writer = match stored {
            Some(stored) => match new().restore(&stored) {
                Some(writer) => {
                    // The next checkpoint claims the attempt, and counts as no progress.
                    attempt.has_all = writer.is_ended();
                    writer
                }
                None => return Ok(turn_budget.begin_anew(&attempt)),
            },
            None => new(),
        };
        loop {
            match writer.write(&|| (self.clock)() >= turn_budget.over_at).await {
                Ok(Reached::End) if !writer.has_parts() || attempt.is_ended => break,
                Ok(reached) => {
                    if !self.checkpoint(&ending.job, &mut attempt, &writer).await? {
                        return Ok(Some(CompleteEnd::Overtaken));
                    }
                    attempt.is_ended = reached == Reached::End;
                    if reached == Reached::Due {
                        return self.hand_over(&ending.job, &attempt).await.map(Some);
                    }
                }
                Err(CompleteError::UploadGone) => return Ok(turn_budget.begin_anew(&attempt)),
                Err(error) => return Err(error),
            }
        }
        let written = match writer.finish().await {
            Err(CompleteError::UploadGone) => return Ok(turn_budget.begin_anew(&attempt)),
            written => written?,
        };
        // If the job is stopped meanwhile, everything is done again after the grace period, so reading the input must
        // leave time for that. A report with a checkpoint is not written again.
        let again_ms = if attempt.checkpoint.is_some() { 0 } else { (self.clock)().millis_since(began) };
        let spare_ms = again_ms.saturating_add(self.stop_grace_ms);
        let finish = ending.finish(Some(attempt.report), (self.clock)());
        let mut finished = ending.job.clone();
        finished.finish(&finish);
        self.write_receipt(&finished, &written, spare_ms).await?;
        self.write_result(&finished, written.report).await?;
        self.finish(&ending.job, &finish).await
    }

    /// Returns the attempt to continue from the last checkpoint with its stored report, or a new attempt.
    async fn attempt(&self, job: &Job, turn_budget: &TurnBudget) -> Result<(Attempt, Option<Vec<u8>>), CompleteError> {
        let checkpoint = job.completion.checkpoint.clone();
        if let Some(at) = checkpoint.as_ref().filter(|at| turn_budget.gone.as_ref() != Some(&at.token))
            && let Read::Found(stored) = self.ports.files.read(&state_key(job, at), None, None).await?
        {
            return Ok((Attempt::new(at.attempt.clone(), checkpoint), Some(stored)));
        }
        Ok((Attempt::new(nonce(), checkpoint), None))
    }

    /// Stores the report so far, and moves the job's checkpoint there if it is still the one that this attempt
    /// continued from. Returns false if another completion was first. Each call stores its file under a new name, so it
    /// is never overwritten.
    async fn checkpoint(
        &self,
        job: &Job,
        attempt: &mut Attempt,
        writer: &ReportWriter<'_, S, F>,
    ) -> Result<bool, CompleteError> {
        let step = attempt.checkpoint.as_ref().map_or(0, |at| at.step) + 1;
        let to = Checkpoint { attempt: attempt.name.clone(), token: nonce(), step };
        self.ports.files.write(&state_key(job, &to), "application/octet-stream", writer.stored()?).await?;
        let (generation, from, at) = (job.generation, attempt.checkpoint.clone(), (self.clock)());
        let is_new = from.as_ref().is_none_or(|from| from.attempt != to.attempt);
        let is_progress = (from.is_none() || !is_new) && !attempt.has_all;
        let request = MoveCheckpoint { generation, from, to, is_progress, at };
        if let Transition::Made(_) = self.ports.store.checkpoint(job.job_id, &request).await? {
            attempt.checkpoint = Some(request.to);
            return Ok(true);
        }
        if is_new {
            // No other completion knows the uploads of an attempt without a checkpoint. If the reply was lost and
            // another one continues from it, it finds its uploads gone and restarts the report.
            writer.abort().await;
        }
        Ok(false)
    }

    /// Sends a continuation of this message. After a crash before that, this message is delivered again.
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
    async fn finish(&self, job: &Job, finish: &Finish) -> Result<Option<CompleteEnd>, CompleteError> {
        if let Transition::Made(_) = self.ports.store.finish(job.job_id, finish).await? {
            return Ok(Some(CompleteEnd::Finished(finish.status)));
        }
        let Some(stored) = self.ports.store.job(job.job_id).await? else { return Ok(Some(CompleteEnd::Absent)) };
        Ok(nothing_to_end(&stored, job.generation))
    }
}

/// Key of a checkpoint's stored report.
fn state_key(job: &Job, at: &Checkpoint) -> String {
    JobFolder::for_job(job).report_key(job.generation, Some(&at.attempt), &format!("state-{}", at.token))
}

fn nothing_to_end(job: &Job, generation: u32) -> Option<CompleteEnd> {
    if job.generation != generation {
        return Some(CompleteEnd::OtherGeneration);
    }
    if job.status.is_final() {
        return Some(CompleteEnd::AlreadyFinished);
    }
    (job.stage != Stage::Stopping && !job.all_done()).then_some(CompleteEnd::NothingToDo)
}

/// Returns the number of a generation's groups that are missing or have items that have not ended.
fn unfinished(job: &Job, groups: &[Group]) -> usize {
    ((job.split.groups - job.retry.carried_over.groups) as usize)
        .saturating_sub(groups.iter().filter(|group| group.is_done()).count())
}

#[cfg(test)]
#[path = "completer_tests.rs"]
mod tests;
