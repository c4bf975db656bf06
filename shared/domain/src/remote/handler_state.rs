//! What all workers of a registered job type share: circuit breaker, rate limit and concurrency limit.

use serde::{Deserialize, Serialize};

use super::adaptive_limit::AdaptiveLimit;
use super::breaker::Breaker;
use super::rate_limit::ReservedUntil;

/// The shared state of one job type. It is replaced as a whole, if it is unchanged since it was read.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HandlerState {
    /// The circuit breaker.
    pub breaker: Breaker,
    /// The concurrency limit, lowered while the handler asks for fewer calls.
    pub concurrency: AdaptiveLimit,
}

/// A state as it was read, with the number of its writes.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct ReadState {
    /// The state.
    pub state: HandlerState,
    /// Time that is reserved under the rate limit. It is not part of the state, so that reservations and other changes
    /// do not prevent each other.
    pub reserved: ReservedUntil,
    /// Number of replacements so far.
    pub version: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timestamp::Timestamp;

    #[test]
    fn a_state_survives_its_json_and_absent_parts_are_those_of_a_working_handler() {
        let state = HandlerState {
            concurrency: AdaptiveLimit::default().lowered(8, Timestamp(5)).unwrap(),
            ..HandlerState::default()
        };
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<HandlerState>(&text).unwrap(), state);
        assert_eq!(serde_json::from_str::<HandlerState>("{}").unwrap(), HandlerState::default());
    }
}
