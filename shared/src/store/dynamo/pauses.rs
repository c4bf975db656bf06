//! Pauses: one item for each scope, all in one partition, so that one small query reads them.

use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use longshore_domain::ids::PauseId;
use longshore_domain::pause::{Pause, PauseScope};
use longshore_domain::ports::{PauseOutcome, PauseRecords, Pauses, PortResult};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use super::item::{Item, ItemError, number, read_number, read_text, text, time};
use super::keys::{Key, PAUSE_OF_TENANT, PAUSE_OF_TYPE, PAUSES, SK};
use super::retry::{unanswered, unwritten};
use super::update::{Update, Updated};
use super::{DynamoStore, failed};

impl Pauses for DynamoStore {
    /// Consistent Query of `PAUSES`. Pauses that this version of the program cannot read are left out. Reads one page:
    /// 1 MB, or some thousands.
    async fn pauses(&self) -> PortResult<Vec<Pause>> {
        let page = self.query_pauses().consistent_read(true).send().await.map_err(unanswered("pauses"))?;
        Ok(page.items.unwrap_or_default().iter().filter_map(readable).collect())
    }

    /// The same Query, eventually consistent.
    async fn recent_pauses(&self) -> PortResult<Vec<Pause>> {
        let page = self.query_pauses().send().await.map_err(unanswered("recent_pauses"))?;
        Ok(page.items.unwrap_or_default().iter().filter_map(readable).collect())
    }
}

impl DynamoStore {
    fn query_pauses(&self) -> QueryFluentBuilder {
        let query = self.client.query().table_name(&self.table).key_condition_expression("PK = :pauses");
        query.expression_attribute_values(":pauses", text(PAUSES))
    }
}

impl PauseRecords for DynamoStore {
    /// UpdateItem of `PAUSES` / scope, if it is absent, has ended, or has the same id.
    async fn put_pause(&self, pause: &Pause) -> PortResult<PauseOutcome> {
        const PUT: &str = "put_pause";
        let update = Update {
            operation: PUT,
            key: Key::pause(&pause.scope),
            update: "SET #pauseId = :id, #since = :since, #until = :until, #by = :by, #expiresAt = :expires".into(),
            condition: "attribute_not_exists(#PK) OR #until <= :since OR #pauseId = :id".into(),
            values: vec![
                (":id", text(pause.id.to_string())),
                (":since", time(pause.since)),
                (":until", time(pause.until)),
                (":by", text(&pause.by)),
                (":expires", number(pause.until.seconds())),
            ],
        };
        // The condition holds for an absent item, so that a refusal has one.
        Ok(match self.update(update).await? {
            Updated::Refused(item) => PauseOutcome::InForce(parse(&item).map_err(failed(PUT))?),
            Updated::Applied(_) | Updated::Absent => PauseOutcome::Made,
        })
    }

    /// DeleteItem of `PAUSES` / scope, if it has this id.
    async fn end_pause(&self, pause: &Pause) -> PortResult<()> {
        let delete = self.client.delete_item().table_name(&self.table);
        let delete = delete.set_key(Some(Key::pause(&pause.scope).attributes()));
        let delete = delete.condition_expression("pauseId = :id");
        let delete = delete.expression_attribute_values(":id", text(pause.id.to_string()));
        match self.write(|| delete.clone().send()).await {
            Ok(_) => Ok(()),
            Err(error) => match error.as_service_error() {
                Some(DeleteItemError::ConditionalCheckFailedException(_)) => Ok(()),
                _ => Err(unwritten("end_pause", error)),
            },
        }
    }
}

fn readable(item: &Item) -> Option<Pause> {
    let pause = parse(item);
    if let Err(error) = &pause {
        tracing::warn!(%error, "cannot read a pause");
    }
    pause.ok()
}

fn parse(item: &Item) -> Result<Pause, ItemError> {
    Ok(Pause {
        id: PauseId::parse(read_text(item, "pauseId")?).ok_or(ItemError::Attribute("pauseId"))?,
        scope: parse_scope(read_text(item, SK)?).ok_or(ItemError::Attribute(SK))?,
        since: Timestamp(read_number(item, "since")?),
        until: Timestamp(read_number(item, "until")?),
        by: read_text(item, "by")?.to_owned(),
    })
}

fn parse_scope(key: &str) -> Option<PauseScope> {
    if let Some(name) = key.strip_prefix(PAUSE_OF_TYPE) {
        return Some(PauseScope::JobType(name.to_owned()));
    }
    TenantId::parse(key.strip_prefix(PAUSE_OF_TENANT)?).map(PauseScope::Tenant)
}
