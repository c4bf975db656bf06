//! The position of the sweeps, one item.

use longshore_domain::deliveries::{Deliveries, INTERVALS};
use longshore_domain::ids::JobId;
use longshore_domain::job::ChunkQueue;
use longshore_domain::ports::{DeliveryRecord, DeliveryRecords, JobPosition, PortResult, Sweeps};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use super::item::{Item, ItemError, number, read_number, read_text, text, time};
use super::keys::Key;
use super::update::Update;
use super::{DynamoStore, failed};

const JOB_ID: &str = "jobId";
const AGE: &str = "age";

impl Sweeps for DynamoStore {
    /// Consistent GetItem of `SWEEP` / `POSITION`.
    async fn sweep_position(&self) -> PortResult<Option<JobPosition>> {
        let item = self.get("sweep_position", Key::sweep_position()).await?.filter(|item| item.contains_key(JOB_ID));
        item.map(|item| position_of(&item)).transpose().map_err(failed("sweep_position"))
    }

    /// UpdateItem of `SWEEP` / `POSITION`, without a condition: the next sweep continues from the last write.
    async fn set_sweep_position(&self, position: Option<JobPosition>) -> PortResult<()> {
        let (update, values) = match position {
            Some(position) => (
                "SET #jobId = :job, #age = :age",
                vec![(":job", text(position.job_id.to_string())), (":age", time(position.created_at))],
            ),
            None => ("REMOVE #jobId, #age", Vec::new()),
        };
        let update = Update {
            operation: "set_sweep_position",
            key: Key::sweep_position(),
            update: update.into(),
            condition: String::new(),
            values,
        };
        self.update(update).await.map(|_| ())
    }
}

fn position_of(item: &Item) -> Result<JobPosition, ItemError> {
    let job_id = JobId::parse(read_text(item, JOB_ID)?).ok_or(ItemError::Attribute(JOB_ID))?;
    Ok(JobPosition { created_at: Timestamp(read_number(item, AGE)?), job_id })
}

const OPERATION: &str = "record_delivery";

/// Seconds for which records are kept after the last one.
const RETENTION_S: i64 = 86_400;

impl DeliveryRecords for DynamoStore {
    /// UpdateItem of `TENANT#tenant` / `DELIVERED#queue`, if the interval is unused, older, or has no message that
    /// was sent as late. A refusal means that there is nothing to record.
    async fn record_delivery(&self, delivery: &DeliveryRecord<'_>) -> PortResult<()> {
        let interval = Deliveries::interval(delivery.at);
        let name = format!("#s{}", interval.rem_euclid(INTERVALS));
        let entry = format!("{interval:010}.{:011}", delivery.sent_at.seconds());
        let update = Update {
            operation: OPERATION,
            key: Key::deliveries(delivery.tenant, delivery.queue),
            update: format!("SET {name} = :entry, #expiresAt = :expiry"),
            condition: format!("attribute_not_exists({name}) OR {name} < :entry"),
            values: vec![(":entry", text(entry)), (":expiry", number(delivery.at.plus_seconds(RETENTION_S).seconds()))],
        };
        self.update(update).await.map(|_| ())
    }

    /// Consistent GetItem of `TENANT#tenant` / `DELIVERED#queue`. Unreadable attributes are left out: a wrong
    /// decision for lack of them causes at most a harmless duplicate message.
    async fn deliveries(&self, tenant: &TenantId, queue: ChunkQueue) -> PortResult<Deliveries> {
        let item = self.get("deliveries", Key::deliveries(tenant, queue)).await?;
        Ok(item.map(|item| from_item(&item)).unwrap_or_default())
    }
}

fn from_item(item: &Item) -> Deliveries {
    let mut entries: Vec<(i64, i64)> = item.values().filter_map(|value| parse(value.as_s().ok()?)).collect();
    entries.sort_unstable();
    let mut deliveries = Deliveries::default();
    entries.into_iter().for_each(|(interval, sent_s)| deliveries.insert(interval, sent_s));
    deliveries
}

fn parse(entry: &str) -> Option<(i64, i64)> {
    let (interval, sent_s) = entry.split_once('.')?;
    Some((interval.parse().ok()?, sent_s.parse().ok()?))
}
