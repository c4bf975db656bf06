//! Batches of items for a remote handler, within limits of items and bytes.

use serde::Serialize;

use super::limits::BatchLimits;
use super::request::{RequestHead, RequestItem};
use crate::ids::ItemKey;

/// End of a request: of its items, then of itself.
const END: &[u8] = b"]}";

/// Bytes that a new batch reserves for each item. Longer items grow the body.
const ITEM_BYTES: usize = 256;

/// Result of adding an item to a batch.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Pushed {
    /// The item is part of the batch.
    Added,
    /// The batch has no space for the item, which begins the next one.
    Full,
}

/// A request with its items, and their keys in the same order.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Batch {
    /// The request as JSON.
    pub body: Vec<u8>,
    /// The keys of the items.
    pub keys: Vec<ItemKey>,
}

/// A request to which items are added.
#[derive(Clone, Debug)]
pub struct BatchBuilder {
    body: Vec<u8>,
    keys: Vec<ItemKey>,
    limits: BatchLimits,
}

impl BatchBuilder {
    /// Begins a request.
    ///
    /// # Errors
    /// If the options of the job cannot be written as JSON.
    pub fn new(head: &RequestHead<'_>, limits: BatchLimits) -> Result<Self, serde_json::Error> {
        let mut body = serde_json::to_vec(head)?;
        body.pop();
        body.reserve((limits.items() as usize).saturating_mul(ITEM_BYTES).min(limits.bytes() as usize));
        body.extend_from_slice(b",\"items\":[");
        Ok(Self { body, keys: Vec::new(), limits })
    }

    /// Adds an item, if the request is then within the limits. The first item is always added, whatever its size, so
    /// that no item can block its chunk.
    ///
    /// # Errors
    /// If the item cannot be written as JSON. The batch is unchanged.
    pub fn push<V: Serialize>(&mut self, item: &RequestItem<V>) -> Result<Pushed, serde_json::Error> {
        if self.keys.len() >= self.limits.items() as usize {
            return Ok(Pushed::Full);
        }
        let before = self.body.len();
        if !self.keys.is_empty() {
            self.body.push(b',');
        }
        let written = serde_json::to_writer(&mut self.body, item);
        let is_too_large = self.body.len() + END.len() > self.limits.bytes() as usize && !self.keys.is_empty();
        if written.is_err() || is_too_large {
            self.body.truncate(before);
            return written.map(|()| Pushed::Full);
        }
        self.keys.push(item.key);
        Ok(Pushed::Added)
    }

    /// Ends the request; `None` if it has no item.
    pub fn finish(mut self) -> Option<Batch> {
        self.body.extend_from_slice(END);
        (!self.keys.is_empty()).then_some(Batch { body: self.body, keys: self.keys })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;
    use serde_json::{Value, json};

    use super::*;
    use crate::ids::JobId;
    use crate::remote::{Mode, RequestBatch, RequestJob};
    use crate::tenant::TenantId;
    use crate::timestamp::Timestamp;

    const JOB: JobId = JobId(uuid::Uuid::from_u128(7));

    fn builder(limits: BatchLimits) -> BatchBuilder {
        let tenant = TenantId::from_static("acme");
        let options = json!({"event": "launch"});
        let job = RequestJob { id: JOB, job_type: "invite", tenant: &tenant, generation: 1, options: &options };
        let batch = RequestBatch { id: "b-1", deadline: Timestamp(1_700_000_000_000) };
        BatchBuilder::new(&RequestHead { mode: Mode::Run, job, batch }, limits).unwrap()
    }

    fn push(builder: &mut BatchBuilder, number: u64, value: &str) -> Pushed {
        let value: &RawValue = serde_json::from_str(value).unwrap();
        builder.push(&RequestItem { key: ItemKey { job_id: JOB, number }, attempt: 2, value }).unwrap()
    }

    #[test]
    fn a_request_is_as_the_contract_has_it_and_repeats_the_text_of_its_items() {
        let mut builder = builder(BatchLimits::new(10, 4_096));
        let values = [r#"{"a" : 1.00,  "a":2}"#, "12345678901234567890123", r#""\ud800""#, "[]"];
        for (number, value) in (17..).zip(values) {
            assert_eq!(push(&mut builder, number, value), Pushed::Added);
        }
        let batch = builder.finish().unwrap();
        let text = String::from_utf8(batch.body).unwrap();
        assert!(values.iter().all(|value| text.contains(value)), "{text}");
        assert_eq!(batch.keys.iter().map(|key| key.number).collect::<Vec<_>>(), [17, 18, 19, 20]);
        let request: Value = serde_json::from_str(&text.replace(r"\ud800", "?")).unwrap();
        assert_eq!((&request["schema"], &request["mode"]), (&json!("longshore.items/1"), &json!("run")));
        let id = JOB.to_string();
        let job =
            json!({"id": id, "type": "invite", "tenant": "acme", "generation": 1, "options": {"event": "launch"}});
        assert_eq!(request["job"], job);
        assert_eq!(request["batch"], json!({"id": "b-1", "deadline": "2023-11-14T22:13:20Z"}));
        let last = json!({"key": format!("{id}-20"), "number": 20, "try": 2, "value": []});
        assert_eq!((request["items"].as_array().unwrap().len(), &request["items"][3]), (4, &last));
    }

    #[test]
    fn a_batch_ends_at_its_limit_of_items() {
        let mut builder = builder(BatchLimits::new(2, 4_096));
        let pushed: Vec<_> = (1..=4).map(|number| push(&mut builder, number, "1")).collect();
        assert_eq!(pushed, [Pushed::Added, Pushed::Added, Pushed::Full, Pushed::Full]);
        assert_eq!(builder.finish().unwrap().keys.len(), 2);
    }

    #[test]
    fn a_batch_ends_at_its_limit_of_bytes_to_the_byte() {
        let two = {
            let mut builder = builder(BatchLimits::new(9, 4_096));
            push(&mut builder, 1, "1");
            push(&mut builder, 2, "2");
            builder.finish().unwrap()
        };
        for (spare, keys) in [(0, 2), (1, 2), (-1, 1)] {
            let bytes = u32::try_from(two.body.len() as i64 + spare).unwrap();
            let mut builder = builder(BatchLimits::new(9, bytes));
            push(&mut builder, 1, "1");
            push(&mut builder, 2, "2");
            let batch = builder.finish().unwrap();
            assert_eq!(batch.keys.len(), keys);
            assert!(batch.body.len() <= bytes as usize);
            assert!(serde_json::from_slice::<Value>(&batch.body).is_ok());
        }
    }

    #[test]
    fn a_batch_has_at_least_one_item_if_there_is_any() {
        let mut builder = builder(BatchLimits::new(9, 1));
        assert_eq!(push(&mut builder, 1, &format!("{:?}", "x".repeat(5_000))), Pushed::Added);
        assert_eq!(push(&mut builder, 2, "2"), Pushed::Full);
        assert_eq!(builder.finish().unwrap().keys.len(), 1);
        assert_eq!(super::tests::builder(BatchLimits::new(9, 1)).finish(), None);
    }
}
