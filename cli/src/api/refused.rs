//! A refusal of the API or of the storage, as the cause of an error.

use std::time::Duration;

use super::http::Transient;
use crate::output::exit::CommandError;

/// A refusal of the API or of the storage, for programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ApiError {
    /// Kind of the problem, such as `rate-limited`; the status for a refusal that is no problem of the API.
    pub(crate) kind: String,
    /// Codes of the members of the request that are refused.
    pub(crate) codes: Vec<String>,
    /// Status.
    pub(crate) status: u16,
    /// True if the same call can succeed later.
    pub(crate) is_transient: bool,
    /// Delay before the next try that the API asks for.
    pub(crate) retry_after: Option<Duration>,
}

/// Returns the refusal that caused an error; `None` if something else did.
pub(crate) fn refusal(error: &anyhow::Error) -> Option<&ApiError> {
    error.downcast_ref::<CommandError>()?.api_error()
}

/// Returns true if the API refuses a member of the request with this code.
pub(crate) fn is_refused_with(error: &anyhow::Error, code: &str) -> bool {
    refusal(error).is_some_and(|refused| refused.codes.iter().any(|found| found == code))
}

/// Returns true if the call that failed with this error can succeed later.
pub(crate) fn is_transient(error: &anyhow::Error) -> bool {
    refusal(error).map_or_else(|| error.is::<Transient>(), |refused| refused.is_transient)
}

/// Returns true if the call that failed with this error may have had its effect: there was no whole answer, or one that
/// says nothing about it.
pub(crate) fn is_effect_unknown(error: &anyhow::Error) -> bool {
    refusal(error).map_or_else(|| error.is::<Transient>(), |refused| refused.status >= 500)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::exit::Exit;

    #[test]
    fn a_refusal_and_a_lost_answer_can_pass() {
        let refused = |is_transient| -> anyhow::Error {
            let cause = ApiError { is_transient, ..ApiError::default() };
            CommandError::new(Exit::Failed, "refused").with_api_error(cause).into()
        };
        let lost: anyhow::Error = Transient("lost".to_owned()).into();
        for (error, expected) in
            [(refused(true), true), (refused(false), false), (lost, true), (anyhow::anyhow!("no disk"), false)]
        {
            assert_eq!(is_transient(&error), expected, "{error}");
        }
    }

    #[test]
    fn the_effect_of_a_call_without_a_whole_answer_is_unknown() {
        let refused = |status| -> anyhow::Error {
            CommandError::new(Exit::Failed, "refused").with_api_error(ApiError { status, ..ApiError::default() }).into()
        };
        let lost: anyhow::Error = Transient("lost".to_owned()).into();
        for (error, expected) in
            [(refused(500), true), (refused(503), true), (refused(429), false), (refused(404), false)]
        {
            assert_eq!(is_effect_unknown(&error), expected, "{error:?}");
        }
        assert!(is_effect_unknown(&lost) && is_effect_unknown(&lost.context("replaying")));
        assert!(!is_effect_unknown(&anyhow::anyhow!("no disk")));
    }
}
