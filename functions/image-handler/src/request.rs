//! Requests of the contract, as this function reads them. Members that are not used are ignored.

use std::collections::HashSet;

use longshore_domain::ids::{ItemKey, JobId};
use longshore_domain::remote::Mode;
use longshore_domain::remote::limits::MAX_BATCH_ITEMS;
use longshore_domain::remote::ping::PING_SCHEMA;
use longshore_domain::remote::request::ITEMS_SCHEMA;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A request.
#[derive(Debug)]
pub enum Request {
    /// A ping, with its challenge.
    Ping(String),
    /// A batch of items.
    Items(ItemsRequest),
}

/// A batch of items.
#[derive(Debug, Deserialize)]
pub struct ItemsRequest {
    /// The purpose.
    pub mode: Mode,
    /// The job.
    pub job: RequestJob,
    /// The batch.
    pub batch: RequestBatch,
    /// The items.
    pub items: Vec<RequestItem>,
}

/// The job of a request.
#[derive(Debug, Deserialize)]
pub struct RequestJob {
    /// Identifies the job.
    pub id: JobId,
    /// The tenant that owns the job.
    pub tenant: TenantId,
    /// The options.
    pub options: Value,
}

/// The batch of a request.
#[derive(Debug, Deserialize)]
pub struct RequestBatch {
    /// The time after which an answer is ignored.
    #[serde(deserialize_with = "rfc3339")]
    pub deadline: Timestamp,
}

/// An item of a request.
#[derive(Debug, Deserialize)]
pub struct RequestItem {
    /// The idempotency key: the job and the number.
    pub key: String,
    /// The number.
    pub number: u64,
    /// The item.
    pub value: Box<RawValue>,
}

/// An event that is no request of the contract.
#[derive(Debug, thiserror::Error)]
pub enum BadRequest {
    /// An unknown contract, or none.
    #[error("the event is no request of the contract: its `schema` must be \"{ITEMS_SCHEMA}\" or \"{PING_SCHEMA}\"")]
    Schema,
    /// Members that are missing or wrong.
    #[error("the request does not match its schema")]
    Members(#[source] serde_json::Error),
    /// No items, or too many.
    #[error("a request has 1 to {MAX_BATCH_ITEMS} items, and this one has {0}")]
    ItemCount(usize),
    /// A key that is not the job and the number, or a number that occurs twice.
    #[error("the key of item {0} is not its job and its number, or the item occurs twice")]
    Key(u64),
}

#[derive(Deserialize)]
struct Head {
    schema: String,
}

#[derive(Deserialize)]
struct Ping {
    challenge: String,
}

impl Request {
    /// Reads an event.
    ///
    /// # Errors
    /// If the event is no request of the contract.
    pub fn read(event: &str) -> Result<Self, BadRequest> {
        // A reader of members accepts an array of their values, too.
        if !event.trim_start().starts_with('{') {
            return Err(BadRequest::Schema);
        }
        let Head { schema } = serde_json::from_str(event).map_err(|_| BadRequest::Schema)?;
        match schema.as_str() {
            PING_SCHEMA => {
                let Ping { challenge } = serde_json::from_str(event).map_err(BadRequest::Members)?;
                Ok(Self::Ping(challenge))
            }
            ITEMS_SCHEMA => {
                let request: ItemsRequest = serde_json::from_str(event).map_err(BadRequest::Members)?;
                request.checked().map(Self::Items)
            }
            _ => Err(BadRequest::Schema),
        }
    }
}

impl ItemsRequest {
    /// Checks the items. Two items with one number would write the same files.
    fn checked(self) -> Result<Self, BadRequest> {
        if self.items.is_empty() || self.items.len() > MAX_BATCH_ITEMS as usize {
            return Err(BadRequest::ItemCount(self.items.len()));
        }
        let mut seen = HashSet::new();
        for RequestItem { key, number, .. } in &self.items {
            let expected = ItemKey { job_id: self.job.id, number: *number }.to_string();
            if *number == 0 || *key != expected || !seen.insert(*number) {
                return Err(BadRequest::Key(*number));
            }
        }
        Ok(self)
    }
}

fn rfc3339<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(deserializer)?;
    Timestamp::parse_rfc3339(&text).ok_or_else(|| D::Error::custom("the time is not valid RFC 3339"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const JOB: &str = "01980000-0000-7000-8000-000000000001";

    fn request() -> Value {
        json!({
            "schema": "longshore.items/1", "mode": "run", "later": 1,
            "job": { "id": JOB, "type": "image", "tenant": "acme", "generation": 1, "options": {} },
            "batch": { "id": "b", "deadline": "2026-11-22T20:00:25Z" },
            "items": [{ "key": format!("{JOB}-17"), "number": 17, "try": 1, "value": "https://example.com/a" }]
        })
    }

    fn changed(pointer: &str, value: Value) -> String {
        let mut request = request();
        *request.pointer_mut(pointer).expect(pointer) = value;
        request.to_string()
    }

    #[test]
    fn a_request_is_read_and_unknown_members_are_ignored() {
        let Request::Items(read) = Request::read(&request().to_string()).unwrap() else { panic!() };
        assert_eq!((read.job.tenant.as_str(), read.items[0].number, read.mode), ("acme", 17, Mode::Run));
        let ping = json!({ "schema": "longshore.ping/1", "challenge": "c", "stack": "s" });
        assert!(matches!(Request::read(&ping.to_string()), Ok(Request::Ping(challenge)) if challenge == "c"));
    }

    #[test]
    fn an_event_of_another_service_is_refused() {
        for event in [
            "null",
            "[]",
            r#"["longshore.ping/1"]"#,
            "\"\"",
            "{}",
            "{",
            r#"{"Records":[]}"#,
            r#"{"schema":"longshore.items/2"}"#,
            r#"{"schema":7}"#,
        ] {
            assert!(matches!(Request::read(event), Err(BadRequest::Schema)), "{event}");
        }
        assert!(matches!(Request::read(r#"{"schema":"longshore.ping/1"}"#), Err(BadRequest::Members(_))));
    }

    #[test]
    fn tenant_and_job_that_could_lead_to_another_folder_are_refused() {
        for tenant in ["", "..", "a/b", "a/../b", "a%2fb", "a\u{0}", "ä"] {
            assert!(matches!(Request::read(&changed("/job/tenant", json!(tenant))), Err(BadRequest::Members(_))));
        }
        for id in ["", "..", "17", "01980000-0000-7000-8000-00000000000x", "01980000-0000-7000-8000-000000000001/.."] {
            assert!(matches!(Request::read(&changed("/job/id", json!(id))), Err(BadRequest::Members(_))), "{id}");
        }
    }

    #[test]
    fn an_item_has_the_key_of_its_job_and_number_and_occurs_once() {
        for (pointer, value) in [
            ("/items/0/number", json!(18)),
            ("/items/0/key", json!("01980000-0000-7000-8000-000000000002-17")),
            ("/items/0/key", json!("17")),
        ] {
            assert!(matches!(Request::read(&changed(pointer, value)), Err(BadRequest::Key(_))), "{pointer}");
        }
        let item = request()["items"][0].clone();
        assert!(matches!(Request::read(&changed("/items", json!([item, item]))), Err(BadRequest::Key(17))));
        assert!(matches!(Request::read(&changed("/items", json!([]))), Err(BadRequest::ItemCount(0))));
        let zero = json!([{ "key": format!("{JOB}-0"), "number": 0, "try": 1, "value": null }]);
        assert!(matches!(Request::read(&changed("/items", zero)), Err(BadRequest::Key(0))));
    }

    #[test]
    fn other_modes_and_times_are_refused() {
        for (pointer, value) in
            [("/mode", json!("simulate")), ("/batch/deadline", json!("soon")), ("/batch/deadline", json!(1))]
        {
            assert!(matches!(Request::read(&changed(pointer, value)), Err(BadRequest::Members(_))), "{pointer}");
        }
    }
}
