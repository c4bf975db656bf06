//! Operators: mandatory settings, so that no caller is an operator by omission.

use super::{ConfigError, text};
use crate::http::Operators;

/// Returns the rule that identifies operators: `LONGSHORE_OPERATOR_CLAIM` and `LONGSHORE_OPERATOR_GROUP`.
///
/// # Errors
/// If one is missing.
pub fn operators() -> Result<Operators, ConfigError> {
    Ok(Operators { claim: text("LONGSHORE_OPERATOR_CLAIM")?, group: text("LONGSHORE_OPERATOR_GROUP")? })
}
