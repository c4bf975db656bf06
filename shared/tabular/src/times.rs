//! Times of the day, with an optional zone.

use std::fmt::Write;

/// Parses a time with an optional zone.
pub(crate) fn parse_time(text: &str) -> Option<String> {
    let (hour, rest) = number(text, 2)?;
    let (minute, rest) = number(rest.strip_prefix(':')?, 2)?;
    let (second, rest) = match rest.strip_prefix(':') {
        Some(rest) => number(rest, 2)?,
        None => ("00", rest),
    };
    let (fraction, rest) = match rest.strip_prefix(['.', ',']) {
        Some(rest) => number(rest, 9)?,
        None => ("", rest),
    };
    let (hour, zone) = half_day(hour.parse().ok()?, rest)?;
    let (minute, second): (u8, u8) = (two_digits(minute)?, two_digits(second)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut time = format!("{hour:02}:{minute:02}:{second:02}");
    if !fraction.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(time, ".{fraction}");
    }
    time.push_str(&parse_zone(zone.trim_start())?);
    Some(time)
}

/// Applies `AM` or `PM` to an hour. Returns the text after it.
fn half_day(hour: u8, rest: &str) -> Option<(u8, &str)> {
    let trimmed = rest.trim_start();
    let marked = trimmed.get(..2).filter(|mark| mark.eq_ignore_ascii_case("am") || mark.eq_ignore_ascii_case("pm"));
    let Some(mark) = marked else { return Some((hour, rest)) };
    if !(1..=12).contains(&hour) {
        return None;
    }
    let noon = if mark.eq_ignore_ascii_case("pm") { 12 } else { 0 };
    Some((hour % 12 + noon, &trimmed[2..]))
}

/// Parses `Z`, `+01:00`, `+0100` or `+01`.
fn parse_zone(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some(String::new());
    }
    if text.eq_ignore_ascii_case("z") {
        return Some("Z".to_owned());
    }
    let sign = text.chars().next().filter(|sign| matches!(sign, '+' | '-'))?;
    let digits = &text[1..];
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None => (digits.get(..2)?, digits.get(2..).filter(|minutes| !minutes.is_empty()).unwrap_or("00")),
    };
    let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
    (hours <= 23 && minutes <= 59).then(|| format!("{sign}{hours:02}:{minutes:02}"))
}

/// Returns the digits at the beginning of a text, of which there must be at most this many, and the text after them.
pub(crate) fn number(text: &str, most: usize) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=most).contains(&digits).then(|| text.split_at(digits))
}

fn two_digits(text: &str) -> Option<u8> {
    let is_valid = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_valid { text.parse().ok() } else { None }
}
