//! The outcome of a call of a remote handler: what is counted, what is sent again, and what stops the job.

use super::answer::{Answer, AnsweredItems};
use super::answer_reader::read_answer;
use super::call_result::{Backpressure, CallResult, Reply};
use super::fault::Fault;
use crate::ids::ItemKey;
use crate::outcome::Rejection;
use crate::timestamp::Timestamp;

/// Outcome of a call.
#[derive(Clone, Debug)]
pub enum CallOutcome {
    /// At least one item has an outcome. The others are sent again at once, in a smaller batch.
    Items(AnsweredItems),
    /// No item of the job can succeed: the job stops.
    Fatal(Rejection),
    /// The batch is sent again later, without an attempt of its items. The concurrency of the handler is halved.
    Parked(Backpressure),
    /// The handler is pinged. If the ping is good, the batch is bisected; otherwise the handler is at fault.
    Fault(Fault),
}

impl CallOutcome {
    /// Returns the name of the outcome, for metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Items(_) => "answered",
            Self::Fatal(_) => "fatal",
            Self::Parked(_) => "backpressure",
            Self::Fault(_) => "fault",
        }
    }

    /// Decides the outcome of a call that sent items with these keys.
    pub fn new(result: CallResult<'_>, keys: &[ItemKey], now: Timestamp) -> Self {
        let answer = match result.classify(now) {
            Reply::Answered(answer) => read_answer(answer, keys),
            Reply::Parked(backpressure) => return Self::Parked(backpressure),
            Reply::Fault(fault) => return Self::Fault(fault),
        };
        match answer {
            Ok(Answer::Items(items)) => Self::Items(items),
            Ok(Answer::RetryBatch { after, reason }) => Self::Parked(Backpressure { after, reason }),
            Ok(Answer::Fatal(rejection)) => Self::Fatal(rejection),
            Err(bad) => Self::Fault(bad.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::JobId;

    #[test]
    fn each_answer_has_one_outcome() {
        let keys = [ItemKey { job_id: JobId(uuid::Uuid::from_u128(1)), number: 1 }];
        let outcome = |payload: &'static str| {
            let result = CallResult::Returned { payload: payload.as_bytes() };
            match CallOutcome::new(result, &keys, Timestamp(0)) {
                CallOutcome::Items(items) => format!("{} answered", items.answered()),
                CallOutcome::Fatal(rejection) => format!("fatal {}", rejection.code),
                CallOutcome::Parked(Backpressure { after, reason }) => format!("parked {after:?} {reason}"),
                CallOutcome::Fault(fault) => format!("fault {}", fault.cause.class()),
            }
        };
        for (payload, expected) in [
            (r#"{"all": "ok"}"#, "1 answered"),
            (r#"{"fatal": {"code": "licence_expired"}}"#, "fatal licence_expired"),
            (r#"{"retryBatch": {"after": 20, "reason": "quota"}}"#, "parked Some(20s) quota"),
            (r#"{"retryBatch": {}}"#, "parked None the handler gave no reason"),
            ("{}", "fault bad_answer"),
        ] {
            assert_eq!(outcome(payload), expected, "{payload}");
        }
        let parked = CallOutcome::new(CallResult::TimedOut, &keys, Timestamp(0));
        assert!(matches!(parked, CallOutcome::Fault(_)));
    }
}
