//! Result of a job, from its last document.

use std::time::Duration;

use longshore_domain::timestamp::Timestamp;
use serde_json::Value;

use super::content::Expected;

/// Result of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JobVerdict {
    /// Completed, with exactly the expected counts.
    Exact,
    /// Completed, with wrong counts.
    Wrong(String),
    /// Failed or canceled.
    Ended(String),
    /// Not created, or its status could not be read.
    Refused(String),
    /// Not finished, because the run was stopped.
    Interrupted,
}

/// Returns a number of a document; 0 if it is absent.
pub(super) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// Returns the time until the end of the job, by the deployment's clock, so that the interval between two polls is no
/// part of it: the time until it was accepted, and the time from its creation to its end.
pub(super) fn end(document: &Value, accepted: Duration, observed: Duration) -> Duration {
    let time = |name: &str| Timestamp::parse_rfc3339(document[name].as_str()?);
    let Some((created, finished)) = time("createdAt").zip(time("finishedAt")) else { return observed };
    let took = Duration::from_millis(finished.millis_since(created).unsigned_abs());
    observed.min(accepted + took)
}

/// Compares the counts of a job that has ended with those that are expected of its file.
pub(super) fn check_counts(document: &Value, expected: Expected) -> JobVerdict {
    let status = document["status"].as_str().unwrap_or_default();
    if status != "completed" {
        let code = document["error"]["code"].as_str().map_or_else(String::new, |code| format!(": {code}"));
        return JobVerdict::Ended(format!("{status}{code}"));
    }
    let count = |name: &str| number(&document["counts"][name]);
    let [succeeded, failed, skipped] = ["succeeded", "failed", "skipped"].map(count);
    let items = number(&document["itemCount"]);
    let is_exact = items == expected.rows
        && succeeded + failed + skipped == expected.rows
        && expected.failed.is_none_or(|expected| failed == expected && skipped == 0);
    if is_exact {
        return JobVerdict::Exact;
    }
    let wanted = expected.failed.map_or_else(String::new, |failed| format!(", of which {failed} fail"));
    let id = document["jobId"].as_str().unwrap_or_default();
    let found = format!("{items} items, {succeeded} succeeded, {failed} failed, {skipped} skipped");
    JobVerdict::Wrong(format!("job {id}: {found}; its file has {} rows{wanted}", expected.rows))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(succeeded: u64, failed: u64, skipped: u64) -> Value {
        json!({ "jobId": "j", "status": "completed", "itemCount": succeeded + failed + skipped,
            "counts": { "succeeded": succeeded, "failed": failed, "skipped": skipped } })
    }

    #[test]
    fn counts_must_be_exactly_those_of_the_file() {
        let import = Expected { rows: 10, failed: Some(2) };
        let other = Expected { rows: 10, failed: None };
        for (counts, expected, is_exact) in [
            ((8, 2, 0), import, true),
            ((9, 1, 0), import, false),
            ((8, 1, 1), import, false),
            ((8, 3, 0), import, false),
            ((7, 2, 1), other, true),
            ((9, 0, 0), other, false),
        ] {
            let (succeeded, failed, skipped) = counts;
            let outcome = check_counts(&document(succeeded, failed, skipped), expected);
            assert_eq!(outcome == JobVerdict::Exact, is_exact, "{counts:?} {outcome:?}");
        }
        let mut uncounted = document(8, 2, 0);
        uncounted["itemCount"] = 11.into();
        assert!(matches!(check_counts(&uncounted, import), JobVerdict::Wrong(_)));
    }

    #[test]
    fn a_job_that_has_failed_names_its_reason() {
        let document = json!({ "status": "failed", "error": { "code": "too_many_failures" } });
        let outcome = check_counts(&document, Expected { rows: 1, failed: None });
        assert_eq!(outcome, JobVerdict::Ended("failed: too_many_failures".to_owned()));
    }

    #[test]
    fn the_end_is_that_of_the_deployment_and_not_that_of_the_poll() {
        let ms = Duration::from_millis;
        let document = json!({ "createdAt": "2026-07-01T00:00:00.000Z", "finishedAt": "2026-07-01T00:00:02.500Z" });
        assert_eq!(end(&document, ms(100), ms(3_400)), ms(2_600));
        assert_eq!(end(&document, ms(100), ms(2_550)), ms(2_550), "never later than it was seen");
        assert_eq!(end(&json!({}), ms(100), ms(3_400)), ms(3_400));
    }
}
