//! Checks of single fields of a request for a job.

use longshore::handler::{AnyJobType, Input};
use longshore::http::{Bad, Checked};
use longshore::job_request::unknown_file;
use longshore_domain::cost::NanoDollars;
use longshore_domain::ids::{EndpointId, FileGuid};
use longshore_domain::job::Priority;
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;

/// Maximum of `maxCost`, in dollars.
const MAX_COST: f64 = 1_000_000.0;

pub(super) fn check_priority(value: &Value) -> Checked<Priority> {
    let known = value.as_str().and_then(Priority::parse);
    known.ok_or_else(|| Bad::new("invalid_priority", "priority must be high, normal or low; the default is normal"))
}

pub(super) fn check_start_at(value: &Value) -> Checked<Timestamp> {
    let time = value.as_str().and_then(Timestamp::parse_rfc3339).filter(|time| time.0 >= 0);
    time.ok_or_else(|| Bad::new("invalid_time", "startAt must be a time in RFC 3339, such as 2026-07-01T09:00:00Z"))
}

pub(super) fn check_callback(value: &Value) -> Checked<EndpointId> {
    value.as_str().and_then(EndpointId::parse).ok_or_else(unknown_callback)
}

/// Returns the error of a callback that is no webhook of the tenant.
pub(super) fn unknown_callback() -> Bad {
    let detail = "callback must be the id of a webhook of your tenant; create one with POST /api/webhooks first";
    Bad::new("unknown_webhook", detail)
}

pub(super) fn check_max_cost(value: &Value) -> Checked<NanoDollars> {
    let dollars = value.as_f64().filter(|dollars| *dollars > 0.0 && *dollars <= MAX_COST);
    dollars.map(NanoDollars::from_dollars).ok_or_else(|| {
        let detail =
            format!("maxCost must be a number of US dollars, greater than 0 and up to {MAX_COST}, such as 0.25");
        Bad::new("invalid_max_cost", detail)
    })
}

pub(super) fn check_timeout(value: &Value, limit_s: i64) -> Checked<i64> {
    value.as_i64().filter(|seconds| (1..=limit_s).contains(seconds)).ok_or_else(|| {
        let detail = format!("timeoutSeconds must be a whole number from 1 to {limit_s}, the time limit of this job");
        Bad::new("invalid_timeout", detail)
    })
}

/// Checks that the request has a file or another source of items if and only if the job type takes a file.
/// `Some(None)` is a file id that is not a UUID. For an unknown job type, only the id is checked.
pub(super) fn check_file(
    job_type: Option<&dyn AnyJobType>,
    file: Option<Option<FileGuid>>,
    has_other: bool,
) -> Checked<()> {
    match (job_type.map(AnyJobType::input), file) {
        (None | Some(Input::File), Some(Some(_))) | (None | Some(Input::Options), None) => Ok(()),
        (Some(Input::Dataset), None) => Ok(()),
        (Some(Input::Dataset), Some(_)) => {
            Err(Bad::new("file_not_allowed", "this job type takes a dataset, and no file"))
        }
        (None | Some(Input::File), Some(None)) => Err(unknown_file()),
        (Some(Input::File), None) if has_other => Ok(()),
        (Some(Input::File), None) => {
            let detail = "this job type requires a file or items; upload the file with POST /api/uploads first, send a \
                          list of items, or name a part of another job";
            Err(Bad::new("file_required", detail))
        }
        (Some(Input::Options), Some(_)) => {
            Err(Bad::new("file_not_allowed", "this job type takes no file, only options"))
        }
    }
}
