//! The firing of a schedule that is due: one write moves it to its next time, records the occurrence, and creates the job.
//!
//! | what happens | effect |
//! | --- | --- |
//! | two sweepers fire at once | one write is first; the other one changes nothing |
//! | the sweeper dies before the write | the next sweep fires |
//! | the sweeper dies after the write | the job waits in the table, and the sweep of the jobs sends its message |
//! | the schedule changes meanwhile | nothing is written, and the next sweep sees the change |
//! | the job type is registered again | the options are checked by the registration that the job gets |

use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::{
    Definition, FireWrite, Firing, JobStore, JobTypes, PortError, PortResult, QuotaExceeded, Schedules,
};
use longshore_domain::registration::{RegisteredInput, StoredRegistration, TypeName, VersionedRegistration};
use longshore_domain::schedule::{
    FireDecision, JobTemplate, LastJob, Occurrence, OccurrenceResult, OptionsCheck, Schedule, SkipReason,
};
use longshore_domain::timestamp::Timestamp;

use crate::options::{CheckOptions, Checked};
use crate::recurrence::Recurrence;
use crate::timing::TimingError;

/// The end of a firing.
#[derive(Clone, PartialEq, Debug)]
pub enum FireEnd {
    /// The schedule is not due.
    NotDue,
    /// The job is stored. The caller sends its message.
    Started(Box<Job>),
    /// The occurrence makes no job, for this reason.
    Skipped(SkipReason),
    /// The job cannot be created.
    Failed(JobRefusal),
    /// The options of the job must be checked first, and the caller has no time for it. Nothing was written.
    Unchecked,
    /// Another writer was first. Nothing was written.
    Changed,
}

/// Reason why the job of an occurrence cannot be created.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum JobRefusal {
    /// The registered job type was deleted, is not active, or no longer takes this kind of input.
    NoJobType,
    /// The registered job type has changed, and refuses the options with this error.
    OptionsRefused(String),
    /// The tenant has reached a limit.
    OverQuota(QuotaExceeded),
}

impl JobRefusal {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoJobType => "unknown_job_type",
            Self::OptionsRefused(_) => "options_refused",
            Self::OverQuota(QuotaExceeded::ActiveJobs(_)) => "too_many_jobs",
            Self::OverQuota(QuotaExceeded::DailyBytes(_)) => "upload_quota_exceeded",
        }
    }

    /// Returns the text for people: the reason, and for refused options the way out.
    pub fn detail(&self) -> String {
        match self {
            Self::NoJobType => {
                "the job type was deleted, is not active, or no longer takes this kind of input".to_owned()
            }
            Self::OptionsRefused(error) => format!(
                "{error}; the job type has changed since the options were set: change the job of the schedule, or ask \
                 an operator to accept the former options"
            ),
            Self::OverQuota(_) => "the tenant has reached its limit of active jobs or of bytes".to_owned(),
        }
    }

    fn result(&self) -> OccurrenceResult {
        OccurrenceResult::Failed { code: self.code().to_owned(), detail: self.detail() }
    }
}

/// The firing of schedules, with its settings.
#[derive(Copy, Clone, Debug)]
pub struct Firer<'a, S, T, O> {
    /// The store.
    pub store: &'a S,
    /// The registered job types.
    pub job_types: &'a T,
    /// The check of the options of a registered job type.
    pub options: &'a O,
    /// Days until a job expires.
    pub retention_days: i64,
}

impl<S: JobStore + Schedules, T: JobTypes, O: CheckOptions> Firer<'_, S, T, O> {
    /// Fires a schedule that was read, if it is due.
    ///
    /// # Errors
    /// If the store fails. Repeat it later: the occurrence makes one job, or has one reason.
    pub async fn fire(&self, schedule: &Schedule, now: Timestamp) -> PortResult<FireEnd> {
        let Some(scheduled_at) = schedule.due().filter(|due| *due <= now) else { return Ok(FireEnd::NotDue) };
        let next_at = next_after(schedule, scheduled_at).map_err(unreadable)?;
        let mut step = Step { read: schedule, scheduled_at, next_at, last_at: Some(scheduled_at), now, check: None };
        let end = match schedule.decide(self.last_job(schedule).await?, next_at, now) {
            FireDecision::NotDue => return Ok(FireEnd::NotDue),
            FireDecision::Skip(reason) => FireEnd::Skipped(reason),
            FireDecision::Start => self.start(&mut step).await?,
        };
        let result = match &end {
            FireEnd::Skipped(reason) => OccurrenceResult::Skipped { reason: *reason },
            FireEnd::Failed(refusal) => refusal.result(),
            FireEnd::NotDue | FireEnd::Started(_) | FireEnd::Unchecked | FireEnd::Changed => return Ok(end),
        };
        let write = self.record(&step, result, None).await?;
        Ok(if write == FireWrite::Recorded { end } else { FireEnd::Changed })
    }

    /// Makes a job now, besides the times of the schedule. `Failed` and `Skipped` leave no record: the caller is told.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn trigger(&self, schedule: &Schedule, now: Timestamp) -> PortResult<FireEnd> {
        if schedule.waits_for(self.last_job(schedule).await?) {
            return Ok(FireEnd::Skipped(SkipReason::Overlap));
        }
        let (next_at, last_at) = (schedule.next_at, schedule.last_at);
        self.start(&mut Step { read: schedule, scheduled_at: now, next_at, last_at, now, check: None }).await
    }

    async fn last_job(&self, schedule: &Schedule) -> PortResult<LastJob> {
        let Some(last) = schedule.last_job else { return Ok(LastJob::Ended) };
        let job = self.store.job(last).await?;
        Ok(if job.is_some_and(|job| job.is_unfinished()) { LastJob::Active } else { LastJob::Ended })
    }

    async fn start(&self, step: &mut Step<'_>) -> PortResult<FireEnd> {
        let (template, now) = (&step.read.job, step.now);
        let expires_at = now.plus_days(self.retention_days).seconds();
        let (job, mut definition) = template.job(step.read, JobId::generate(), now, expires_at);
        if template.is_registered {
            let Some(registration) = self.registration(template).await? else {
                return Ok(FireEnd::Failed(JobRefusal::NoJobType));
            };
            let Some(check) = self.check(template, &registration) else { return Ok(FireEnd::Unchecked) };
            if let Some(error) = step.check.insert(check).refusal.clone() {
                return Ok(FireEnd::Failed(JobRefusal::OptionsRefused(error)));
            }
            definition.registration = Some(registration);
        }
        let result = OccurrenceResult::Started { job_id: job.job_id };
        Ok(match self.record(step, result, Some((&job, &definition))).await? {
            FireWrite::Recorded => FireEnd::Started(Box::new(job)),
            FireWrite::Changed => FireEnd::Changed,
            FireWrite::OverQuota(quota) => FireEnd::Failed(JobRefusal::OverQuota(quota)),
        })
    }

    /// Returns the check of the options by the registration: the stored one, or a new one; `None` if there is no time
    /// for it.
    fn check(&self, template: &JobTemplate, registration: &VersionedRegistration) -> Option<OptionsCheck> {
        let version = registration.version.clone();
        if let Some(stored) = template.check_by(&version) {
            return Some(stored.clone());
        }
        if registration.registration.options_schema.is_none() {
            return Some(OptionsCheck::accepted(version));
        }
        match self.options.check(&registration.registration, template) {
            Checked::Accepted => Some(OptionsCheck::accepted(version)),
            Checked::Refused(error) => Some(OptionsCheck::refused(version, &error)),
            Checked::Later => None,
        }
    }

    /// Returns the registration that a new job uses; `None` if there is none, or its jobs have another input.
    async fn registration(&self, template: &JobTemplate) -> PortResult<Option<VersionedRegistration>> {
        let Ok(name) = TypeName::parse(&template.job_type) else { return Ok(None) };
        let stored: Option<StoredRegistration> = self.job_types.job_type(&name).await?;
        let active = stored.and_then(|stored| stored.active);
        let has_dataset = template.source.is_some();
        Ok(active.filter(|active| (active.registration.input == RegisteredInput::Dataset) == has_dataset))
    }

    async fn record(
        &self,
        step: &Step<'_>,
        result: OccurrenceResult,
        job: Option<(&Job, &Definition)>,
    ) -> PortResult<FireWrite> {
        let Step { read, scheduled_at, next_at, last_at, now, check } = step;
        let mut fired = read.fired(&result, *next_at);
        fired.last_at = *last_at;
        fired.job.options_check = check.clone().or(fired.job.options_check);
        let occurrence = Occurrence { scheduled_at: *scheduled_at, revision: fired.revision, at: *now, result };
        self.store.fire(&Firing { read, fired: &fired, occurrence: &occurrence, job }).await
    }
}

/// A step of a schedule: an occurrence of it, or a call that triggers it.
#[derive(Debug)]
struct Step<'a> {
    /// The schedule as it was read.
    read: &'a Schedule,
    /// Time of the occurrence.
    scheduled_at: Timestamp,
    /// Time of the one after it.
    next_at: Option<Timestamp>,
    /// Value of `last_at` after the write.
    last_at: Option<Timestamp>,
    now: Timestamp,
    /// The check of the options that this step has made or used.
    check: Option<OptionsCheck>,
}

/// Returns the error of a timing that this version of the program cannot read. The schedule is kept as it is.
fn unreadable(error: TimingError) -> PortError {
    PortError { service: "schedules", operation: "timing", source: error.into() }
}

/// Returns the next time of a schedule; `None` if there is none.
///
/// # Errors
/// If another version of this program has stored a timing that this one cannot read.
pub fn next_after(schedule: &Schedule, after: Timestamp) -> Result<Option<Timestamp>, TimingError> {
    Ok(Recurrence::of(&schedule.timing)?.next_after(after).map(|occurrence| occurrence.at))
}
