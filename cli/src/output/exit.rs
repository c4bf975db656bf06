//! The exit codes of the commands, and errors that have one of their own.

use std::process::ExitCode;

use crate::api::ApiError;

/// The result of a command. Every command documents the codes that it has.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
#[repr(u8)]
pub enum Exit {
    /// Success: every item was processed.
    Success = 0,
    /// A refused request, or any error without a code of its own.
    Failed = 1,
    /// Wrong usage; the code of clap.
    Usage = 2,
    /// The job is completed, and some of its items failed.
    ItemsFailed = 3,
    /// The user is not signed in, or has no permission.
    NotSignedIn = 4,
    /// The job failed or was canceled.
    JobFailed = 5,
    /// The time limit of the command is over. The job goes on.
    TimedOut = 6,
    /// SIGHUP: the terminal was closed. Like those of other signals, as in a shell: 128 and the number of the signal.
    HungUp = 129,
    /// Ctrl-C.
    Interrupted = 130,
    /// SIGTERM.
    Terminated = 143,
}

/// The codes of commands that wait for a job, for `--help`.
pub const JOB_CODES: &str = "Exit codes: 0 all items succeeded or were skipped, 1 refused or failed, 2 wrong usage, 3 some items failed, \
4 sign-in needed, 5 the job failed or was canceled, 6 timed out, 130 interrupted (129 by SIGHUP, 143 by SIGTERM).";

/// The codes of commands that do not wait, for `--help`.
pub const CODES: &str = "Exit codes: 0 success, 1 refused or failed, 2 wrong usage, 4 sign-in needed, 130 interrupted \
(129 by SIGHUP, 143 by SIGTERM).";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error with an exit code of its own.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    exit: Exit,
    message: String,
    api_error: Option<ApiError>,
}

impl CommandError {
    /// Creates an error.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), api_error: None }
    }

    /// Returns the error with the refusal that caused it.
    #[must_use]
    pub(crate) fn with_api_error(self, cause: ApiError) -> Self {
        Self { api_error: Some(cause), ..self }
    }

    /// Returns the refusal that caused the error; `None` if something else did.
    pub(crate) fn api_error(&self) -> Option<&ApiError> {
        self.api_error.as_ref()
    }
}

/// Returns the exit code of an error.
pub fn exit_code(error: &anyhow::Error) -> Exit {
    error.downcast_ref::<CommandError>().map_or(Exit::Failed, |error| error.exit)
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn an_error_keeps_its_code_below_a_context() {
        let error: anyhow::Result<()> = Err(CommandError::new(Exit::NotSignedIn, "sign in").into());
        let error = error.context("reading the job").unwrap_err();
        assert_eq!((exit_code(&error), format!("{error:#}").as_str()), (Exit::NotSignedIn, "reading the job: sign in"));
        assert_eq!(exit_code(&anyhow::anyhow!("other")), Exit::Failed);
    }
}
