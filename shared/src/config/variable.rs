//! Reads one environment variable, and names it in every complaint.

use std::str::FromStr;

/// The environment is not as the template would have made it.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum ConfigError {
    /// Not set, or empty.
    #[error("the environment variable {0} is not set")]
    Missing(&'static str),
    /// Set to something else than what it is for. The value is not repeated: it may be a secret in the wrong place.
    #[error("the environment variable {name} is not a {expected}")]
    Invalid {
        /// Its name.
        name: &'static str,
        /// The Rust type that it should have been.
        expected: &'static str,
    },
}

/// The text of a variable.
///
/// # Errors
/// If it is not set, empty, or not UTF-8.
pub fn text(name: &'static str) -> Result<String, ConfigError> {
    std::env::var(name).ok().filter(|value| !value.is_empty()).ok_or(ConfigError::Missing(name))
}

/// The value of a variable.
///
/// # Errors
/// If it is not set, or not a `T`.
pub fn parsed<T: FromStr>(name: &'static str) -> Result<T, ConfigError> {
    parse(name, &text(name)?)
}

fn parse<T: FromStr>(name: &'static str, value: &str) -> Result<T, ConfigError> {
    value.trim().parse().map_err(|_| ConfigError::Invalid { name, expected: std::any::type_name::<T>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_variable_is_named() {
        let error = text("LONGSHORE_NO_SUCH_VARIABLE").unwrap_err();
        assert_eq!(error.to_string(), "the environment variable LONGSHORE_NO_SUCH_VARIABLE is not set");
    }

    #[test]
    fn a_malformed_variable_is_named_and_its_value_is_not_repeated() {
        let error = parse::<i64>("LONGSHORE_STALL_SECONDS", "ten").unwrap_err();
        assert_eq!(error.to_string(), "the environment variable LONGSHORE_STALL_SECONDS is not a i64");
        assert_eq!(parse::<i64>("LONGSHORE_STALL_SECONDS", " 10 "), Ok(10));
    }
}
