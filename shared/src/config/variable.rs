//! Reads one environment variable; every error contains its name.

use std::str::FromStr;

/// Error of a missing or invalid environment variable.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum ConfigError {
    /// The variable is not set, or empty.
    #[error("the environment variable {0} is not set")]
    Missing(&'static str),
    /// The variable has an invalid value. The value is not repeated: it may be a misplaced secret.
    #[error("the environment variable {name} is invalid; expected: {expected}")]
    Invalid {
        /// Name of the variable.
        name: &'static str,
        /// The expected Rust type or values.
        expected: &'static str,
    },
}

/// Returns the text of a variable.
///
/// # Errors
/// If it is not set, empty, or not UTF-8.
pub fn text(name: &'static str) -> Result<String, ConfigError> {
    std::env::var(name).ok().filter(|value| !value.is_empty()).ok_or(ConfigError::Missing(name))
}

/// Returns the parsed value of a variable.
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
    fn the_error_names_a_missing_variable() {
        let error = text("LONGSHORE_NO_SUCH_VARIABLE").unwrap_err();
        assert_eq!(error.to_string(), "the environment variable LONGSHORE_NO_SUCH_VARIABLE is not set");
    }

    #[test]
    fn the_error_names_a_malformed_variable_without_its_value() {
        let error = parse::<i64>("LONGSHORE_STALL_SECONDS", "ten").unwrap_err();
        assert_eq!(error.to_string(), "the environment variable LONGSHORE_STALL_SECONDS is invalid; expected: i64");
        assert_eq!(parse::<i64>("LONGSHORE_STALL_SECONDS", " 10 "), Ok(10));
    }
}
