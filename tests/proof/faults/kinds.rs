//! Kinds of faults of a call, as rules of the proxy.

use serde_json::{Value, json};

use super::operations::Operation;

/// A kind of fault.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Kind {
    /// The call is executed, and its reply is lost.
    Lost,
    /// The call is refused by throttling.
    Throttled,
    /// The call is refused with the service's own status 500.
    Failed,
    /// The connection of the call is reset.
    Reset,
    /// The response arrives after the worker's timeout.
    Late,
}

/// All kinds.
pub(crate) const KINDS: [Kind; 5] = [Kind::Lost, Kind::Throttled, Kind::Failed, Kind::Reset, Kind::Late];

/// Delay of a late response: longer than the worker's timeout of fifteen seconds on the stacks of these tests.
const LATE_MS: u64 = 16_000;

/// Maximum number of calls in a wave that meet a fault. Every third call does: the SDK tries six times.
const TIMES: u64 = 12;

/// The same maximum for parts of a report, each of which takes some seconds to send on a slow machine.
const TIMES_OF_PARTS: u64 = 3;

impl Kind {
    /// Name of the kind in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lost => "executed, reply lost",
            Self::Throttled => "throttled",
            Self::Failed => "500",
            Self::Reset => "reset",
            Self::Late => "timeout",
        }
    }

    /// The rule that injects the fault into calls of this operation.
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
