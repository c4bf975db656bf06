//! The end of a job: make sure that nothing counts any more, report, give the final status.

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

/// Maximum number of tries. If the job is told to stop while its report is written, the final status is refused. The
/// second try then sees the job stopping, and only a final status can follow that. A third one is for a report whose
/// upload another completion has ended.
const TRIES: usize = 3;

/// Length of a completion's turn, in seconds. After a turn the completion stores its report so far and sends a
/// continuation to the end of its tenant's lane. The turn bounds the wait of other jobs and the work that a crash
/// loses. Reading the input for the receipt is not part of a turn.
pub const TURN_S: i64 = 10;

/// Time reserved at the end of an invocation for the last chunk, the checkpoint and the continuation; a quarter of a
/// short invocation.
const RESERVE_MS: i64 = 20_000;

/// Ends one job.
pub struct Completer<'a, S, Q, F> {
    /// The services.
    pub ports: &'a Ports<S, Q, F>,
    /// Milliseconds between the order to stop and the closing of the groups. Longer than a worker may go on without
    /// looking whether its job still runs, so that no item starts after the closing.
    pub stop_grace_ms: i64,
    /// Time by which the function should have ended. Shortly before it, an incomplete report is handed over to the next
    /// message, and the input is no longer read for the receipt.
    pub deadline: Timestamp,
    /// Bytes of a part of a report's file, at first. S3 takes no part under 5 MiB but the last.
    pub part_bytes: usize,
    /// The time.
    pub clock: fn() -> Timestamp,
}

/// What one invocation knows of its time and of its tries.
struct TurnBudget {
    /// From then on it hands over.
    over_at: Timestamp,
    /// The checkpoint from which nobody can go on: its upload has ended, or other code has stored it.
    gone: Option<String>,
}

impl TurnBudget {
    /// The next try begins with nothing.
    fn begin_anew(&mut self, attempt: &Attempt) -> Option<CompleteEnd> {
        self.gone = attempt.checkpoint.as_ref().map(|at| at.token.clone());
        None
    }
}

/// A try to write the report of a generation; it goes on over as many invocations as it takes.
struct Attempt {
    name: String,
    /// Name of the report that this attempt ends. No other attempt writes below it.
    report: String,
    /// The job's checkpoint, as this attempt read it or moved it.
    checkpoint: Option<Checkpoint>,
    /// All rows stand in front of the checkpoint.
    is_ended: bool,
    /// They did when this delivery began.
    has_all: bool,
}

impl Attempt {
    fn new(name: String, checkpoint: Option<Checkpoint>) -> Self {
        let report = report_name(&name, &nonce());
        Self { name, report, checkpoint, is_ended: false, has_all: false }
    }
}

/// What a delivery came to. All are the message's end.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum CompleteEnd {
    /// The report is written and the job has this final status.
    Finished(Status),
    /// It had a final status already, or another delivery was first.
    AlreadyFinished,
    /// The message is of another generation than the job.
    OtherGeneration,
    /// Its time is nearly over: another message goes on from the checkpoint.
    HandedOver,
    /// Another completion has moved the checkpoint, and goes on.
    Overtaken,
    /// Items are still to end. Whoever ends the last one, or the sweeper, asks again.
    NothingToDo,
    /// There is no such job: it was deleted.
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

    /// Ends the job if it can be ended. A job that is stopping is waited for until its grace has passed.
    ///
    /// # Errors
    /// See [`CompleteError`]; the next delivery begins again.
    pub async fn complete(&self, message: &CompleteMessage) -> Result<CompleteEnd, CompleteError> {
        self.complete_up_to(message, u32::MAX).await
    }

    /// Ends the job unless its checkpoint is beyond this step. On the first delivery of a message such a checkpoint is
    /// another message's, which goes on or has handed over: two chains of turns would take two lanes of the tenant.
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

    /// The job and its groups once nothing counts any more, or why there is nothing to end.
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

    /// Closes every group of a stopping job; none if it was deleted meanwhile. The job's own number of groups is the
    /// last one, because no group is committed to a job that is stopping.
    async fn close(&self, job: &Job, groups: &[Group]) -> Result<Option<Vec<Group>>, CompleteError> {
        let wait_ms = grace_left_ms(job, self.stop_grace_ms, (self.clock)());
        if wait_ms > 0 {
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        }
        let mut closed = Vec::new();
        for number in job.retry.carried_over.groups..job.split.groups {
            // Closed once, it changes no more: a completion that goes on has it already.
            let known = groups.iter().find(|group| group.number == number && !group.open).cloned();
            let group = if known.is_some() { known } else { self.ports.store.close(job.job_id, number).await? };
            let Some(group) = group else { return Ok(None) };
            closed.push(group);
        }
        Ok(Some(closed))
    }

    /// The groups of a job that says that they are all done. They were read before the job, so the last of them may
    /// have ended in between: then they are read again.
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
    /// read again: it was told to stop meanwhile, or another completion has written its report. Files written whole are
    /// named by this invocation, multipart uploads by the attempt; both count only if the job names them. Nobody reads
    /// the report of a deleted job, so such a job only gets its final status, and the sweeper may then remove it.
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
                    // The next checkpoint claims the attempt, and is no progress.
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
        // If the job is told to stop meanwhile, everything is done again after the grace period, so reading the input
        // must leave time for that. A report with a checkpoint is not written again.
        let again_ms = if attempt.checkpoint.is_some() { 0 } else { (self.clock)().millis_since(began) };
        let spare_ms = again_ms.saturating_add(self.stop_grace_ms);
        let finish = ending.finish(Some(attempt.report), (self.clock)());
        let mut finished = ending.job.clone();
        finished.finish(&finish);
        self.write_receipt(&finished, &written, spare_ms).await?;
        self.write_result(&finished, written.report).await?;
        self.finish(&ending.job, &finish).await
    }

    /// The attempt that goes on where the last checkpoint is, with what is stored of its report; or one that begins.
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
    /// continued from. Returns false if another completion was first. The stored file has a name of this call's own, so
    /// nothing overwrites it.
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
            // No other completion knows the uploads of an attempt without a checkpoint. If the reply was lost and another
            // one goes on from it, it finds its uploads gone and begins the report anew.
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
    /// was first, or the job was told to stop.
    async fn finish(&self, job: &Job, finish: &Finish) -> Result<Option<CompleteEnd>, CompleteError> {
        if let Transition::Made(_) = self.ports.store.finish(job.job_id, finish).await? {
            return Ok(Some(CompleteEnd::Finished(finish.status)));
        }
        let Some(stored) = self.ports.store.job(job.job_id).await? else { return Ok(Some(CompleteEnd::Absent)) };
        Ok(nothing_to_end(&stored, job.generation))
    }
}

/// Where a checkpoint's part of the report is stored.
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

/// How many of a generation's groups are missing or have items that have not ended.
fn unfinished(job: &Job, groups: &[Group]) -> usize {
    ((job.split.groups - job.retry.carried_over.groups) as usize)
        .saturating_sub(groups.iter().filter(|group| group.is_done()).count())
}

#[cfg(test)]
#[path = "completer_tests.rs"]
mod tests;
