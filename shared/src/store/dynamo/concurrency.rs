//! Concurrency limits: permits and parked chunks of a job type, all in one partition.

use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::types::AttributeValue;
use longshore_domain::concurrency::{ParkedChunk, Permit, Wake};
use longshore_domain::ports::{Acquisition, ParkedChunks, Permits, PortResult, WakeMark};
use longshore_domain::timestamp::Timestamp;

use super::item::{Item, ItemError, number, read_number, read_text, text, time};
use super::keys::{Key, PERMIT, WAIT, concurrency_pk};
use super::retry::{unanswered, unwritten};
use super::update::{Update, Updated};
use super::{DynamoStore, failed};

/// Seconds after which an unused permit expires: a day.
const PERMIT_RETENTION_S: i64 = 86_400;

/// Time of the wake of a chunk that was not woken: one condition compares both.
const NEVER: i64 = 0;

impl Permits for DynamoStore {
    /// Consistent Query of `SLOT#`. A released permit is an item without a holder.
    async fn permits(&self, job_type: &str) -> PortResult<Vec<Permit>> {
        let items = self.query_items("permits", (job_type, PERMIT), usize::MAX).await?;
        let held = items.iter().filter(|item| item.contains_key("holder"));
        held.map(parse_permit).collect::<Result<_, _>>().map_err(failed("permits"))
    }

    /// UpdateItem of `SLOT#n`, if it has no holder, its permit has expired, or the holder is ours.
    async fn acquire(&self, job_type: &str, permit: &Permit, now: Timestamp) -> PortResult<Acquisition> {
        let update = Update {
            operation: "acquire",
            key: Key::permit(job_type, permit.number),
            update: "SET #holder = :own, #until = :until, #expiresAt = :expires".into(),
            condition: "attribute_not_exists(#holder) OR #until < :now OR #holder = :own".into(),
            values: vec![
                (":own", text(&permit.holder)),
                (":until", time(permit.until)),
                (":expires", number(permit.until.plus_seconds(PERMIT_RETENTION_S).seconds())),
                (":now", time(now)),
            ],
        };
        Ok(match self.update(update).await? {
            Updated::Applied(_) => Acquisition::Acquired,
            Updated::Refused(_) | Updated::Absent => Acquisition::Unavailable,
        })
    }

    /// UpdateItem of `SLOT#n`: removes the holder, if it is ours.
    async fn release(&self, job_type: &str, permit: &Permit) -> PortResult<()> {
        let update = Update {
            operation: "release",
            key: Key::permit(job_type, permit.number),
            update: "REMOVE #holder, #until".into(),
            condition: "attribute_exists(#PK) AND #holder = :own".into(),
            values: vec![(":own", text(&permit.holder))],
        };
        self.update(update).await.map(|_| ())
    }
}

impl ParkedChunks for DynamoStore {
    /// Consistent Query of `WAIT#`, which sorts by turn. Items that another version of this program wrote and this
    /// one cannot read are left out: the sweeper finds their chunks stalled, and sends their groups again.
    async fn parked(&self, job_type: &str, limit: usize) -> PortResult<Vec<ParkedChunk>> {
        let items = self.query_items("parked", (job_type, WAIT), limit).await?;
        Ok(items.iter().filter_map(readable).collect())
    }

    /// UpdateItem of `WAIT#name`, without a condition: every write has the same content.
    async fn park(&self, job_type: &str, parked: &ParkedChunk) -> PortResult<()> {
        let message = serde_json::to_string(&parked.message).map_err(failed("park"))?;
        let update = Update {
            operation: "park",
            key: Key::parked(job_type, parked),
            update: "SET #message = :message, #limit = :limit, #calledAt = :never, #expiresAt = :expires".into(),
            condition: String::new(),
            values: vec![
                (":message", text(message)),
                (":limit", number(parked.limit)),
                (":never", number(NEVER)),
                (":expires", number(parked.expires_at)),
            ],
        };
        self.update(update).await.map(|_| ())
    }

    /// UpdateItem of `WAIT#name`, if `calledAt` is as it was read. If our own write was applied and its response was
    /// lost, the refusal shows our own name.
    async fn mark_woken(&self, job_type: &str, parked: &ParkedChunk, wake: &Wake) -> PortResult<WakeMark> {
        let update = Update {
            operation: "mark_woken",
            key: Key::parked(job_type, parked),
            update: "SET #calledAt = :at, #calledBy = :by".into(),
            condition: "attribute_exists(#PK) AND #calledAt = :read".into(),
            values: vec![(":at", time(wake.at)), (":by", text(&wake.by)), (":read", woken_at(parked))],
        };
        Ok(match self.update(update).await? {
            Updated::Applied(_) => WakeMark::Marked,
            Updated::Refused(item) if read_wake(&item).is_ok_and(|stored| stored.as_ref() == Some(wake)) => {
                WakeMark::Marked
            }
            Updated::Refused(_) | Updated::Absent => WakeMark::Changed,
        })
    }

    /// DeleteItem of `WAIT#name`, if `calledAt` and `calledBy` are as they were read.
    async fn unpark(&self, job_type: &str, parked: &ParkedChunk) -> PortResult<()> {
        let delete = self.client.delete_item().table_name(&self.table);
        let delete = delete.set_key(Some(Key::parked(job_type, parked).attributes()));
        let by = parked.woken.as_ref().map(|wake| &wake.by).filter(|by| !by.is_empty());
        let same = if by.is_some() { "calledAt = :read AND calledBy = :by" } else { "calledAt = :read" };
        let delete = delete.condition_expression(same);
        let delete = delete.expression_attribute_values(":read", woken_at(parked));
        let delete = match by {
            Some(by) => delete.expression_attribute_values(":by", text(by)),
            None => delete,
        };
        match self.write(|| delete.clone().send()).await {
            Ok(_) => Ok(()),
            Err(error) => match error.as_service_error() {
                Some(DeleteItemError::ConditionalCheckFailedException(_)) => Ok(()),
                _ => Err(unwritten("unpark", error)),
            },
        }
    }
}

impl DynamoStore {
    /// Consistent Query of a job type's items whose sort keys have this prefix, page by page until there are enough.
    async fn query_items(
        &self,
        operation: &'static str,
        (job_type, prefix): (&str, &str),
        first: usize,
    ) -> PortResult<Vec<Item>> {
        let (mut items, mut from) = (Vec::new(), None);
        loop {
            let query = self.client.query().table_name(&self.table).consistent_read(true);
            let query = query
                .key_condition_expression("PK = :gate AND begins_with(SK, :prefix)")
                .expression_attribute_values(":gate", text(concurrency_pk(job_type)))
                .expression_attribute_values(":prefix", text(prefix))
                .set_limit(i32::try_from(first - items.len()).ok())
                .set_exclusive_start_key(from);
            let page = query.send().await.map_err(unanswered(operation))?;
            items.extend(page.items.unwrap_or_default());
            from = page.last_evaluated_key;
            if from.is_none() || items.len() >= first {
                items.truncate(first);
                return Ok(items);
            }
        }
    }
}

fn woken_at(parked: &ParkedChunk) -> AttributeValue {
    number(parked.woken.as_ref().map_or(NEVER, |wake| wake.at.0))
}

/// Returns the last wake of a parked chunk. One of an earlier version has no name.
fn read_wake(item: &Item) -> Result<Option<Wake>, ItemError> {
    let at: i64 = read_number(item, "calledAt")?;
    let by = || read_text(item, "calledBy").unwrap_or_default().to_owned();
    Ok((at != NEVER).then(|| Wake { at: Timestamp(at), by: by() }))
}

fn parse_permit(item: &Item) -> Result<Permit, ItemError> {
    let number = read_text(item, "SK")?.strip_prefix(PERMIT).and_then(|digits| digits.parse().ok());
    Ok(Permit {
        number: number.ok_or(ItemError::Attribute("SK"))?,
        holder: read_text(item, "holder")?.to_owned(),
        until: Timestamp(read_number(item, "until")?),
    })
}

fn readable(item: &Item) -> Option<ParkedChunk> {
    let parked = parse_parked_chunk(item);
    if let Err(error) = &parked {
        tracing::warn!(%error, "cannot read a parked chunk");
    }
    parked.ok()
}

fn parse_parked_chunk(item: &Item) -> Result<ParkedChunk, ItemError> {
    let turn = read_text(item, "SK")?.strip_prefix(WAIT).and_then(|name| name.split('#').next()?.parse().ok());
    Ok(ParkedChunk {
        turn: Timestamp(turn.ok_or(ItemError::Attribute("SK"))?),
        message: serde_json::from_str(read_text(item, "message")?)?,
        limit: read_number(item, "limit")?,
        woken: read_wake(item)?,
        expires_at: read_number(item, "expiresAt")?,
    })
}
