//! The jobs with one of their conditions removed.

use longshore_domain::group::{GroupPlan, SplitStep};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{
    Finish, Job, JobError, MarkUndone, MoveCheckpoint, Preparation, Reopen, Selection, SourceFile, Stage, Stop,
    Transition,
};
use longshore_domain::ports::{
    ByAge, Created, Definition, Detected, IdempotencyKey, JobPosition, JobStore, JobTransitions, JobsPage, JobsQuery,
    PortResult, Reopened, Started, UndoCreated, Upload,
};
use longshore_domain::records::Reading;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{GroupWrite, MemoryStore};

use super::{Unguarded, as_is, without};
use crate::clock::step;
use crate::pauses;

impl Unguarded<MemoryStore> {
    /// Writes a transition regardless of the job's state.
    pub(super) fn force(&self, id: JobId, write: impl FnOnce(&mut Job)) -> Transition {
        let written = self.0.amend(id, |job, _| {
            write(job);
            job.clone()
        });
        written.map_or(Transition::Refused, |job| Transition::Made(Box::new(job)))
    }

    /// Adds the event of an end by a write of its own. The function can die before it.
    async fn add_event_apart(&self, id: JobId, finish: &Finish) {
        let event = finish.event();
        self.force(id, |job| job.pending_events.retain(|pending| Some(*pending) != event));
        step().await;
        self.force(id, |job| job.pending_events.extend(event));
    }

    pub(super) fn stored(&self, id: JobId) -> Option<Job> {
        self.0.amend(id, |job, _| job.clone())
    }

    /// The generation of the request, or that of the stored job if the condition is removed.
    pub(super) fn generation(&self, id: JobId, requested: u32) -> u32 {
        let stored = || self.stored(id).map(|job| job.generation);
        Some(requested).filter(|_| !without("generation")).or_else(stored).unwrap_or(requested)
    }

    /// The job as a reader sees it. Without their conditions, the split has ended before its end is recorded, and a
    /// replay, or a retry for one reason, covers all failed items.
    pub(super) fn as_read(&self, mut job: Job) -> Job {
        let selects = matches!(job.retry.selection, Selection::Chunks(_) | Selection::Failure(_));
        if selects && without("replay-of-what-was-given-up") {
            job.retry.selection = Selection::All;
        }
        if without("final-count-first")
            && job.stage == Stage::Splitting
            && job.split.groups > job.retry.carried_over.groups
        {
            job.split.ended = true;
        }
        job
    }

    /// Executes the transaction of a group's commit. Returns true if it succeeded.
    pub(crate) fn write_group(&self, id: JobId, plan: &GroupPlan, now: Timestamp) -> PortResult<bool> {
        let Some(stored) = self.stored(id) else { return Ok(false) };
        pauses::check_split(&stored.job_type, &stored.tenant);
        let mut plan = plan.clone();
        plan.generation = self.generation(id, plan.generation);
        if without("split-cursor") {
            plan.manifest.group = stored.split.groups;
        }
        if without("split-cursor") || without("place-of-the-split") {
            plan.step = match plan.step {
                SplitStep::File { upto, .. } => SplitStep::File { from: stored.split.offset, upto },
                SplitStep::Walk { upto, .. } => SplitStep::Walk { from: stored.split.place.clone(), upto },
                SplitStep::Replanned { upto, .. } => SplitStep::Replanned { from: stored.retry.replanned, upto },
            };
        }
        let stage = stored.stage;
        let is_forced = without("no-group-after-stop") && stage != Stage::Splitting;
        if is_forced {
            self.force(id, |job| job.stage = Stage::Splitting);
        }
        let applied = self.0.write_group(id, &plan, now);
        if is_forced {
            self.force(id, |job| job.stage = stage);
        }
        applied
    }

    /// Reads the job after the transaction of a group's commit.
    pub(crate) fn written_group(&self, id: JobId, plan: &GroupPlan, write: GroupWrite) -> Transition {
        let is_unchecked =
            write.applied && ["split-cursor", "place-of-the-split", "generation"].into_iter().any(without);
        if is_unchecked {
            let job = self.stored(id);
            return job.map_or(Transition::Refused, |job| Transition::Made(Box::new(self.as_read(job))));
        }
        self.transition_as_read(self.0.written_group(id, plan, write))
    }

    pub(super) fn transition_as_read(&self, transition: Transition) -> Transition {
        match transition {
            Transition::Made(job) => Transition::Made(Box::new(self.as_read(*job))),
            Transition::Refused => Transition::Refused,
        }
    }
}

impl JobStore for Unguarded<MemoryStore> {
    as_is! {
        async fn create_upload(&self, upload: &Upload, key: Option<&IdempotencyKey>) -> PortResult<Created<FileGuid>>;
        async fn upload(&self, id: FileGuid) -> PortResult<Option<Upload>>;
        async fn create_job(&self, job: &Job, definition: &Definition, key: Option<&IdempotencyKey>) -> PortResult<Created<JobId>>;
        async fn start_job(&self, job: &Job, definition: &Definition) -> PortResult<Started>;
        async fn upload_created_before(&self, tenant: &TenantId, key: &IdempotencyKey) -> PortResult<Option<Created<FileGuid>>>;
        async fn job_created_before(&self, tenant: &TenantId, key: &IdempotencyKey) -> PortResult<Option<Created<JobId>>>;
        async fn jobs(&self, wanted: &JobsQuery<'_>) -> PortResult<JobsPage>;
        async fn due_jobs(&self, before: Timestamp, limit: usize) -> PortResult<Vec<JobId>>;
        async fn unfinished(&self, after: Option<JobPosition>, order: ByAge) -> PortResult<Vec<JobPosition>>;
    }

    async fn create_undo(&self, undo: &Job, definition: &Definition, mark: &MarkUndone) -> PortResult<UndoCreated> {
        let mut mark = *mark;
        if let Some(import) = self.stored(mark.import) {
            if without("one-undo-at-once") {
                mark.before = import.undo.undone_by;
            }
            if without("undo-of-the-generation-read") {
                mark.generation = import.generation;
            }
        }
        self.0.create_undo(undo, definition, &mark).await
    }

    async fn definition(&self, id: JobId) -> PortResult<Option<Definition>> {
        let mut definition = self.0.definition(id).await?;
        let preview = definition.as_mut().and_then(|definition| definition.options.get_mut("preview"));
        if let Some(preview) = preview.filter(|_| without("previews-write-nothing")) {
            *preview = false.into();
        }
        Ok(definition)
    }

    async fn job(&self, id: JobId) -> PortResult<Option<Job>> {
        Ok(self.0.job(id).await?.map(|job| self.as_read(job)))
    }
}

impl JobTransitions for Unguarded<MemoryStore> {
    as_is! {
        async fn record_outage(&self, id: JobId, generation: u32, since: Timestamp) -> PortResult<Transition>;
        async fn put_columns(
            &self,
            id: JobId,
            columns: &[String],
            reading: Option<Reading>,
            detected: Option<&Detected>
        ) -> PortResult<Option<Reading>>;
        async fn record_preparation(&self, job: &Job, uploaded: &SourceFile, preparation: Preparation, now: Timestamp) -> PortResult<Transition>;
        async fn reset_split_resends(&self, id: JobId, generation: u32) -> PortResult<()>;
        async fn stop_if_unchanged(&self, read: &Job, stop: &Stop) -> PortResult<Transition>;
        async fn delete(&self, id: JobId, now: Timestamp) -> PortResult<Transition>;
    }

    async fn end_preparation(&self, job: &Job, prepared: &SourceFile, now: Timestamp) -> PortResult<Transition> {
        pauses::check_split(&job.job_type, &job.tenant);
        self.0.end_preparation(job, prepared, now).await
    }

    async fn delete_if_unchanged(&self, read: &Job, now: Timestamp) -> PortResult<Transition> {
        if without("no-delete-during-an-undo") {
            return self.0.delete(read.job_id, now).await;
        }
        self.0.delete_if_unchanged(read, now).await
    }

    async fn enqueue(&self, read: &Job, now: Timestamp) -> PortResult<Transition> {
        if without("enqueue-once") {
            return Ok(self.force(read.job_id, |job| {
                job.is_scheduled = false;
                (job.stage, job.times.updated_at) = (Stage::Queued, now);
            }));
        }
        self.0.enqueue(read, now).await
    }

    async fn begin(&self, id: JobId, generation: u32, now: Timestamp) -> PortResult<Transition> {
        if without("begin-once") {
            return Ok(self.force(id, |job| {
                (job.status, job.stage) = (longshore_domain::job::Status::Running, Stage::Splitting);
                (job.times.started_at, job.times.updated_at) = (Some(now), now);
            }));
        }
        self.0.begin(id, generation, now).await
    }

    async fn commit_group(&self, job: &Job, plan: &GroupPlan, now: Timestamp) -> PortResult<Transition> {
        let applied = self.write_group(job.job_id, plan, now)?;
        Ok(self.written_group(job.job_id, plan, GroupWrite { at: now, applied }))
    }

    async fn end_split(&self, job: &Job, groups: u32, issues: &[JobError], now: Timestamp) -> PortResult<Transition> {
        let job = Job { generation: self.generation(job.job_id, job.generation), ..job.clone() };
        let Some(stored) = self.stored(job.job_id) else { return Ok(Transition::Refused) };
        if without("end-of-split-only-while-splitting") {
            self.force(job.job_id, |job| job.stage = Stage::Splitting);
        }
        let groups = if without("groups-at-the-end-of-the-split") { stored.split.groups } else { groups };
        self.0.end_split(&job, groups, issues, now).await
    }

    async fn stop(&self, id: JobId, generation: u32, stop: &Stop) -> PortResult<Transition> {
        let generation = self.generation(id, generation);
        let is_current = self.stored(id).is_some_and(|job| job.generation == generation);
        if without("stop-only-while-alive") && is_current {
            return Ok(self.force(id, |job| {
                (job.stage, job.stop, job.times.updated_at) = (Stage::Stopping, Some(stop.clone()), stop.at);
            }));
        }
        self.0.stop(id, generation, stop).await
    }

    async fn reopen(&self, job: &Job, reopen: &Reopen) -> PortResult<Reopened> {
        if without("reopen-only-what-has-ended") {
            let transition = self.force(job.job_id, |job| *job = job.reopened(reopen));
            return Ok(match transition {
                Transition::Made(job) => Reopened::Made(job),
                Transition::Refused => Reopened::Refused,
            });
        }
        let mark = self.0.amend(job.job_id, |job, _| job.undo.undone_by).flatten();
        if let Some(mark) = mark.filter(|_| without("no-generation-after-an-undo")) {
            self.force(job.job_id, |job| job.undo.undone_by = None);
            let reopened = self.0.reopen(job, reopen).await;
            self.force(job.job_id, |job| job.undo.undone_by = Some(mark));
            return reopened;
        }
        self.0.reopen(job, reopen).await
    }

    async fn checkpoint(&self, id: JobId, request: &MoveCheckpoint) -> PortResult<Transition> {
        let mut request = request.clone();
        request.generation = self.generation(id, request.generation);
        if without("checkpoint-as-it-was-read") {
            request.from = self.stored(id).and_then(|job| job.completion.checkpoint);
        }
        self.0.checkpoint(id, &request).await
    }

    async fn finish(&self, id: JobId, finish: &Finish) -> PortResult<Transition> {
        let report = finish.report.clone().filter(|_| !without("attempt-in-reports"));
        let finish = Finish { generation: self.generation(id, finish.generation), report, ..finish.clone() };
        let Some(stored) = self.stored(id) else { return Ok(Transition::Refused) };
        let is_repeated = without("final-status") && stored.status.is_final() && stored.generation == finish.generation;
        let ignores_stop = without("no-completion-of-a-stopping-job") && stored.stage == Stage::Stopping;
        let transition = if is_repeated || ignores_stop {
            self.force(id, |job| {
                (job.status, job.stage, job.completion.totals) = (finish.status, Stage::Done, Some(finish.totals));
                job.completion.report.clone_from(&finish.report);
                (job.error, job.times.finished_at, job.times.updated_at) =
                    (finish.error.clone(), Some(finish.at), finish.at);
            })
        } else {
            self.0.finish(id, &finish).await?
        };
        if without("event-with-status") {
            self.add_event_apart(id, &finish).await;
        }
        if without("closed-before-status") {
            self.0.amend(id, |_, groups| groups.values_mut().for_each(|group| group.open = false));
        }
        Ok(transition)
    }

    async fn count_resend(&self, job: &Job, now: Timestamp) -> PortResult<Transition> {
        if job.is_live() && !job.all_done() {
            // The create message has been sent before. A complete message may be sent during a pause.
            pauses::check_push(&job.job_type, &job.tenant);
        }
        let stored = self.stored(job.job_id).filter(|_| without("pushes-counted-once"));
        self.0.count_resend(stored.as_ref().unwrap_or(job), now).await
    }
}
