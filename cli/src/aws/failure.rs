//! The message of a failed call.

use std::error::Error;

use anyhow::anyhow;
use aws_sdk_cloudformation::error::{ProvideErrorMetadata, SdkError};

/// Advice for credentials that are missing or of an unsupported kind.
const ADVICE: &str =
    "sign in, and export the credentials with `eval \"$(aws configure export-credentials --format env)\"`";

/// Turns a failed call into an error with the code and message of AWS, or with the causes if there was no response.
pub fn failed<E, R>(error: SdkError<E, R>) -> anyhow::Error
where
    SdkError<E, R>: Error + ProvideErrorMetadata,
{
    match (error.code(), error.message()) {
        (Some(code), Some(message)) => anyhow!("{code}: {message}"),
        (Some(code), None) => anyhow!("{code}"),
        _ => anyhow!("{}", with_advice(causes(&error))),
    }
}

/// Joins an error and its causes.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

/// Adds advice to an error about credentials.
pub(crate) fn with_advice(text: String) -> String {
    let is_about_credentials = text.contains("credentials") || text.contains("cargo feature");
    if is_about_credentials { format!("{text}; {ADVICE}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::with_advice;

    #[test]
    fn advice_is_added_only_to_errors_about_credentials() {
        assert!(with_advice("no providers in chain provided credentials".into()).ends_with("--format env)\"`"));
        assert!(
            with_advice("This behavior requires following cargo feature(s) enabled: credentials-login".into())
                .contains("; sign")
        );
        assert_eq!(with_advice("dispatch failure: timeout".into()), "dispatch failure: timeout");
    }
}
