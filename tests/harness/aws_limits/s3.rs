//! Checks of S3's calls, by path.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use longshore::aws_limits::Refusal;
use longshore::aws_limits::s3::{check_key, check_part_number, check_parts};

use super::request::Head;

/// Sizes of uploaded parts and objects.
#[derive(Debug, Default)]
pub(super) struct Parts(Mutex<Sizes>);

#[derive(Debug, Default)]
struct Sizes {
    /// By upload and part number.
    parts: BTreeMap<(String, usize), u64>,
    /// By bucket and key.
    objects: BTreeMap<String, u64>,
}

impl Parts {
    pub(super) fn record(&self, head: &Head, length: u64) {
        let size = head.header("x-amz-decoded-content-length").and_then(|size| size.parse().ok()).unwrap_or(length);
        let mut sizes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Sizes { parts, objects } = &mut *sizes;
        match (part_of(head), head.header("x-amz-copy-source")) {
            // An unknown object counts as large enough.
            (Some(part), Some(from)) => {
                let size = objects.get(&percent_decoded(from.trim_start_matches('/'))).copied();
                parts.insert(part, size.unwrap_or(u64::MAX));
            }
            (Some(part), None) => drop(parts.insert(part, size)),
            (None, _) if head.method == "PUT" => {
                let path = head.target.split('?').next().unwrap_or_default();
                objects.insert(percent_decoded(path.trim_start_matches('/')), size);
            }
            (None, _) => {}
        }
    }

    /// The size of a part. An unknown part counts as large enough.
    fn size(&self, upload: &str, number: usize) -> u64 {
        let sizes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sizes.parts.get(&(upload.to_owned(), number)).copied().unwrap_or(u64::MAX)
    }
}

/// Checks a call. Paths other than those of objects are forwarded.
pub(super) fn check(head: &Head, body: &[u8], parts: &Parts) -> Result<(), Refusal> {
    let path = head.target.split('?').next().unwrap_or_default();
    let Some((_, key)) = path.trim_start_matches('/').split_once('/').filter(|_| !path.starts_with("/_")) else {
        return Ok(());
    };
    if head.header("authorization").is_some_and(|signed| signed.contains("/s3/")) && !key.is_empty() {
        check_key(&percent_decoded(key))?;
    }
    if let Some((_, number)) = part_of(head) {
        check_part_number(number)?;
    }
    match head.query("uploadId") {
        Some(upload) if head.method == "POST" => {
            let numbers = numbers(&String::from_utf8_lossy(body));
            let sized: Vec<_> = numbers.into_iter().map(|number| (number, parts.size(upload, number))).collect();
            check_parts(&sized)
        }
        _ => Ok(()),
    }
}

fn part_of(head: &Head) -> Option<(String, usize)> {
    Some((head.query("uploadId")?.to_owned(), head.query("partNumber")?.parse().ok()?))
}

/// Part numbers in the order in which the call lists them.
fn numbers(xml: &str) -> Vec<usize> {
    let texts = xml.split("<PartNumber>").skip(1).filter_map(|rest| rest.split('<').next());
    texts.map(|number| number.trim().parse().unwrap_or_default()).collect()
}

/// Decodes a key for its length only: each `%41` becomes one character, no matter which.
fn percent_decoded(key: &str) -> String {
    let mut parts = key.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "x" + part.get(2..).unwrap_or_default())
}
