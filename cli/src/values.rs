//! Values of options: JSON of the command line or of a file, pairs, and durations.

use std::fs;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Map, Value};

use crate::output::exit::{CommandError, Exit};

/// Reads a JSON object: the text of this option itself, or with `@` a file that has it.
pub(crate) fn object(option: &str, text: &str) -> Result<Map<String, Value>> {
    match json(option, text)? {
        Value::Object(object) => Ok(object),
        _ => Err(CommandError::new(
            Exit::Usage,
            format!("{option}: this is not a JSON object, such as '{{\"name\": 1}}'"),
        )
        .into()),
    }
}

/// Reads JSON: the text of this option itself, or with `@` a file that has it.
pub(crate) fn json(option: &str, text: &str) -> Result<Value> {
    let usage = |reason: String| CommandError::new(Exit::Usage, reason);
    let (name, text) = match text.strip_prefix('@') {
        Some(path) => {
            let text =
                fs::read_to_string(path).map_err(|error| usage(format!("{option}: cannot read {path}: {error}")))?;
            (path, text)
        }
        None => (option, text.to_owned()),
    };
    Ok(serde_json::from_str(&text).map_err(|error| usage(format!("{name}: invalid JSON: {error}")))?)
}

/// Reads `NAME=VALUE`. For clap.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    if name.is_empty() { Err("the name is empty".to_owned()) } else { Ok((name.to_owned(), value.to_owned())) }
}

/// Reads a duration: seconds, or a number with `s`, `m` or `h`. For clap.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) => (number, &text[number.len()..]),
        None => (text, "s"),
    };
    let seconds = match unit {
        "m" => 60,
        "h" => 3_600,
        _ => 1,
    };
    let number: u64 = number.parse().map_err(|_| "write it as 90, 90s, 15m or 2h")?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(|| "it is too long".to_owned())
}

/// Reads a positive amount of dollars. For clap. JSON has no other numbers: `nan` would be no maximum at all.
pub(crate) fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "write it as a positive number of dollars, such as 0.25".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_a_positive_number() {
        assert_eq!((dollars("0.25"), dollars("1e-3"), dollars("3")), (Ok(0.25), Ok(0.001), Ok(3.0)));
        for text in ["nan", "inf", "-inf", "infinity", "0", "-0.25", "", "1e999", "$1", "0,25"] {
            assert!(dollars(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_and_pairs_are_read() {
        let seconds = |text: &str| duration(text).map(|duration| duration.as_secs()).ok();
        for (text, expected) in [("90", Some(90)), ("5s", Some(5)), ("15m", Some(900)), ("2h", Some(7_200))] {
            assert_eq!(seconds(text), expected, "{text}");
        }
        for text in ["", "m", "-1", "1d", "18446744073709551615h", "1.5h"] {
            assert_eq!(seconds(text), None, "{text}");
        }
        assert_eq!(pair("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert!(pair("a").is_err() && pair("=b").is_err());
    }

    #[test]
    fn json_is_text_or_a_file() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("options.json");
        fs::write(&path, r#"{"a": 1}"#)?;
        assert_eq!(object("o", &format!("@{}", path.display()))?, object("o", r#"{"a":1}"#)?);
        for text in ["[]", "{", "@/does/not/exist"] {
            assert!(object("o", text).is_err(), "{text}");
        }
        Ok(())
    }
}
