//! Delivery records: one item for each tenant and priority, with an attribute for each time interval.
//!
//! An interval's attribute holds `interval.sent` in digits of fixed width, so that one comparison of texts keeps the
//! newer interval, and within one interval the newer message. The item stays below one write unit.

use longshore_domain::deliveries::{Deliveries, INTERVALS};
use longshore_domain::job::Priority;
use longshore_domain::ports::{Delivered, DeliveryRecords, PortResult};

use super::DynamoStore;
use super::item::{Item, number, text};
use super::keys::Key;
use super::update::Update;

const OPERATION: &str = "note_delivery";

/// Seconds for which records are kept after the last one.
const KEPT_S: i64 = 86_400;

impl DeliveryRecords for DynamoStore {
    /// UpdateItem of `TENANT#tenant` / `DELIVERED#priority`, if the interval is unused, older, or has no message that
    /// was sent as late. A refusal means that there is nothing to record.
    async fn record_delivery(&self, delivered: &Delivered<'_>) -> PortResult<()> {
        let interval = Deliveries::interval(delivered.at);
        let name = format!("#s{}", interval.rem_euclid(INTERVALS));
        let note = format!("{interval:010}.{:011}", delivered.sent_at.seconds());
        let update = Update {
            operation: OPERATION,
            key: Key::deliveries(delivered.tenant, delivered.priority),
            update: format!("SET {name} = :note, #expiresAt = :expiry"),
            condition: format!("attribute_not_exists({name}) OR {name} < :note"),
            values: vec![(":note", text(note)), (":expiry", number(delivered.at.plus_seconds(KEPT_S).seconds()))],
        };
        self.update(update).await.map(|_| ())
    }

    /// Consistent GetItem of `TENANT#tenant` / `DELIVERED#priority`. Unreadable attributes are left out: a wrong
    /// decision for lack of them causes at most a harmless duplicate message.
    async fn deliveries(&self, tenant: &str, priority: Priority) -> PortResult<Deliveries> {
        let item = self.get("deliveries", Key::deliveries(tenant, priority)).await?;
        Ok(item.map(|item| from_item(&item)).unwrap_or_default())
    }
}

fn from_item(item: &Item) -> Deliveries {
    let mut notes: Vec<(i64, i64)> = item.values().filter_map(|value| parse(value.as_s().ok()?)).collect();
    notes.sort_unstable();
    let mut deliveries = Deliveries::default();
    notes.into_iter().for_each(|(interval, sent_s)| deliveries.insert(interval, sent_s));
    deliveries
}

fn parse(note: &str) -> Option<(i64, i64)> {
    let (interval, sent_s) = note.split_once('.')?;
    Some((interval.parse().ok()?, sent_s.parse().ok()?))
}
