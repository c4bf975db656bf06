//! The messages of a check: pings, and batches of items.

use std::collections::BTreeMap;

use longshore_domain::ids::{ItemKey, JobId};
use longshore_domain::remote::limits::{MAX_BATCH_BYTES, MAX_BATCH_ITEMS};
use longshore_domain::remote::{
    Batch, BatchBuilder, BatchLimits, Mode, Pushed, RequestBatch, RequestHead, RequestItem, RequestJob,
};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;

/// The tenant of every batch.
const TENANT: TenantId = TenantId::from_static("longshore-check");

/// The job that all batches belong to.
pub(super) struct Job {
    pub(super) id: JobId,
    pub(super) job_type: String,
    pub(super) options: Value,
    pub(super) mode: Mode,
}

/// Items with their numbers in the job.
#[derive(Clone)]
pub(super) struct Items {
    /// Name of the batch, a part of its ids.
    pub(super) name: String,
    /// Number and value of each item.
    pub(super) items: Vec<(u64, Box<RawValue>)>,
}

impl Job {
    /// Builds the request; items that are too many for the limits of the contract are left out.
    pub(super) fn batch(&self, id: &str, items: &Items, deadline: Timestamp) -> anyhow::Result<Batch> {
        let job = RequestJob {
            id: self.id,
            job_type: &self.job_type,
            tenant: &TENANT,
            generation: 1,
            options: &self.options,
        };
        let head = RequestHead { mode: self.mode, job, batch: RequestBatch { id, deadline } };
        let mut batch = BatchBuilder::new(&head, BatchLimits::new(MAX_BATCH_ITEMS, MAX_BATCH_BYTES))?;
        for (number, value) in &items.items {
            let key = ItemKey { job_id: self.id, number: *number };
            if batch.push(&RequestItem { key, attempt: 1, value })? == Pushed::Full {
                break;
            }
        }
        batch.finish().ok_or_else(|| anyhow::anyhow!("a batch without an item"))
    }
}

/// Adds members that no version of the contract has, at every level of a request.
pub(super) fn with_unknown_members(body: &[u8]) -> serde_json::Result<Vec<u8>> {
    type Object = BTreeMap<String, Box<RawValue>>;
    let unknown = || serde_json::value::to_raw_value(&serde_json::json!({"added": [1, "two"]}));
    let extended = |text: &RawValue| -> serde_json::Result<Box<RawValue>> {
        let mut object: Object = serde_json::from_str(text.get())?;
        object.insert("xLaterVersion".to_owned(), unknown()?);
        serde_json::value::to_raw_value(&object)
    };
    let mut request: Object = serde_json::from_slice(body)?;
    for (name, value) in &mut request {
        match name.as_str() {
            "job" | "batch" => *value = extended(value)?,
            "items" => {
                let items: Vec<&RawValue> = serde_json::from_str(value.get())?;
                let items = items.into_iter().map(extended).collect::<Result<Vec<_>, _>>()?;
                *value = serde_json::value::to_raw_value(&items)?;
            }
            _ => {}
        }
    }
    request.insert("xLaterVersion".to_owned(), unknown()?);
    serde_json::to_vec(&request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::types::check::samples::raw;

    #[test]
    fn unknown_members_are_added_at_every_level_and_values_are_kept() {
        let job = Job { id: JobId::generate(), job_type: "t".into(), options: Value::Null, mode: Mode::Validate };
        let value = RawValue::from_string(r#"{"b":1.50,"a":1e400}"#.into()).unwrap();
        let items = Items { name: "n".into(), items: vec![(7, value)] };
        let batch = job.batch("b", &items, Timestamp(0)).unwrap();
        let text = String::from_utf8(with_unknown_members(&batch.body).unwrap()).unwrap();
        assert_eq!(text.matches("xLaterVersion").count(), 4);
        assert!(text.contains(r#""value":{"b":1.50,"a":1e400}"#), "{text}");
    }

    #[test]
    fn a_batch_has_at_most_a_thousand_items() {
        let job = Job { id: JobId::generate(), job_type: "t".into(), options: Value::Null, mode: Mode::Run };
        let items = Items { name: "n".into(), items: (1..=1_001).map(|n| (n, raw(&Value::from(n)))).collect() };
        assert_eq!(job.batch("b", &items, Timestamp(0)).unwrap().keys.len(), 1_000);
    }
}
