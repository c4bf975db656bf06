//! Reads all records of a dataset through the API, page by page.

use crate::api::Api;
use crate::output::progress;
use anyhow::{Result, ensure};
use std::collections::BTreeSet;

/// The API's maximum page size.
const PAGE: u32 = 500;

/// Returns all keys of the dataset. Fails if a key occurs twice, because pages must not overlap.
pub(super) fn keys(api: &Api, dataset: &str) -> Result<BTreeSet<String>> {
    let step = progress::step("Reading all records back");
    let (mut keys, mut cursor) = (BTreeSet::new(), None::<String>);
    loop {
        let page = api.records(dataset, PAGE, cursor.as_deref())?;
        for record in page.records {
            ensure!(!keys.contains(&record.key), "the list of records contains {} twice", record.key);
            keys.insert(record.key);
        }
        step.detail(&keys.len().to_string());
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    step.done();
    Ok(keys)
}
