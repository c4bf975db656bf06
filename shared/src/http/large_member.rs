//! Splits the JSON object in a request's body: one large member, which is not parsed, and the other members.
//!
//! A parsed value can take hundreds of bytes for each byte of its text. So a list that may be large is checked for
//! syntax here, and its reader takes one element after another.

use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Fields;
use super::body::{malformed, not_an_object};
use crate::problem::{Kind, Problem};

/// Returns the text of the member `large`, unless it is missing or `null`, and the other members, which may have up to
/// `limit` bytes in total.
///
/// # Errors
/// 400 for malformed JSON, 413 if the other members are too large, 422 for JSON that is not an object.
pub fn split_large_member<'a>(
    body: &'a [u8],
    large: &'static str,
    limit: usize,
) -> Result<(Option<&'a RawValue>, Fields), Problem> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let read = reader.deserialize_map(Splitter { large, limit }).and_then(|split| reader.end().map(|()| split));
    let split = read.map_err(|error| match serde_json::from_slice::<IgnoredAny>(body) {
        Ok(_) if error.is_data() => not_an_object(),
        Ok(_) => malformed(&error),
        Err(error) => malformed(&error),
    })?;
    if split.bytes > limit {
        let detail = format!("the body without {large} may have up to {} KiB", limit / 1024);
        return Err(Problem::new(Kind::BodyTooLarge, detail));
    }
    let mut members = Map::new();
    for (name, text) in split.others {
        members.insert(name, serde_json::from_str::<Value>(text.get()).map_err(|error| malformed(&error))?);
    }
    Ok((split.large.filter(|text| text.get() != "null"), Fields::new(members)))
}

struct Splitter {
    large: &'static str,
    limit: usize,
}

#[derive(Default)]
struct Split<'a> {
    large: Option<&'a RawValue>,
    /// The other members, as long as they do not exceed the limit.
    others: Vec<(String, &'a RawValue)>,
    bytes: usize,
}

impl<'de> Visitor<'de> for Splitter {
    type Value = Split<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Split<'de>, A::Error> {
        let mut split = Split::default();
        while let Some(name) = members.next_key::<String>()? {
            let text: &RawValue = members.next_value()?;
            if name == self.large {
                split.large = Some(text);
                continue;
            }
            split.bytes += name.len() + text.get().len();
            if split.bytes <= self.limit {
                split.others.push((name, text));
            }
        }
        Ok(split)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Checked;

    fn split(body: &str) -> Result<(Option<&str>, Fields), Problem> {
        split_large_member(body.as_bytes(), "items", 30).map(|(large, fields)| (large.map(RawValue::get), fields))
    }

    fn any(value: &Value) -> Checked<Value> {
        Ok(value.clone())
    }

    #[test]
    fn one_member_stays_text_and_the_others_are_parsed() {
        let (large, mut fields) = split("{\"a\": [1], \"items\": [ {\"b\": 1.0} ], \"c\": \"\\u00e9\"}").unwrap();
        assert_eq!(large, Some("[ {\"b\": 1.0} ]"));
        assert_eq!(fields.required("a", any), Some(serde_json::json!([1])));
        assert_eq!(fields.required("c", any), Some("\u{e9}".into()));
        assert!(fields.is_valid());
        for body in ["{}", "{\"items\": null}", "{\"items\":[1],\"items\":null}"] {
            let (large, fields) = split(body).unwrap();
            assert!(large.is_none() && fields.is_valid(), "{body}");
        }
    }

    #[test]
    fn a_body_is_malformed_before_it_is_of_another_type() {
        for (body, status) in [("[1]", 422), ("7", 422), ("[1", 400), ("{\"a\":", 400), ("{\"a\":1}}", 400)] {
            assert_eq!(split(body).unwrap_err().status(), status, "{body}");
        }
        assert_eq!(split(&"[".repeat(100_000)).unwrap_err().status(), 400);
    }

    #[test]
    fn only_the_other_members_are_limited() {
        let large = format!("{{\"items\":[{}1],\"a\":1}}", "1,".repeat(1_000));
        assert!(split(&large).is_ok());
        let other = format!("{{\"items\":[],\"a\":\"{}\"}}", "x".repeat(30));
        assert_eq!(split(&other).unwrap_err().status(), 413);
        let many = format!("{{{}\"items\":[]}}", "\"a\":1,".repeat(100));
        assert_eq!(split(&many).unwrap_err().status(), 413);
    }

    #[test]
    fn the_syntax_of_every_member_is_checked() {
        for body in ["", "{\"items\":[1,]}", "{\"items\":[\"a\nb\"]}", "{\"items\":[1]} x", "{\"a\":\"\\ud800\"}"] {
            assert_eq!(split(body).unwrap_err().status(), 400, "{body}");
        }
        let invalid = split_large_member(b"{\"items\":[\"\xff\"]}", "items", 30);
        assert_eq!(invalid.unwrap_err().status(), 400);
        for body in ["[]", "1", "null", "\"items\""] {
            assert_eq!(split(body).unwrap_err().status(), 422, "{body}");
        }
    }

    #[test]
    fn deep_nesting_overflows_no_stack() {
        let deep = format!("{{\"items\":{}1{}}}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert!(split(&deep).is_ok());
        let never_closed = format!("{{\"items\":{}", "[".repeat(1_000_000));
        assert_eq!(split(&never_closed).unwrap_err().status(), 400);
    }
}
