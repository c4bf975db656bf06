//! The split: resume, read the header, stream, commit group by group, end.

use longshore::batch::Delivery;
use longshore::chunk::complete_if_done;
use longshore::events::move_events_now;
use longshore::handler::{CheckedHeader, FirstCell, Header, TypeLimits};
use longshore::header::{FileHeader, HeaderError, check_sheet, read_header};
use longshore::telemetry;
use longshore_domain::cost::SpendingLimit;
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::job::{Job, JobError, Source, SourceFile, Stage, Status, Transition, UndoneImport};
use longshore_domain::message::CreateMessage;
use longshore_domain::pause::pause_of;
use longshore_domain::ports::{Definition, Detected, Files, Queues, Store};
use longshore_domain::split::ChunkLimits;
use longshore_domain::timestamp::Timestamp;

use crate::group_builder::messages;
use crate::outcome::{Halt, SplitEnd, SplitError};
use crate::pass::Pass;
use crate::retry_planner::RetryPlanner;
use crate::splitter::{Splitter, Turn};
use crate::undo_planner::UndoPlanner;

/// Maximum number of attempts of a splitter whose writes are refused. Each attempt reads the job again and continues
/// from there. Without another attempt, a job would hang if the write was refused because of the splitter's own earlier
/// write. Without a limit, two splitters could race indefinitely.
const MAX_ATTEMPTS: u32 = 4;

/// Length of a splitter's turn, in seconds. After a turn, the splitter sends a continuation to the end of its tenant's
/// lane, so that waiting jobs run first: few splitters run at once, and a file of gigabytes takes a minute. A small job
/// ends within its first turn. Each further turn costs a message and a read of the file's header.
pub const TURN_S: i64 = 3;

/// Length of a turn while a retry replans items. Longer, because each of these turns ends with a group, full or not.
const RETRY_TURN_S: i64 = 10;

impl<S: Store, Q: Queues, F: Files> Splitter<'_, S, Q, F> {
    /// Processes one delivery of a message. A redelivered message does not block its tenant's lane: the splitter sends
    /// a copy of it and acknowledges the original. The outcome of an earlier delivery is unknown, because a killed
    /// function returns nothing. So the number of deliveries decides, before any step that can crash again. Sending the
    /// copy twice is as harmless as two deliveries.
    ///
    /// # Errors
    /// See [`SplitError`]; if the copy cannot be sent, the next delivery sends it.
    pub async fn deliver(&self, message: &CreateMessage, delivery: Delivery) -> Result<SplitEnd, SplitError> {
        if let Some(copy) = message.copy_of_failed(delivery.failures) {
            let text = "a split has failed; its message moves to the copies lane";
            tracing::warn!(job.id = %message.job_id, failures = copy.failures, "{text}");
            self.ports.queues.send_create(&copy).await?;
            return Ok(SplitEnd::Replaced);
        }
        self.split(message, delivery.deadline).await
    }

    /// Splits the job from its split cursor on, until the end or until `deadline` is near.
    ///
    /// # Errors
    /// See [`SplitError`]; earlier commits are kept.
    pub async fn split(&self, message: &CreateMessage, deadline: Timestamp) -> Result<SplitEnd, SplitError> {
        for _ in 0..MAX_ATTEMPTS {
            match self.steps(message, deadline).await {
                Ok(end) | Err(Halt::End(end)) => return Ok(end),
                Err(Halt::Refused) => {}
                Err(Halt::SourceGone(_)) => return Ok(SplitEnd::Failed),
                Err(Halt::Error(error)) => return Err(error),
            }
        }
        Ok(SplitEnd::NothingToDo)
    }

    async fn steps(&self, message: &CreateMessage, deadline: Timestamp) -> Result<SplitEnd, Halt> {
        let job = self.begin(message, deadline).await?;
        self.send_unsent(&job, message).await?;
        let limits = self.limits(&job).await?.chunk();
        let job = self.plan_retry(job, message, limits, deadline).await?;
        if job.retry.carried_over.split_ended {
            return self.end(&job, job.split.groups, &[], deadline).await;
        }
        if matches!(job.source, Some(Source::Dataset(_) | Source::Job(_))) {
            self.check_cost(&job).await?;
        }
        let turn = || self.turn(TURN_S, deadline);
        match &job.source {
            None => self.single_item(&job, deadline).await,
            Some(Source::Dataset(source)) => self.walk_dataset(&job, source, limits, turn()).await,
            Some(Source::Job(source)) => self.copy_part(&job, source, limits, turn()).await,
            Some(Source::File(file)) => {
                let (file, start, issues) = self.open(&job, message, file).await?;
                let job = Job { source: Some(file.clone().into()), ..job.clone() };
                let (limits, start) = (limits.for_file(file.size_bytes), start.max(job.split.offset));
                Pass::new(self, &job, &file, limits, start, turn()).run(&issues).await
            }
        }
    }

    /// Fails the job if its cost exceeds its maximum. A turn of a walk reads data at a cost, whether workers commit or not.
    async fn check_cost(&self, job: &Job) -> Result<(), Halt> {
        let first = job.retry.carried_over.groups;
        let Some(max) = job.tolerance.max_cost.filter(|_| job.split.groups > first) else { return Ok(()) };
        let Some(progress) = self.ports.store.progress_from(job.job_id, first).await? else { return Ok(()) };
        match SpendingLimit::without_workers(max).exceeded(&progress.job, &progress.groups) {
            Some(error) => Err(self.fail(job, error).await),
            None => Ok(()),
        }
    }

    /// Plans the items of an undo after those of its file, of which all `groups` are committed.
    pub(crate) async fn plan_replanned_rows(
        &self,
        job: &Job,
        groups: u32,
        import: UndoneImport,
        issues: &[JobError],
        deadline: Timestamp,
    ) -> Result<SplitEnd, Halt> {
        let stored = self.ports.store.job(job.job_id).await?;
        let is_ours = |stored: &Job| stored.split.groups == groups && stored.stage == Stage::Splitting;
        let stored = stored.filter(is_ours).ok_or(Halt::Refused)?;
        let limits = self.limits(job).await?.chunk();
        UndoPlanner::new(self, stored, import, limits, self.turn(RETRY_TURN_S, deadline)).run(issues).await
    }

    /// Returns the limits of the job's type. Those of a registered type are in the definition of the job.
    pub(crate) async fn limits(&self, job: &Job) -> Result<TypeLimits, Halt> {
        if let Some(job_type) = self.registry.find(&job.job_type) {
            return Ok(job_type.limits());
        }
        let definition = self.ports.store.definition(job.job_id).await?;
        let job_type = definition.as_ref().and_then(|definition| self.registry.find_for(&job.job_type, definition));
        Ok(job_type.ok_or_else(|| SplitError::Definition(job.job_id.to_string()))?.limits())
    }

    /// Creates a turn that begins now.
    fn turn(&self, seconds: i64, deadline: Timestamp) -> Turn {
        Turn { ends: deadline.min((self.clock)().plus_seconds(seconds)), deadline }
    }

    /// Replans the remaining items of the previous generation, and returns the job.
    async fn plan_retry(
        &self,
        job: Job,
        message: &CreateMessage,
        limits: ChunkLimits,
        deadline: Timestamp,
    ) -> Result<Job, Halt> {
        if job.retry.replanned.group >= job.retry.carried_over.groups {
            return Ok(job);
        }
        if let Some(file) = self.unprepared_correction(&job).await? {
            return Err(self.send_to_prepare(&job, file, message).await);
        }
        let retry_selection = self.retry_selection(&job, limits.item_bytes).await?;
        // The corrected file is read before the turn begins, because each turn must replan something.
        let turn = self.turn(RETRY_TURN_S, deadline);
        RetryPlanner::new(self, job, limits, turn.ends).select(retry_selection).run().await
    }

    /// Starts the job, unless this message cannot split it.
    async fn begin(&self, message: &CreateMessage, deadline: Timestamp) -> Result<Job, Halt> {
        let Some(job) = self.ports.store.job(message.job_id).await? else { return Err(Halt::End(SplitEnd::Absent)) };
        telemetry::record_job(&job);
        let is_waiting = job.is_live() && job.generation == message.generation && !job.split.ended;
        if is_waiting && pause_of(&self.ports.store.pauses().await?, &job, (self.clock)()).is_some() {
            if job.resends > 0 {
                self.ports.store.reset_split_resends(job.job_id, job.generation).await?;
            }
            return Err(Halt::End(SplitEnd::Paused));
        }
        let job = match job.status {
            Status::Waiting if job.generation != message.generation => return Err(Halt::End(SplitEnd::NothingToDo)),
            Status::Waiting => match self.ports.store.begin(job.job_id, message.generation, (self.clock)()).await? {
                Transition::Made(job) => {
                    move_events_now(self.ports, &job, self.clock, deadline).await;
                    *job
                }
                Transition::Refused => return Err(Halt::Refused),
            },
            _ => job,
        };
        if job.split.ended {
            // The splitter that ended the split may have died before it requested completion.
            complete_if_done(self.ports, &job).await?;
        }
        if job.stage == Stage::Splitting && job.generation == message.generation {
            return Ok(job);
        }
        Err(Halt::End(SplitEnd::NothingToDo))
    }

    /// Sends the groups that an earlier attempt has committed and may not have sent. A continuation is sent after the
    /// messages of every group before its position; a re-send by the sweeper guarantees nothing about them.
    async fn send_unsent(&self, job: &Job, message: &CreateMessage) -> Result<(), Halt> {
        let sent = if message.resend == 0 { message.position.min(job.split.groups) } else { 0 };
        for group in job.split.sent_groups.max(sent)..job.split.groups {
            let manifest = self.ports.store.manifest(job.job_id, group).await?;
            let manifest = manifest.ok_or(SplitError::ManifestMissing(group))?;
            if manifest.chunks.is_empty() {
                self.end_empty_group(job, group).await?;
            }
            self.ports.queues.send_chunks(&messages(job, &manifest, |_| None), 0).await?;
        }
        Ok(())
    }

    /// Creates the only item of a job without a file, whose input is its options.
    async fn single_item(&self, job: &Job, deadline: Timestamp) -> Result<SplitEnd, Halt> {
        if job.split.groups > 0 {
            return self.end(job, job.split.groups, &[], deadline).await;
        }
        let chunk = ChunkPlan::from_range(1, 1, 0..0);
        let manifest = Manifest { group: 0, chunks: vec![chunk] };
        self.commit(job, &GroupPlan::from_file(job.generation, manifest, 0..0), |_| None).await?;
        self.end(job, 1, &[], deadline).await
    }

    /// Validates the file and its columns. Returns the file with its reading, and the offset of the first row.
    async fn open(
        &self,
        job: &Job,
        message: &CreateMessage,
        source: &SourceFile,
    ) -> Result<(SourceFile, u64, Vec<JobError>), Halt> {
        let unknown = || SplitError::Definition(job.job_id.to_string());
        let definition = self.ports.store.definition(job.job_id).await?.ok_or_else(unknown)?;
        // An earlier version has stored columns, and read UTF-8 with commas.
        let is_of_earlier_version = definition.columns.is_some() && definition.reading.is_none();
        let (known, asked) = (definition.known_reading(source), definition.given_reading);
        let header = match read_header(&self.ports.files, source, known, asked).await {
            Ok(header) => header,
            Err(HeaderError::Port(error)) => return Err(error.into()),
            Err(HeaderError::Source(error)) => return Err(self.fail(job, error).await),
            Err(HeaderError::Unprepared(_)) => return Err(self.send_to_prepare(job, source, message).await),
        };
        if let Err(error) = check_sheet(source.is_sheet(), definition.sheet.as_ref()) {
            return Err(self.fail(job, error).await);
        }
        let FileHeader { start, columns, rows, reading, mut issues } = header;
        if let Some(columns) = columns {
            let (found, detected) = self.check_header(job, &definition, &columns, &rows).await?;
            issues.extend(found);
            let stored = self.ports.store.put_columns(job.job_id, &columns, reading, detected.as_ref());
            let is_stored = is_of_earlier_version || stored.await? == reading;
            if !is_stored {
                // Another splitter has found another reading, because it has other code.
                return Err(Halt::Refused);
            }
        }
        // Without a reading, rows of delimiters are records of the groups that an earlier version has committed.
        let reading = if job.split.groups == 0 { reading } else { source.reading };
        Ok((SourceFile { reading, ..source.clone() }, start, issues))
    }

    /// Checks a header with the job type, which detects what the options leave open unless columns are stored already.
    /// The job fails if the type cannot process the file. Returns the issues, and the options to store with the
    /// columns.
    pub(crate) async fn check_header(
        &self,
        job: &Job,
        definition: &Definition,
        columns: &[String],
        rows: &[Vec<FirstCell>],
    ) -> Result<(Vec<JobError>, Option<Detected>), Halt> {
        let unknown = || SplitError::Definition(job.job_id.to_string());
        let job_type = self.registry.find_for(&job.job_type, definition).ok_or_else(unknown)?;
        let prepared = job_type.prepare(&definition.options).map_err(|_| unknown())?;
        let header = Header { columns, rows, detected: definition.detected_before() };
        let checked = prepared.check_header(&header).and_then(|CheckedHeader { issues, detected }| {
            let detected = detected.map(|detected| detected.into_options(definition, columns)).transpose()?;
            Ok((issues, detected))
        });
        let error = match checked {
            Ok(checked) => return Ok(checked),
            Err(error) => error,
        };
        let stored = self.ports.store.definition(job.job_id).await?.ok_or_else(unknown)?;
        if definition.columns.is_none() && stored.columns.is_some() {
            // Another splitter, which has other code, processes the file.
            return Err(Halt::Refused);
        }
        Err(self.fail(job, error).await)
    }
}
