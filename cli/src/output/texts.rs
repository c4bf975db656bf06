//! Texts for people.

use std::time::Duration;

/// Returns a text of a server without control characters, which could change the terminal. Line ends stay.
pub fn printable(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\n', " ")
}

/// Writes a duration in milliseconds or seconds.
pub(crate) fn duration(duration: Duration) -> String {
    match duration.as_millis() {
        millis @ 0..1_000 => format!("{millis} ms"),
        millis @ 1_000..10_000 => format!("{}.{:02} s", millis / 1_000, millis % 1_000 / 10),
        millis => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit() {
        assert_eq!(
            [12, 999, 1_000, 2_345, 30_160].map(|ms| duration(Duration::from_millis(ms))),
            ["12 ms", "999 ms", "1.00 s", "2.34 s", "30.1 s"]
        );
    }
}
