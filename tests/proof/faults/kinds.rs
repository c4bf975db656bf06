//! The kinds of faults of an AWS call, as rules of the proxy.

use serde_json::{Value, json};

use super::operations::Operation;

/// A kind of fault.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Kind {
    /// The call is executed, and its reply is lost.
    Lost,
    /// The call is refused because of throttling.
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

/// Delay of a late response: more than the worker's timeout of fifteen seconds on the stacks of these tests.
const LATE_MS: u64 = 16_000;

/// Maximum number of faults in a wave. Every third call has a fault; the SDK makes up to six attempts.
const TIMES: u64 = 12;

/// Maximum number of faults in a wave for parts of a report. A part takes some seconds on a slow machine.
const PART_TIMES: u64 = 3;

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
            _ if on.is_of_parts() || on.is_of_results() => PART_TIMES,
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
        "lambda" => json!({ "code": "TooManyRequestsException", "status": 429 }),
        "secretsmanager" => json!({ "code": "ThrottlingException", "status": 400 }),
        _ => json!({ "code": "SlowDown", "status": 503 }),
    }
}

fn internal(service: &str) -> &'static str {
    match service {
        "dynamodb" => "InternalServerError",
        "lambda" => "ServiceException",
        "secretsmanager" => "InternalServiceError",
        _ => "InternalError",
    }
}
