//! The items in a request for a job.
//!
//! An item is any JSON value. It is not parsed here: it becomes one line of a JSON Lines file, with its own digits,
//! escapes and order of members, but without white space between its tokens. Line breaks exist only there: within a
//! string, JSON requires an escape.

use std::fmt;

use axum::extract::{FromRequest, Request};
use data_encoding::HEXLOWER;
use longshore::field_error::FieldError;
use longshore::handler::{AnyJobType, Input, ItemShape};
use longshore::http::{Bad, Checked, Failure, Fields, MAX_BODY, read_json, split_large_member};
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// Maximum size of a body without its items: a schema of up to 64 KiB with ample room for the other fields. A definition
/// is one item of up to 400 KB.
const OTHER_BYTES: usize = 256 * 1024;

/// Maximum size of the items as JSON Lines.
const ITEMS_BYTES: usize = 2 * 1024 * 1024;

/// Maximum number of items in a request.
const MAX_ITEMS: usize = 10_000;

/// Maximum number of items whose error is kept: a response names as many.
const MAX_ERRORS: usize = 100;

/// The body of a request for a job.
pub(crate) struct CreateBody {
    /// The members except the items.
    pub(super) fields: Fields,
    /// The items, or their error; `None` if the request has none.
    pub(super) items: Option<Checked<Items>>,
}

impl<S: Send + Sync> FromRequest<S> for CreateBody {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self, Failure> {
        const { assert!(ITEMS_BYTES + OTHER_BYTES <= MAX_BODY, "the router must accept the largest request") };
        let body = read_json(request, ITEMS_BYTES + OTHER_BYTES).await?;
        let (items, fields) = split_large_member(&body, "items", OTHER_BYTES)?;
        Ok(Self { fields, items: items.map(Items::read) })
    }
}

/// The items of a request, as JSON Lines.
#[derive(Clone, Eq, PartialEq, Default)]
pub(super) struct Items {
    lines: Vec<u8>,
    count: usize,
    /// Indexes of the first items that are not objects.
    not_objects: Vec<usize>,
}

impl fmt::Debug for Items {
    /// Shows no rows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} items of {} bytes", self.count, self.lines.len())
    }
}

impl Items {
    /// Reads the list of a request.
    fn read(list: &RawValue) -> Checked<Self> {
        let items = serde_json::Deserializer::from_str(list.get()).deserialize_seq(Reader);
        let items = items.map_err(|_| Bad::new("invalid_type", "items must be an array"))?;
        if items.count == 0 {
            return Err(Bad::new("no_items", "items is empty; a job has at least one item"));
        }
        if items.count > MAX_ITEMS {
            let detail = format!("there are {} items; the maximum is {MAX_ITEMS}; upload them as a file", items.count);
            return Err(Bad::new("too_many_items", detail));
        }
        if items.lines.len() > ITEMS_BYTES {
            let detail = format!(
                "the items have {} bytes as JSON Lines; the maximum is {ITEMS_BYTES}; upload them as a file",
                items.lines.len()
            );
            return Err(Bad::new("items_too_large", detail));
        }
        Ok(items)
    }

    /// Returns an error for each item that the job type does not take, up to a hundred.
    pub(super) fn check(&self, shape: ItemShape) -> Vec<FieldError> {
        if shape == ItemShape::Any {
            return Vec::new();
        }
        let error = |index: &usize| {
            let detail = "this job type takes objects, one for each record";
            FieldError::new(format!("/items/{index}"), "item_not_an_object", detail)
        };
        self.not_objects.iter().map(error).collect()
    }

    /// Returns the SHA-256 of the lines in hexadecimal, which stands for the items in a request's canonical form.
    pub(super) fn sha256(&self) -> String {
        HEXLOWER.encode(&Sha256::digest(&self.lines))
    }

    /// Returns their number.
    pub(super) fn count(&self) -> u64 {
        self.count as u64
    }

    /// Returns the lines.
    pub(super) fn into_lines(self) -> Vec<u8> {
        self.lines
    }

    fn push(&mut self, item: &str) {
        if !item.starts_with('{') && self.not_objects.len() < MAX_ERRORS {
            self.not_objects.push(self.count);
        }
        self.count += 1;
        push_compact(&mut self.lines, item.as_bytes());
        self.lines.push(b'\n');
    }
}

/// Reads an array, and only counts the items above the maximum.
struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Items;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Items, A::Error> {
        let mut items = Items::default();
        while items.count < MAX_ITEMS {
            match list.next_element::<&RawValue>()? {
                Some(item) => items.push(item.get()),
                None => return Ok(items),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {
            items.count += 1;
        }
        Ok(items)
    }
}

/// Appends JSON without the white space between its tokens.
fn push_compact(lines: &mut Vec<u8>, json: &[u8]) {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    if !json.iter().any(is_space) {
        return lines.extend_from_slice(json);
    }
    let (mut in_text, mut escaped) = (false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            byte if !in_text && is_space(byte) => continue,
            _ => {}
        }
        lines.push(*byte);
    }
}

/// Returns the items if the job type takes them, and the request has no file.
pub(super) fn check_items(
    fields: &mut Fields,
    job_type: Option<&dyn AnyJobType>,
    has_file: bool,
    items: Checked<Items>,
) -> Option<Items> {
    let other = match job_type.map(AnyJobType::input) {
        Some(Input::Options) => Some("options"),
        Some(Input::Dataset) => Some("the records of a dataset"),
        Some(Input::File) | None => None,
    };
    if let Some(other) = other {
        let detail = format!("this job type takes no items, only {other}");
        fields.refuse("items", &Bad::new("items_not_allowed", detail));
        return None;
    }
    if has_file {
        fields.refuse("items", &Bad::new("file_and_items", "a job has either a file or items; remove one of them"));
    }
    match items {
        Ok(items) => {
            fields.refuse_all(job_type.map(|job_type| items.check(job_type.item())).unwrap_or_default());
            Some(items)
        }
        Err(bad) => {
            fields.refuse("items", &bad);
            None
        }
    }
}

#[cfg(test)]
#[path = "items_tests.rs"]
mod tests;
