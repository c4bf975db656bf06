//! Endpoints of tenants, and deliveries.

use aws_sdk_dynamodb::types::AttributeValue;
use longshore_domain::ids::EndpointId;
use longshore_domain::ports::{ConditionalWrite, DeliveriesFrom, DeliveriesQuery, PortResult, Webhooks};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::turns::by_turns;
use longshore_domain::webhook::{Delivery, DeliveryId, DeliveryKey, Endpoint};

use super::conditional::{json, value, written};
use super::due::{DUE, DUE_AT, DueKind, Reading};
use super::events::to_item as event_item;
use super::item::{Item, ItemError, number, read_text, text, time};
use super::keys::{Key, PK, SK, deliveries_pk, webhooks_pk};
use super::retry::unanswered;
use super::transaction::Transacted;
use super::update::Update;
use super::{DynamoStore, failed};

const ENDPOINT: &str = "endpoint";
const HEALTH: &str = "health";
const DELIVERY: &str = "delivery";

impl Webhooks for DynamoStore {
    /// Consistent Query of `WEBHOOKS#tenant`. Fails if another version of this program wrote an endpoint that this one cannot
    /// read: without it, the endpoint's events would be lost, and its deliveries would end. They wait for the newer version.
    async fn endpoints(&self, tenant: &TenantId) -> PortResult<Vec<Endpoint>> {
        let query = self.client.query().table_name(&self.table).consistent_read(true);
        let query = query
            .key_condition_expression("PK = :webhooks")
            .expression_attribute_values(":webhooks", text(webhooks_pk(tenant)));
        let page = query.send().await.map_err(unanswered("endpoints"))?;
        let endpoints: Result<Vec<_>, _> = page.items.unwrap_or_default().iter().map(read_endpoint).collect();
        let mut endpoints = endpoints.map_err(failed("endpoints"))?;
        endpoints.sort_by_key(|endpoint| (endpoint.created_at, endpoint.place));
        Ok(endpoints)
    }

    /// UpdateItem of `WEBHOOKS#tenant` / `place`, if the item is absent, or has the id, the revision and the health that
    /// were read.
    async fn put_endpoint(&self, endpoint: &Endpoint, read: Option<&Endpoint>) -> PortResult<ConditionalWrite> {
        let update = endpoint_update("put_endpoint", endpoint, read)?;
        let values = update.values.clone();
        let has_identity = read.is_none_or(|read| read.revision != endpoint.revision);
        let updated = self.update(update).await?;
        written(updated, |item| has_identity && item.get(ENDPOINT) == value(&values, ":endpoint"))
    }

    /// TransactWriteItems: updates `WEBHOOKS#tenant` / `place` on the condition of `put_endpoint`, and puts the event in
    /// `EVENTS#tenant` and its deliveries.
    async fn disable_endpoint(
        &self,
        disabled: &Endpoint,
        read: &Endpoint,
        deliveries: &[Delivery],
        now: Timestamp,
    ) -> PortResult<ConditionalWrite> {
        const DISABLE: &str = "disable_endpoint";
        let mut writes = vec![self.update_of(endpoint_update(DISABLE, disabled, Some(read))?)?];
        if let Some(event) = disabled.disabled_event() {
            let item = event_item(&disabled.tenant, &event, now, i64::MAX).map_err(failed(DISABLE))?;
            writes.push(self.put_if_absent(item)?);
        }
        Ok(match self.append_events(DISABLE, writes, deliveries).await? {
            Transacted::Applied => ConditionalWrite::Stored,
            Transacted::Refused(_) => ConditionalWrite::Changed,
        })
    }

    /// DeleteItem of `WEBHOOKS#tenant` / `place`, if it has the id and the revision that were read.
    async fn delete_endpoint(&self, read: &Endpoint) -> PortResult<ConditionalWrite> {
        const DELETE: &str = "delete_endpoint";
        let values = vec![(":id", text(read.endpoint_id.to_string())), (":revision", number(read.revision))];
        let condition = ("#endpointId = :id AND #revision = :revision".to_owned(), values);
        let delete = self.delete_of(Key::endpoint(&read.tenant, read.place), condition)?;
        Ok(match self.transact(DELETE, vec![delete]).await? {
            Transacted::Applied => ConditionalWrite::Stored,
            Transacted::Refused(_) => ConditionalWrite::Changed,
        })
    }

    /// See `DynamoStore::reserve_time`.
    async fn reserve_call(&self, tenant: &TenantId, now: Timestamp) -> PortResult<Timestamp> {
        self.reserve_time(tenant, now).await
    }

    /// Consistent GetItem of `DELIVERIES#endpoint#tenant` / `id`.
    async fn delivery(&self, key: &DeliveryKey) -> PortResult<Option<Delivery>> {
        let item = self.get("delivery", Key::delivery(key)).await?;
        item.map(|item| read_delivery(&item)).transpose().map_err(failed("delivery"))
    }

    /// Query of `DELIVERIES#endpoint#tenant`, consistent from an id on.
    async fn deliveries_of(&self, query: &DeliveriesQuery<'_>) -> PortResult<Vec<Delivery>> {
        const LIST: &str = "deliveries_of";
        let call = self.client.query().table_name(&self.table);
        let call = call
            .expression_attribute_values(":deliveries", text(deliveries_pk(query.tenant, query.endpoint_id)))
            .set_limit(i32::try_from(query.limit).ok());
        let of_endpoint = "PK = :deliveries";
        let call = match query.from {
            DeliveriesFrom::After(id) => call
                .consistent_read(true)
                .key_condition_expression(format!("{of_endpoint} AND SK > :id"))
                .expression_attribute_values(":id", text(id.as_str())),
            DeliveriesFrom::Before(Some(id)) => call
                .key_condition_expression(format!("{of_endpoint} AND SK < :id"))
                .expression_attribute_values(":id", text(id.as_str()))
                .scan_index_forward(false),
            DeliveriesFrom::Before(None) => call.key_condition_expression(of_endpoint).scan_index_forward(false),
        };
        let page = call.send().await.map_err(unanswered(LIST))?;
        let deliveries: Result<_, _> = page.items.unwrap_or_default().iter().map(read_delivery).collect();
        deliveries.map_err(failed(LIST))
    }

    /// UpdateItem of `DELIVERIES#endpoint#tenant` / `id`, if it has the revision that was read. A delivery without an
    /// attempt left leaves the index `due`.
    async fn put_delivery(&self, delivery: &Delivery, read_revision: u32) -> PortResult<ConditionalWrite> {
        const PUT: &str = "put_delivery";
        let mut values = vec![
            (":delivery", json(delivery).map_err(failed(PUT))?),
            (":revision", number(delivery.revision)),
            (":read", number(read_revision)),
            (":expiry", number(delivery.expires_at)),
        ];
        let set = "SET #delivery = :delivery, #revision = :revision, #expiresAt = :expiry";
        let update = match delivery.due() {
            Some(at) => {
                values.extend([(":due", partition_of(delivery)), (":dueAt", time(at))]);
                format!("{set}, #{DUE} = :due, #{DUE_AT} = :dueAt")
            }
            None => format!("{set} REMOVE #{DUE}, #{DUE_AT}"),
        };
        let updated = self.update(Update {
            operation: PUT,
            key: Key::delivery(&delivery.key()),
            update,
            condition: "attribute_exists(#PK) AND #revision = :read".into(),
            values: values.clone(),
        });
        written(updated.await?, |item| item.get(DELIVERY) == value(&values, ":delivery"))
    }

    /// Query of each partition of the index `due`, page by page, because a tenant can have all deliveries of a page.
    async fn due_deliveries(&self, before: Timestamp, limit: usize) -> PortResult<Vec<DeliveryKey>> {
        let in_turn = |due| by_turns(due, limit);
        let due = self.due(("due_deliveries", DueKind::Deliveries), before, Reading::BothEnds, key_of, in_turn).await?;
        Ok(due.into_iter().map(|(_, key)| key).collect())
    }
}

/// Returns the update that stores an endpoint, if it is absent, or has the id, the revision and the health that were read.
fn endpoint_update(operation: &'static str, endpoint: &Endpoint, read: Option<&Endpoint>) -> PortResult<Update> {
    let mut values = vec![
        (":id", text(endpoint.endpoint_id.to_string())),
        (":endpoint", json(endpoint).map_err(failed(operation))?),
        (":health", json(&endpoint.health).map_err(failed(operation))?),
        (":revision", number(endpoint.revision)),
    ];
    let condition = match read {
        None => "attribute_not_exists(#PK)",
        Some(read) => {
            values.push((":readRevision", number(read.revision)));
            values.push((":readHealth", json(&read.health).map_err(failed(operation))?));
            "attribute_exists(#PK) AND #endpointId = :id AND #revision = :readRevision AND #health = :readHealth"
        }
    };
    Ok(Update {
        operation,
        key: Key::endpoint(&endpoint.tenant, endpoint.place),
        update: "SET #endpointId = :id, #endpoint = :endpoint, #health = :health, #revision = :revision".into(),
        condition: condition.into(),
        values,
    })
}

fn partition_of(delivery: &Delivery) -> AttributeValue {
    DueKind::Deliveries.partition(delivery.endpoint_id.to_string().chars().next())
}

/// Returns the item of a new delivery.
pub(super) fn to_item(delivery: &Delivery) -> Result<Item, ItemError> {
    let mut item = Key::delivery(&delivery.key()).attributes();
    item.extend([
        (DELIVERY.to_owned(), json(delivery)?),
        ("revision".to_owned(), number(delivery.revision)),
        ("expiresAt".to_owned(), number(delivery.expires_at)),
    ]);
    if let Some(at) = delivery.due() {
        item.extend([(DUE.to_owned(), partition_of(delivery)), (DUE_AT.to_owned(), time(at))]);
    }
    Ok(item)
}

/// Returns the item of an endpoint.
pub(super) fn endpoint_item(endpoint: &Endpoint) -> Result<Item, ItemError> {
    let mut item = Key::endpoint(&endpoint.tenant, endpoint.place).attributes();
    item.extend([
        ("endpointId".to_owned(), text(endpoint.endpoint_id.to_string())),
        (ENDPOINT.to_owned(), json(endpoint)?),
        (HEALTH.to_owned(), json(&endpoint.health)?),
        ("revision".to_owned(), number(endpoint.revision)),
    ]);
    Ok(item)
}

fn read_endpoint(item: &Item) -> Result<Endpoint, ItemError> {
    let endpoint: Endpoint = serde_json::from_str(read_text(item, ENDPOINT)?)?;
    Ok(Endpoint { health: serde_json::from_str(read_text(item, HEALTH)?)?, ..endpoint })
}

fn read_delivery(item: &Item) -> Result<Delivery, ItemError> {
    Ok(serde_json::from_str(read_text(item, DELIVERY)?)?)
}

fn key_of(item: &Item) -> Result<DeliveryKey, ItemError> {
    let of_endpoint = read_text(item, PK)?.strip_prefix("DELIVERIES#").ok_or(ItemError::Attribute(PK))?;
    let (endpoint_id, tenant) = of_endpoint.split_once('#').ok_or(ItemError::Attribute(PK))?;
    Ok(DeliveryKey {
        tenant: TenantId::parse(tenant).ok_or(ItemError::Attribute(PK))?,
        endpoint_id: EndpointId::parse(endpoint_id).ok_or(ItemError::Attribute(PK))?,
        id: DeliveryId::parse(read_text(item, SK)?).ok_or(ItemError::Attribute(SK))?,
    })
}
