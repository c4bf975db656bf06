//! The trace of a call, as W3C Trace Context writes it: all calls of a job belong to one trace.

use longshore_domain::ids::JobId;
use uuid::Uuid;

/// Returns the header `traceparent`. The trace is the job, and each call is a span of it; a ping without a job has a
/// trace of its own. It is marked as sampled, so that a handler that follows the caller's decision records it.
pub(super) fn traceparent(job: Option<JobId>) -> String {
    let trace = job.map_or_else(Uuid::new_v4, |job| job.0);
    let (_, span) = Uuid::new_v4().as_u64_pair();
    format!("00-{}-{span:016x}-01", trace.simple())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_job_are_spans_of_one_trace() {
        let job = JobId::generate();
        let [first, second] = [traceparent(Some(job)), traceparent(Some(job))];
        assert!(first.starts_with(&format!("00-{}-", job.0.simple())) && first.ends_with("-01"), "{first}");
        assert_eq!((first.len(), &first[..36]), (55, &second[..36]));
        assert_ne!(first, second);
        assert_ne!(traceparent(None)[..36], traceparent(None)[..36]);
    }
}
