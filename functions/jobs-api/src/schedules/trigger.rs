//! `POST /api/schedules/{scheduleId}/trigger`: makes a job of a schedule now.

use std::sync::Arc;

use axum::extract::State;
use longshore::http::{Answer, PathText, Tenant, count_work_call};
use longshore::openapi::{CacheNoStore, OnePath, RetryAfterSeconds};
use longshore::problem::{Kind, Problem};
use longshore::remote::OptionsSchema;
use longshore_domain::ids::JobId;
use longshore_domain::registration::Registration;
use longshore_domain::schedule::{JobTemplate, Schedule};
use longshore_schedules::{CheckOptions, Checked, FireEnd, Firer, JobRefusal};

use crate::admission::{admit, over_quota};
use crate::backend::{Api, Backend};
use crate::jobs::JobDocument;
use crate::jobs::accept::accepted;
use crate::openapi::examples;
use crate::openapi::parameters::ScheduleIdInPath;
use crate::openapi::refusals::TriggerScheduleRefusals;
use crate::resource::{ATTEMPTS, find, overtaken};

/// Creates a job from a schedule now: 202 with the job.
#[utoipa::path(
    post,
    path = "/api/schedules/{scheduleId}/trigger",
    operation_id = "triggerSchedule",
    tag = "schedules",
    summary = "Create a job from a schedule now.",
    description = "Works for a paused schedule too, and does not change its next times. The occurrence is listed with \
        the time of the call. Unless `overlap` is `allow`, the call is refused with 409 while an earlier job is active; \
        so it is if the job type has changed and refuses the options. There is no `Idempotency-Key`: after a lost \
        response, list the occurrences before a retry, which can make another job.",
    params(ScheduleIdInPath),
    responses(
        (
            status = 202,
            description = "Accepted. Poll the job at `Location`.",
            body = JobDocument,
            headers(
                ("Location" = inline(OnePath), description = "The job."),
                ("Retry-After" = inline(RetryAfterSeconds), description = "Seconds."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::waiting()),
        ),
        TriggerScheduleRefusals,
    ),
)]
pub(crate) async fn trigger<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathText(id): PathText,
) -> Answer {
    let now = (api.clock)();
    let store = &api.ports.store;
    count_work_call(store, &tenant.0, now).await?;
    let (job_types, retention_days) = (&api.job_types.store, api.limits.retention_days);
    let firer = Firer { store, job_types, options: &CheckedNow, retention_days };
    for _ in 0..ATTEMPTS {
        let schedule = find::<Schedule, _>(store, &tenant.0, &id).await?;
        let (job, _) = schedule.job.job(&schedule, JobId::generate(), now, now.seconds());
        admit(&api, &tenant, job.chunk_queue()).await?;
        return match firer.trigger(&schedule, now).await? {
            FireEnd::Started(job) => {
                tracing::info!(schedule.id = %schedule.schedule_id, tenant = %tenant.0, job.id = %job.job_id, "a schedule was triggered");
                api.ports.send_create(&job).await;
                Ok(accepted(&job, &[]))
            }
            FireEnd::Failed(JobRefusal::OverQuota(quota)) => Err(over_quota(quota, now).into()),
            FireEnd::Failed(JobRefusal::NoJobType) => {
                let detail = "the job type of the schedule was deleted, or is not active; change the schedule";
                Err(Problem::new(Kind::ScheduleNotRunnable, detail).into())
            }
            FireEnd::Failed(refusal @ JobRefusal::OptionsRefused(_)) => {
                Err(Problem::new(Kind::ScheduleNotRunnable, refusal.detail()).into())
            }
            FireEnd::Skipped(_) => {
                let detail = "the job of an earlier occurrence is active; wait until it ends, or cancel it";
                Err(Problem::new(Kind::ScheduleNotRunnable, detail).into())
            }
            FireEnd::Changed | FireEnd::NotDue | FireEnd::Unchecked => continue,
        };
    }
    Err(overtaken("schedule").into())
}

/// The check within a call, which is counted like one that creates a job.
struct CheckedNow;

impl CheckOptions for CheckedNow {
    fn check(&self, registration: &Registration, template: &JobTemplate) -> Checked {
        match OptionsSchema::compile(registration).and_then(|schema| schema.check(&template.options())) {
            Ok(()) => Checked::Accepted,
            Err(error) => Checked::Refused(error.text()),
        }
    }
}
