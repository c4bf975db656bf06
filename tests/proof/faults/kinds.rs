//! What can happen to a call, as rules of the proxy.

use serde_json::{Value, json};

use super::operations::Operation;

/// What happens to a call.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Kind {
    /// It is executed, and its reply is lost.
    Lost,
    /// It is refused for being one of too many.
    Throttled,
    /// It is refused with the service's own 500.
    Failed,
    /// Its connection is reset.
    Reset,
    /// Its answer is later than a worker lives.
    Late,
}

/// All of them.
pub(crate) const KINDS: [Kind; 5] = [Kind::Lost, Kind::Throttled, Kind::Failed, Kind::Reset, Kind::Late];

/// Longer than the fifteen seconds that a worker has on the stacks of these tests.
const LATE_MS: u64 = 16_000;

/// Calls in a wave that meet a fault at most. Every third call does: the SDK tries six times.
const TIMES: u64 = 12;

/// The same for parts of a report: each takes some seconds to send on a slow machine.
const TIMES_OF_PARTS: u64 = 3;

impl Kind {
    /// Its name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lost => "executed, reply lost",
            Self::Throttled => "throttled",
            Self::Failed => "500",
            Self::Reset => "reset",
            Self::Late => "timeout",
        }
    }

    /// The rule by which calls of this operation meet it.
    pub(crate) fn rule(self, on: Operation) -> Value {
        let (effect, value) = match self {
            Self::Lost => ("response", json!({ "abort_bytes": 0 })),
            Self::Throttled => ("error", throttling(on.service)),
            Self::Failed => ("error", json!({ "code": internal(on.service), "status": 500 })),
            Self::Reset => ("reset", json!(true)),
            Self::Late => ("timeout_ms", json!(LATE_MS)),
        };
        let times = match self {
            Self::Late => 1,
            _ if on.is_of_parts() => TIMES_OF_PARTS,
            _ => TIMES,
        };
        let mut rule = json!({ "service": on.service, "operation": on.name, "times": times });
        rule[effect] = value;
        if self != Self::Late {
            rule["sequence"] = json!({ "fail": 1, "pass": 2 });
        }
        rule
    }
}

fn throttling(service: &str) -> Value {
    match service {
        "dynamodb" => json!({ "code": "ProvisionedThroughputExceededException", "status": 400 }),
        "sqs" => json!({ "code": "RequestThrottled", "status": 403 }),
        _ => json!({ "code": "SlowDown", "status": 503 }),
    }
}

fn internal(service: &str) -> &'static str {
    if service == "dynamodb" { "InternalServerError" } else { "InternalError" }
}
