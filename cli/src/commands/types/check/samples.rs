//! Sample values of items, as JSON text.

use std::fs;
use std::sync::Arc;

use serde_json::value::RawValue;

/// Maximum bytes of a file of samples.
const FILE_BYTES: u64 = 16 << 20;

/// Values of items, at least one.
#[derive(Clone, Debug)]
pub(super) struct Samples(Arc<[Box<RawValue>]>);

impl Samples {
    /// Reads a file of JSON Lines.
    ///
    /// # Errors
    /// If the file cannot be read, or a line is not JSON.
    pub(super) fn read(path: &str) -> Result<Self, String> {
        let bytes = fs::metadata(path).map_err(|error| format!("cannot read it: {error}"))?.len();
        if bytes > FILE_BYTES {
            return Err("it has more than 16 MiB: some lines are enough".to_owned());
        }
        Self::parse(&fs::read_to_string(path).map_err(|error| format!("cannot read it: {error}"))?)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let lines = text.trim_start_matches('\u{feff}').lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let values = lines.map(|(at, line)| {
            serde_json::from_str(line).map_err(|error| format!("line {} is not JSON: {error}", at + 1))
        });
        let values = values.collect::<Result<Vec<_>, _>>()?;
        if values.is_empty() { Err("it has no line".to_owned()) } else { Ok(Self(values.into())) }
    }

    /// Returns values that mean nothing to any handler.
    pub(super) fn neutral() -> Self {
        let values = (1..=3).map(|n| raw(&serde_json::json!({"example": n})));
        Self(values.collect())
    }

    /// Returns the value at a position; they repeat after the last one.
    pub(super) fn at(&self, at: usize) -> Box<RawValue> {
        self.0[at % self.0.len()].clone()
    }
}

/// Writes a value as JSON text.
pub(super) fn raw(value: &serde_json::Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_value_and_keeps_its_text() {
        let samples = Samples::parse("\u{feff}{\"b\":1.50,\"a\":2}\n\n\"x\"\r\n").unwrap();
        let texts: Vec<_> = (0..3).map(|at| samples.at(at).get().to_owned()).collect();
        assert_eq!(texts, [r#"{"b":1.50,"a":2}"#, "\"x\"", r#"{"b":1.50,"a":2}"#]);
        assert!(Samples::parse("1\n{\n").unwrap_err().starts_with("line 2 is not JSON"));
        assert!(Samples::parse(" \n").is_err());
        assert!(Samples::read("/nowhere").unwrap_err().starts_with("cannot read it"));
    }
}
