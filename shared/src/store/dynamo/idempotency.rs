//! Idempotency keys: stored in one transaction with the item that they create, and read after a refusal.

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::ports::{Created, IdempotencyKey, PortResult};
use longshore_domain::tenant::TenantId;

use super::item::{Item, ItemError, number, read_number, read_text, text};
use super::keys::{Key, PK};
use super::{DynamoStore, failed};
use crate::store::own_write;

/// An id of a kind of items that are created under idempotency keys.
pub(super) trait Keyed: Copy + PartialEq + std::fmt::Display {
    /// The kind, as part of a key's partition key.
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

/// A create call under a key.
#[derive(Copy, Clone, Debug)]
pub(super) struct KeyOf<'a, Id> {
    /// The tenant of the request.
    pub(super) tenant: &'a TenantId,
    /// The client's key.
    pub(super) key: &'a IdempotencyKey,
    /// Id of the item to be created.
    pub(super) own: Id,
    /// Name of the operation in the port.
    pub(super) operation: &'static str,
}

impl<Id: Keyed> KeyOf<'_, Id> {
    fn key(&self) -> Key {
        Key::idempotency(Id::KIND, self.tenant, &self.key.key)
    }
}

impl DynamoStore {
    /// A put of `KEY#kind#tenant#key`, if absent or expired: DynamoDB removes expired items up to days later.
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

    /// Returns the earlier create that caused a refusal, as far as the key shows it; `None` if the key is unused.
    pub(super) async fn earlier_create<Id: Keyed>(&self, of: KeyOf<'_, Id>) -> PortResult<Option<Created<Id>>> {
        let taken = self.taken(of.operation, of.tenant, of.key).await?;
        Ok(taken.map(|(hash, stored)| own_write::key_taken(of.key, of.own, &hash, stored)))
    }

    /// Consistent GetItem of a key that has not expired: the hash of its request, and the id of the created item.
    pub(super) async fn taken<Id: Keyed>(
        &self,
        operation: &'static str,
        tenant: &TenantId,
        key: &IdempotencyKey,
    ) -> PortResult<Option<(String, Id)>> {
        let item = self.get(operation, Key::idempotency(Id::KIND, tenant, &key.key)).await?;
        item.map_or(Ok(None), |item| read_taken(&item, key)).map_err(failed(operation))
    }
}

fn read_taken<Id: Keyed>(item: &Item, key: &IdempotencyKey) -> Result<Option<(String, Id)>, ItemError> {
    // DynamoDB removes expired items up to days later.
    if read_number::<i64>(item, "expiresAt")? < key.at.seconds() {
        return Ok(None);
    }
    let made = Id::parse(read_text(item, "made")?).ok_or(ItemError::Attribute("made"))?;
    Ok(Some((read_text(item, "requestHash")?.to_owned(), made)))
}
