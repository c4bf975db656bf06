//! The trace of a call, as W3C Trace Context writes it: all calls of a job belong to the trace of the job.

use longshore_domain::trace::TraceId;
use uuid::Uuid;

/// Returns the header `traceparent`. Each call is a span of the job's trace; a ping without a job has a trace of its
/// own. It is marked as sampled, so that a handler that follows the caller's decision records it.
pub(super) fn traceparent(trace: Option<TraceId>) -> String {
    let trace = trace.unwrap_or_else(TraceId::generate);
    let (_, span) = Uuid::new_v4().as_u64_pair();
    format!("00-{trace}-{span:016x}-01")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_job_are_spans_of_one_trace() {
        let trace = TraceId::generate();
        let [first, second] = [traceparent(Some(trace)), traceparent(Some(trace))];
        assert!(first.starts_with(&format!("00-{trace}-")) && first.ends_with("-01"), "{first}");
        assert_eq!((first.len(), &first[..36]), (55, &second[..36]));
        assert_ne!(first, second);
        assert_ne!(traceparent(None)[..36], traceparent(None)[..36]);
    }
}
