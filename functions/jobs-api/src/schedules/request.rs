//! Reads the body of a create and of a PUT.

use longshore::http::{Bad, Checked, Failure, Fields, Tenant};
use longshore::problem::Problem;
use longshore_domain::schedule::{JobTemplate, Overlap, Schedule, Timing};
use longshore_domain::timestamp::Timestamp;
use longshore_schedules::{Cron, Period, Zone};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::backend::{Api, Backend};
use crate::jobs::template::{is_same, template};

/// Maximum body size.
pub(super) const BODY_BYTES: usize = 32 * 1024;

/// Maximum characters of a name.
const NAME_CHARS: usize = 100;

// For the schema only: the body is read member by member, so that every error is reported.
/// A schedule. It has one of `cron`, `everyMinutes` and `at`.
#[allow(dead_code, reason = "for the schema only")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ScheduleRequest {
    /// Name for people.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    /// Cron pattern of five fields: minute, hour, day of the month, month, day of the week. If both days are set, a day that
    /// matches either counts. At least five minutes lie between two times.
    #[schema(max_length = 200, examples("30 2 * * MON-FRI"))]
    cron: Option<String>,
    /// Time zone of the pattern, a name of the IANA database.
    #[schema(default = "UTC", examples("Europe/Berlin"))]
    time_zone: Option<String>,
    /// Minutes between two times, counted from the creation of the schedule, or from the last change of its timing.
    #[schema(minimum = 5, maximum = 527_040)]
    every_minutes: Option<u32>,
    /// The only time, in RFC 3339.
    #[schema(format = DateTime)]
    at: Option<String>,
    /// Behavior while the job of an earlier occurrence is active.
    #[schema(value_type = Option<Overlap>, default = "skip")]
    overlap: Option<Overlap>,
    /// True if the schedule is paused: it has no occurrences.
    #[schema(default = false)]
    paused: Option<bool>,
    /// The job that each occurrence makes: the body of `POST /api/jobs`, without `fileGuid`, `items` and `startAt`, over a
    /// dataset or with options only. Up to 16 KiB.
    job: Map<String, Value>,
}

/// Fields of a schedule that a client sets.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ScheduleContent {
    pub(super) name: String,
    pub(super) timing: Timing,
    pub(super) overlap: Overlap,
    pub(super) paused: bool,
    pub(super) job: JobTemplate,
}

/// Reads a schedule. The job of a schedule that is or stays paused is not validated if it is the stored one: its owner
/// can pause a schedule whose job is no longer valid.
///
/// # Errors
/// 422 with every error of the schedule, or of its job; or a service fails.
pub(super) async fn read<B: Backend>(
    api: &Api<B>,
    tenant: &Tenant,
    mut fields: Fields,
    (stored, now): (Option<&Schedule>, Timestamp),
) -> Result<ScheduleContent, Failure> {
    let name = fields.required("name", name);
    let timing = timing(&mut fields, now);
    let overlap = fields.optional("overlap", overlap).unwrap_or_default();
    let paused = fields.optional("paused", paused).unwrap_or_default();
    let job = fields.required("job", |job| {
        job.as_object().cloned().ok_or_else(|| Bad::new("invalid_type", "job must be an object"))
    });
    match (name, timing, job) {
        (Some(name), Some(timing), Some(job)) if fields.is_valid() => {
            let job = match stored.filter(|stored| paused && is_same(api, &stored.job, &job)) {
                Some(stored) => stored.job.clone(),
                None => template(api, tenant, job).await?,
            };
            Ok(ScheduleContent { name, timing, overlap, paused, job })
        }
        _ => Err(fields.into_problem().into()),
    }
}

fn name(value: &Value) -> Checked<String> {
    let detail = || format!("the name must be a string of 1 to {NAME_CHARS} characters, without control characters");
    let text = value.as_str().ok_or_else(|| Bad::new("invalid_type", detail()))?;
    let is_valid = (1..=NAME_CHARS).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if is_valid { Ok(text.to_owned()) } else { Err(Bad::new("invalid_schedule_name", detail())) }
}

/// Reads the only timing of a request.
fn timing(fields: &mut Fields, now: Timestamp) -> Option<Timing> {
    let given = ["cron", "everyMinutes", "at"].map(|name| fields.get(name).is_some_and(|value| !value.is_null()));
    let cron = fields.optional("cron", cron);
    let zone = fields.optional("timeZone", time_zone);
    let every = fields.optional("everyMinutes", every_minutes);
    let at = fields.optional("at", at);
    if given.into_iter().filter(|is_given| *is_given).count() != 1 {
        let name = ["cron", "everyMinutes", "at"].into_iter().zip(given).filter(|(_, is_given)| *is_given).nth(1);
        let detail = "a schedule has exactly one of cron, everyMinutes and at; remove or add one";
        fields.refuse(name.map_or("cron", |(name, _)| name), &Bad::new("invalid_timing", detail));
        return None;
    }
    if zone.is_some() && !given[0] {
        fields.refuse("timeZone", &Bad::new("invalid_timing", "timeZone is for cron only; remove it"));
        return None;
    }
    match (cron, every, at) {
        (Some(pattern), ..) => Some(Timing::Cron { pattern, time_zone: zone.unwrap_or_else(|| "UTC".to_owned()) }),
        (_, Some(minutes), _) => Some(Timing::Every { minutes, from: now }),
        (.., Some(at)) => Some(Timing::At(at)),
        (None, None, None) => None,
    }
}

fn cron(value: &Value) -> Checked<String> {
    let text = value.as_str().ok_or_else(|| Bad::new("invalid_type", "cron must be a string"))?;
    Cron::parse(text).map_err(|error| Bad::new("invalid_cron", error.to_string()))?;
    Ok(text.to_owned())
}

fn time_zone(value: &Value) -> Checked<String> {
    let text = value.as_str().ok_or_else(|| Bad::new("invalid_type", "timeZone must be a string"))?;
    let zone = Zone::new(text).map_err(|error| Bad::new("invalid_time_zone", error.to_string()))?;
    Ok(zone.name().to_owned())
}

fn every_minutes(value: &Value) -> Checked<u32> {
    let minutes = value.as_u64().and_then(|minutes| u32::try_from(minutes).ok()).unwrap_or(0);
    Period::minutes(minutes).map_err(|error| Bad::new("invalid_period", error.to_string()))?;
    Ok(minutes)
}

fn at(value: &Value) -> Checked<Timestamp> {
    let time = value.as_str().and_then(Timestamp::parse_rfc3339).filter(|time| time.0 >= 0);
    time.ok_or_else(|| Bad::new("invalid_time", "at must be a time in RFC 3339, such as 2026-07-01T09:00:00Z"))
}

fn overlap(value: &Value) -> Checked<Overlap> {
    Overlap::deserialize(value).map_err(|_| {
        Bad::new(
            "invalid_overlap",
            "overlap must be \"skip\" to make no job while the last one is active, or \"allow\"",
        )
    })
}

fn paused(value: &Value) -> Checked<bool> {
    value.as_bool().ok_or_else(|| Bad::new("invalid_type", "paused must be true or false"))
}

/// Returns the problem of a single time that has passed.
pub(super) fn time_has_passed() -> Problem {
    let detail = "at has passed; set a time in the future";
    Problem::invalid(vec![longshore::field_error::FieldError::new("/at", "invalid_time", detail)])
}
