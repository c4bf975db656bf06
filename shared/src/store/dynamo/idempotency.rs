//! Idempotency keys: put in one transaction with what they make, and asked after a refusal.

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::ports::{Created, IdempotencyKey, PortResult};

use super::item::{ItemError, number, read_text, text};
use super::keys::{Key, PK};
use super::{DynamoStore, failed};
use crate::store::replay;

/// An id of a kind of things that idempotency keys make.
pub(super) trait Keyed: Copy + PartialEq + std::fmt::Display {
    /// The kind, as it stands in a key's partition key.
    const KIND: &'static str;

    fn parse(text: &str) -> Option<Self>;
}

impl Keyed for JobId {
    const KIND: &'static str = "JOB";

    fn parse(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}

impl Keyed for FileGuid {
    const KIND: &'static str = "UPLOAD";

    fn parse(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}

/// A create under a key.
#[derive(Copy, Clone, Debug)]
pub(super) struct KeyOf<'a, Id> {
    /// Whose request it is.
    pub(super) tenant: &'a str,
    /// The client's key.
    pub(super) key: &'a IdempotencyKey,
    /// What the request is to make.
    pub(super) own: Id,
    /// The port's word for it.
    pub(super) operation: &'static str,
}

impl<Id: Keyed> KeyOf<'_, Id> {
    fn key(&self) -> Key {
        Key::idempotency(Id::KIND, self.tenant, &self.key.key)
    }
}

impl DynamoStore {
    /// A put of `KEY#kind#tenant#key`, if absent or expired: DynamoDB removes what has expired up to days later.
    pub(super) fn put_key<Id: Keyed>(&self, of: KeyOf<'_, Id>) -> PortResult<TransactWriteItem> {
        let mut item = of.key().attributes();
        item.insert("requestHash".into(), text(&of.key.request_hash));
        item.insert("made".into(), text(of.own.to_string()));
        item.insert("expiresAt".into(), number(of.key.expires_at()));
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression("attribute_not_exists(#PK) OR #expiresAt < :now")
            .expression_attribute_names("#PK", PK)
            .expression_attribute_names("#expiresAt", "expiresAt")
            .expression_attribute_values(":now", number(of.key.at.seconds()))
            .build()
            .map_err(failed(of.operation))?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    /// After a refusal: whose write is in the way. Consistent GetItem of the key. Without one the thing itself was in
    /// the way, and ids are unique: it is this very call's.
    pub(super) async fn who_was_first<Id: Keyed>(&self, of: KeyOf<'_, Id>) -> PortResult<Created<Id>> {
        let Some(item) = self.get(of.operation, of.key()).await? else { return Ok(Created::New) };
        let stored = read_text(&item, "made").map_err(failed(of.operation))?;
        let stored = Id::parse(stored).ok_or(ItemError::Attribute("made")).map_err(failed(of.operation))?;
        let hash = read_text(&item, "requestHash").map_err(failed(of.operation))?;
        Ok(replay::key_taken(of.key, of.own, hash, stored))
    }
}
