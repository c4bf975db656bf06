//! Dead-letter records, all in one partition; their bodies are separate, so that a list does not read them.
//!
//! The body of a dead letter about a job is one of the job's own items and is removed with them: no dead-letter
//! record holds rows of a deleted job.

use longshore_domain::dead_letter::{DeadLetterRecord, Resolution};
use longshore_domain::ports::{DeadLetterRecords, Page, PortResult};

use super::item::{Item, ItemError, nested, number, read_number, read_text, text};
use super::keys::{DEAD_LETTERS, Key, SK};
use super::retry::unanswered;
use super::update::{Update, Updated};
use super::{DynamoStore, failed};

const MESSAGE: &str = "letter";
const RESOLUTION: &str = "settled";

impl DeadLetterRecords for DynamoStore {
    /// UpdateItem of the body, always with the same content, then of `DEADLETTERS` / `id`, if absent: every record
    /// has its body.
    async fn record(&self, dead_letter: &DeadLetterRecord, body: Option<&str>) -> PortResult<()> {
        if let Some(body) = body {
            let update = Update {
                operation: "record",
                key: Key::dead_letter_body(dead_letter),
                update: "SET #body = :body, #expiresAt = :expires".into(),
                condition: String::new(),
                values: vec![(":body", text(body)), (":expires", number(dead_letter.expires_at))],
            };
            self.update(update).await?;
        }
        let update = Update {
            operation: "record",
            key: Key::dead_letter(&dead_letter.id),
            update: "SET #letter = :letter, #expiresAt = :expires".into(),
            condition: "attribute_not_exists(#PK)".into(),
            values: vec![
                (":letter", nested(dead_letter).map_err(failed("record"))?),
                (":expires", number(dead_letter.expires_at)),
            ],
        };
        self.update(update).await.map(|_| ())
    }

    /// Consistent GetItem of `DEADLETTERS` / `id`.
    async fn dead_letter(&self, id: &str) -> PortResult<Option<DeadLetterRecord>> {
        let item = self.get("dead_letter", Key::dead_letter(id)).await?;
        item.map(|item| parse_record(&item)).transpose().map_err(failed("dead_letter"))
    }

    /// Consistent GetItem of the body.
    async fn body(&self, dead_letter: &DeadLetterRecord) -> PortResult<Option<String>> {
        let item = self.get("body", Key::dead_letter_body(dead_letter)).await?;
        let body = item.map(|item| read_text(&item, "body").map(str::to_owned));
        body.transpose().map_err(failed("body"))
    }

    /// Consistent Query of `DEADLETTERS`, backwards. Records that another version of this program wrote and this one
    /// cannot read are left out.
    async fn dead_letters(&self, after: Option<&str>, limit: usize) -> PortResult<Page<DeadLetterRecord>> {
        let query = self.client.query().table_name(&self.table).consistent_read(true).scan_index_forward(false);
        let query = query
            .key_condition_expression("PK = :letters")
            .expression_attribute_values(":letters", text(DEAD_LETTERS))
            .set_limit(i32::try_from(limit).ok())
            .set_exclusive_start_key(after.map(|id| Key::dead_letter(id).attributes()));
        let page = query.send().await.map_err(unanswered("dead_letters"))?;
        let next = page.last_evaluated_key.map(|key| read_text(&key, SK).map(str::to_owned));
        let items = page.items.unwrap_or_default().iter().filter_map(readable).collect();
        Ok(Page { items, next: next.transpose().map_err(failed("dead_letters"))? })
    }

    /// UpdateItem of `DEADLETTERS` / `id`, if it exists and is not resolved.
    async fn resolve(&self, id: &str, resolution: &Resolution) -> PortResult<Option<DeadLetterRecord>> {
        let update = Update {
            operation: "resolve",
            key: Key::dead_letter(id),
            update: "SET #settled = :settled".into(),
            condition: "attribute_exists(#PK) AND attribute_not_exists(#settled)".into(),
            values: vec![(":settled", nested(resolution).map_err(failed("resolve"))?)],
        };
        match self.update(update).await? {
            Updated::Applied(item) | Updated::Refused(item) => parse_record(&item).map(Some).map_err(failed("resolve")),
            Updated::Absent => Ok(None),
        }
    }
}

fn readable(item: &Item) -> Option<DeadLetterRecord> {
    let dead_letter = parse_record(item);
    if let Err(error) = &dead_letter {
        tracing::warn!(%error, "cannot read a dead-letter record");
    }
    dead_letter.ok()
}

/// Returns the record of an item. DynamoDB removes expired items up to days later; the item's expiry is the record's.
fn parse_record(item: &Item) -> Result<DeadLetterRecord, ItemError> {
    let dead_letter = item.get(MESSAGE).ok_or(ItemError::Attribute(MESSAGE))?;
    let dead_letter: DeadLetterRecord = serde_dynamo::from_attribute_value(dead_letter.clone())?;
    let resolution = item.get(RESOLUTION).map(|resolution| serde_dynamo::from_attribute_value(resolution.clone()));
    Ok(DeadLetterRecord {
        resolution: resolution.transpose()?,
        expires_at: read_number(item, "expiresAt")?,
        ..dead_letter
    })
}
