//! A call for each of several dead letters.

use anyhow::Result;

use crate::api::is_effect_unknown;
use crate::output::exit::{CommandError, Exit, exit_code};

/// Applies `action` to each dead letter and prints its result. A failure does not stop the others.
///
/// # Errors
/// If a call fails, with the exit code of the first failure that has one of its own.
pub(super) fn each(dead_letters: &[String], action: impl Fn(&str) -> Result<String>) -> Result<()> {
    let (mut failed, mut unknown, mut exit) = (0, 0, None);
    for dead_letter in dead_letters {
        let Err(error) = action(dead_letter).map(|description| println!("{description}")) else { continue };
        failed += 1;
        exit = exit.or_else(|| error.is::<CommandError>().then(|| exit_code(&error)));
        if is_effect_unknown(&error) {
            unknown += 1;
        }
        eprintln!("{dead_letter}: {}", describe(&error));
    }
    if failed == 0 {
        return Ok(());
    }
    let rest = match unknown {
        0 => " and are unchanged".to_owned(),
        unknown => format!("; it is not known of {unknown} of them whether it was done"),
    };
    let reason = format!("{failed} of {} dead letters failed{rest}", dead_letters.len());
    Err(CommandError::new(exit.unwrap_or(Exit::Failed), reason).into())
}

/// Returns the error of a call with the advice of [`each`].
pub(super) fn with_advice(error: anyhow::Error) -> anyhow::Error {
    CommandError::new(exit_code(&error), describe(&error)).into()
}

/// Describes a failure, and what to do if the call may have had its effect.
fn describe(error: &anyhow::Error) -> String {
    let advice = if is_effect_unknown(error) {
        "; it is unknown whether it was done: run it again, which is harmless"
    } else {
        ""
    };
    format!("{error:#}{advice}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{ApiError, Transient};

    /// Fails for dead letters whose name is a status, or `lost`.
    fn act(dead_letter: &str) -> Result<String> {
        let refused = |status: u16, exit| {
            let cause = ApiError { status, ..ApiError::default() };
            Err(CommandError::new(exit, "refused").with_api_error(cause).into())
        };
        match dead_letter {
            "403" => refused(403, Exit::NotSignedIn),
            "404" => refused(404, Exit::Failed),
            "503" => refused(503, Exit::Failed),
            "lost" => Err(Transient("no answer".to_owned()).into()),
            done => Ok(done.to_owned()),
        }
    }

    #[test]
    fn the_exit_code_is_that_of_the_first_refusal_and_a_lost_call_is_not_unchanged() {
        for (dead_letters, exit, text) in [
            (&["a", "404", "403"][..], Exit::Failed, "2 of 3 dead letters failed and are unchanged"),
            (&["403", "404"], Exit::NotSignedIn, "2 of 2 dead letters failed and are unchanged"),
            (
                &["lost", "403"],
                Exit::NotSignedIn,
                "2 of 2 dead letters failed; it is not known of 1 of them whether it was done",
            ),
            (
                &["lost", "503"],
                Exit::Failed,
                "2 of 2 dead letters failed; it is not known of 2 of them whether it was done",
            ),
        ] {
            let dead_letters: Vec<_> = dead_letters.iter().map(|id| (*id).to_owned()).collect();
            let error = each(&dead_letters, act).unwrap_err();
            assert_eq!((exit_code(&error), error.to_string().as_str()), (exit, text));
        }
        assert!(each(&["a".to_owned(), "b".to_owned()], act).is_ok());
    }

    #[test]
    fn a_failure_says_whether_the_call_can_be_repeated() {
        let text = |dead_letter| describe(&act(dead_letter).unwrap_err());
        assert_eq!(text("404"), "refused");
        assert!(text("lost").ends_with("whether it was done: run it again, which is harmless"));
        let error = with_advice(act("403").unwrap_err());
        assert_eq!((exit_code(&error), error.to_string().as_str()), (Exit::NotSignedIn, "refused"));
    }
}
