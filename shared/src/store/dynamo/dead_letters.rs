//! Notes of dead letters, all in one partition; their bodies apart, so that a list does not read them.
//!
//! The body of a letter about a job lies among the job's own items and goes with them: rows of a job that was deleted are in
//! no note.

use longshore_domain::dead_letter::{DeadLetter, Settled};
use longshore_domain::ports::{DeadLetterNotes, Page, PortResult};

use super::item::{Item, ItemError, nested, number, read_number, read_text, text};
use super::keys::{DEAD_LETTERS, Key, SK};
use super::retry::unanswered;
use super::update::{Update, Updated};
use super::{DynamoStore, failed};

const LETTER: &str = "letter";
const SETTLED: &str = "settled";

impl DeadLetterNotes for DynamoStore {
    /// UpdateItem of the body, which says the same each time, then of `DEADLETTERS` / `id`, if absent: a note has its body.
    async fn note(&self, letter: &DeadLetter, body: Option<&str>) -> PortResult<()> {
        if let Some(body) = body {
            let wish = Update {
                operation: "note",
                key: Key::dead_letter_body(letter),
                update: "SET #body = :body, #expiresAt = :expires".into(),
                condition: String::new(),
                values: vec![(":body", text(body)), (":expires", number(letter.expires_at))],
            };
            self.update(wish).await?;
        }
        let wish = Update {
            operation: "note",
            key: Key::dead_letter(&letter.id),
            update: "SET #letter = :letter, #expiresAt = :expires".into(),
            condition: "attribute_not_exists(#PK)".into(),
            values: vec![(":letter", nested(letter).map_err(failed("note"))?), (":expires", number(letter.expires_at))],
        };
        self.update(wish).await.map(|_| ())
    }

    /// Consistent GetItem of `DEADLETTERS` / `id`.
    async fn letter(&self, id: &str) -> PortResult<Option<DeadLetter>> {
        let item = self.get("letter", Key::dead_letter(id)).await?;
        item.map(|item| letter_of(&item)).transpose().map_err(failed("letter"))
    }

    /// Consistent GetItem of the body.
    async fn body(&self, letter: &DeadLetter) -> PortResult<Option<String>> {
        let item = self.get("body", Key::dead_letter_body(letter)).await?;
        let body = item.map(|item| read_text(&item, "body").map(str::to_owned));
        body.transpose().map_err(failed("body"))
    }

    /// Consistent Query of `DEADLETTERS`, backwards. What another version of this program noted and this one cannot read is
    /// left out.
    async fn letters(&self, behind: Option<&str>, limit: usize) -> PortResult<Page<DeadLetter>> {
        let query = self.client.query().table_name(&self.table).consistent_read(true).scan_index_forward(false);
        let query = query
            .key_condition_expression("PK = :letters")
            .expression_attribute_values(":letters", text(DEAD_LETTERS))
            .set_limit(i32::try_from(limit).ok())
            .set_exclusive_start_key(behind.map(|id| Key::dead_letter(id).attributes()));
        let page = query.send().await.map_err(unanswered("letters"))?;
        let next = page.last_evaluated_key.map(|key| read_text(&key, SK).map(str::to_owned));
        let items = page.items.unwrap_or_default().iter().filter_map(readable).collect();
        Ok(Page { items, next: next.transpose().map_err(failed("letters"))? })
    }

    /// UpdateItem of `DEADLETTERS` / `id`, if it is there and not settled.
    async fn settle(&self, id: &str, settled: &Settled) -> PortResult<Option<DeadLetter>> {
        let wish = Update {
            operation: "settle",
            key: Key::dead_letter(id),
            update: "SET #settled = :settled".into(),
            condition: "attribute_exists(#PK) AND attribute_not_exists(#settled)".into(),
            values: vec![(":settled", nested(settled).map_err(failed("settle"))?)],
        };
        match self.update(wish).await? {
            Updated::Took(item) | Updated::Refused(item) => letter_of(&item).map(Some).map_err(failed("settle")),
            Updated::Absent => Ok(None),
        }
    }
}

fn readable(item: &Item) -> Option<DeadLetter> {
    let letter = letter_of(item);
    if let Err(error) = &letter {
        tracing::warn!(%error, "the note of a dead letter cannot be read");
    }
    letter.ok()
}

/// DynamoDB removes what has expired up to days later; the expiry of the item is the note's.
fn letter_of(item: &Item) -> Result<DeadLetter, ItemError> {
    let letter = item.get(LETTER).ok_or(ItemError::Attribute(LETTER))?;
    let letter: DeadLetter = serde_dynamo::from_attribute_value(letter.clone())?;
    let settled = item.get(SETTLED).map(|settled| serde_dynamo::from_attribute_value(settled.clone()));
    Ok(DeadLetter { settled: settled.transpose()?, expires_at: read_number(item, "expiresAt")?, ..letter })
}
