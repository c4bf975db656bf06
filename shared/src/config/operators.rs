//! Who is an operator: settings that must be there, so that nobody is one because somebody forgot them.

use super::{ConfigError, text};
use crate::http::Operators;

/// Who is an operator: `LONGSHORE_OPERATOR_CLAIM` and `LONGSHORE_OPERATOR_GROUP`.
///
/// # Errors
/// If one is missing.
pub fn operators() -> Result<Operators, ConfigError> {
    Ok(Operators { claim: text("LONGSHORE_OPERATOR_CLAIM")?, group: text("LONGSHORE_OPERATOR_GROUP")? })
}
