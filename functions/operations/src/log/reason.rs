//! The reason of an action, which its operator gives for the log.

use longshore::field_error::FieldError;
use longshore::http::{Bad, Checked, QueryText};
use longshore::problem::Problem;
use longshore_domain::operator_log::REASON_CHARS;
use serde_json::Value;
use utoipa::IntoParams;

/// Code of a refused reason.
const INVALID: &str = "invalid_reason";

/// Query parameter of actions whose request has no body, or one that is ignored.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "for the schema only")]
pub(crate) struct ReasonQuery {
    /// Reason, for the operators' log.
    #[param(required = false, min_length = 1, max_length = 500)]
    reason: String,
}

/// Query parameter of actions that need a reason.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "for the schema only")]
pub(crate) struct RequiredReasonQuery {
    /// Reason, for the operators' log.
    #[param(min_length = 1, max_length = 500)]
    reason: String,
}

/// Reads a reason.
///
/// # Errors
/// `invalid_reason` if it is blank or too long.
pub(crate) fn reason(value: &Value) -> Checked<String> {
    let reason = value.as_str().filter(|reason| is_valid(reason));
    reason.map(str::to_owned).ok_or_else(|| Bad::new(INVALID, describe()))
}

/// Returns the reason in the query string; `None` if there is none.
///
/// # Errors
/// 422 if it is blank or too long.
pub(crate) fn reason_in(query: &QueryText) -> Result<Option<String>, Problem> {
    match query.get("reason") {
        Some(text) if !is_valid(text) => Err(Problem::invalid(vec![FieldError::new("/reason", INVALID, describe())])),
        text => Ok(text.map(str::to_owned)),
    }
}

fn is_valid(reason: &str) -> bool {
    let is_plain = !reason.chars().any(is_invisible);
    is_plain && !reason.trim().is_empty() && reason.chars().count() <= REASON_CHARS
}

/// Returns true for characters that change how a log is shown: control characters except line breaks, and those that
/// change the direction of a text.
fn is_invisible(char: char) -> bool {
    (char.is_control() && char != '\n') || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn describe() -> String {
    format!(
        "reason must be a text of 1 to {REASON_CHARS} characters that is not blank, without control characters: say \
         why you do this"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_a_text_that_is_shown_as_it_is() {
        for good in ["fixed", "two\nlines", "\u{5e2}\u{5d1}\u{5e8}", &"\u{1f600}".repeat(REASON_CHARS)] {
            assert!(is_valid(good), "{good}");
        }
        for bad in ["", " \n", "a\u{1b}[2J", "a\u{202e}b", "a\u{2066}b", "a\rb", &"x".repeat(REASON_CHARS + 1)] {
            assert!(!is_valid(bad), "{bad:?}");
        }
    }
}
