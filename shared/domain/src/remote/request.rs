//! The request with which a batch of items is sent to a remote handler: `longshore.items/1`.
//!
//! The same JSON is the payload of a Lambda invocation and the body of an HTTPS `POST`. An item's value is written as
//! the JSON text that it is: the text is neither parsed nor formatted again.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::ids::{ItemKey, JobId};
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// Name of the contract, in the member `schema` of a request.
pub const ITEMS_SCHEMA: &str = "longshore.items/1";

/// Purpose of a request.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// The items are to be processed.
    Run,
    /// The items are to be checked, without any effect.
    Validate,
}

impl Mode {
    /// Returns the name of the mode in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Validate => "validate",
        }
    }
}

/// Everything in a request except the items.
#[derive(Copy, Clone, Debug)]
pub struct RequestHead<'a> {
    /// Purpose of the request.
    pub mode: Mode,
    /// The job.
    pub job: RequestJob<'a>,
    /// The batch.
    pub batch: RequestBatch<'a>,
}

/// The job of a request.
#[derive(Copy, Clone, Debug, Serialize)]
pub struct RequestJob<'a> {
    /// Identifies the job.
    pub id: JobId,
    /// Name of the job type.
    #[serde(rename = "type")]
    pub job_type: &'a str,
    /// The tenant that owns the job.
    pub tenant: &'a TenantId,
    /// The generation, from 1: a retry of failed items is the next one.
    pub generation: u32,
    /// The options of the job.
    pub options: &'a Value,
}

/// The batch of a request.
#[derive(Copy, Clone, Debug, Serialize)]
pub struct RequestBatch<'a> {
    /// Identifies the batch in logs. Batches of different items must have different ids: gateways may use it as an
    /// idempotency key.
    pub id: &'a str,
    /// The time after which an answer is ignored.
    #[serde(serialize_with = "rfc3339")]
    pub deadline: Timestamp,
}

/// An item of a request.
#[derive(Clone, Debug)]
pub struct RequestItem<V> {
    /// The idempotency key: the same for every attempt.
    pub key: ItemKey,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// The item, written as its JSON value.
    pub value: V,
}

impl Serialize for RequestHead<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Head<'a> {
            schema: &'static str,
            mode: Mode,
            job: RequestJob<'a>,
            batch: RequestBatch<'a>,
        }
        Head { schema: ITEMS_SCHEMA, mode: self.mode, job: self.job, batch: self.batch }.serialize(serializer)
    }
}

impl<V: Serialize> Serialize for RequestItem<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Item<'a, V> {
            #[serde(serialize_with = "displayed")]
            key: ItemKey,
            number: u64,
            r#try: u32,
            value: &'a V,
        }
        Item { key: self.key, number: self.key.number, r#try: self.attempt, value: &self.value }.serialize(serializer)
    }
}

fn displayed<S: Serializer>(key: &ItemKey, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(key)
}

fn rfc3339<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    time.to_rfc3339().serialize(serializer)
}
