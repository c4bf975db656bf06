//! The operators' log, in a table of its own: no other function has any permission on it, and this one can
//! only put and read. A put of an item that exists is refused by its condition.
//!
//! | item | `PK` | `SK` | contents |
//! | --- | --- | --- | --- |
//! | entry | `LOG` | `001700000000000-id#0` | `entry` as JSON; `expiresAt` |
//! | its result | `LOG` | `001700000000000-id#1` | `result` as JSON; `expiresAt` |

use aws_sdk_dynamodb::operation::put_item::PutItemError;
use longshore_domain::operator_log::{ActionResult, LogEntry, LoggedAction};
use longshore_domain::ports::{OperatorLog, Page, PortResult};
use serde::Serialize;

use super::conditional::json;
use super::failed;
use super::item::{Item, ItemError, number, read_text, text};
use super::keys::{Key, PK, SK};
use super::retry::unanswered;

/// Partition of the whole log: operators act by hand.
const LOG: &str = "LOG";

const ENTRY: &str = "entry";
const RESULT: &str = "result";

/// The log on one DynamoDB table.
#[derive(Clone, Debug)]
pub struct DynamoOperatorLog {
    client: aws_sdk_dynamodb::Client,
    table: String,
}

impl DynamoOperatorLog {
    /// Creates a log on this table.
    pub fn new(client: aws_sdk_dynamodb::Client, table: String) -> Self {
        Self { client, table }
    }

    /// PutItem, if absent. An id is random, so an item that exists is this very one, and the response was lost.
    async fn put(&self, operation: &'static str, entry: &LogEntry, part: (&str, &impl Serialize)) -> PortResult<()> {
        let (name, content) = part;
        let mut item = key(&entry.id, name).attributes();
        item.insert(name.to_owned(), json(content).map_err(failed(operation))?);
        item.insert("expiresAt".to_owned(), number(entry.expires_at()));
        let put = self.client.put_item().table_name(&self.table).set_item(Some(item));
        let put = put.condition_expression("attribute_not_exists(#PK)").expression_attribute_names("#PK", PK);
        match put.send().await {
            Ok(_) => Ok(()),
            Err(error) if error.as_service_error().is_some_and(PutItemError::is_conditional_check_failed_exception) => {
                Ok(())
            }
            Err(error) => Err(unanswered(operation)(error)),
        }
    }
}

fn key(id: &str, part: &str) -> Key {
    let order = if part == ENTRY { 0 } else { 1 };
    Key { pk: LOG.into(), sk: format!("{id}#{order}") }
}

impl OperatorLog for DynamoOperatorLog {
    /// PutItem of `LOG` / `id#0`, if absent.
    async fn append(&self, entry: &LogEntry) -> PortResult<()> {
        self.put("append", entry, (ENTRY, entry)).await
    }

    /// PutItem of `LOG` / `id#1`, if absent.
    async fn append_result(&self, entry: &LogEntry, result: &ActionResult) -> PortResult<()> {
        self.put("append_result", entry, (RESULT, result)).await
    }

    /// Consistent Query of `LOG`, backwards: a result comes before its entry. One more item than the page can have, so
    /// that the last entry has its result.
    async fn logged_actions(&self, after: Option<&str>, limit: usize) -> PortResult<Page<LoggedAction>> {
        const LIST: &str = "logged_actions";
        let query = self.client.query().table_name(&self.table).consistent_read(true).scan_index_forward(false);
        let query = query
            .key_condition_expression("PK = :log")
            .expression_attribute_values(":log", text(LOG))
            .set_limit(i32::try_from(2 * limit + 1).ok())
            .set_exclusive_start_key(after.map(|id| key(id, ENTRY).attributes()));
        let read = query.send().await.map_err(unanswered(LIST))?;
        Ok(page(&read.items.unwrap_or_default(), read.last_evaluated_key.is_some(), limit))
    }
}

/// Joins entries and their results. Items that another version of this program wrote and this one cannot read are left
/// out; the next page begins behind them.
fn page(read: &[Item], more_follow: bool, limit: usize) -> Page<LoggedAction> {
    let (mut items, mut result, mut last, mut has_more) = (Vec::new(), None, None, more_follow);
    for item in read {
        if is_entry(item) && items.len() == limit {
            has_more = true;
            break;
        }
        match parse(item) {
            Ok(Part::Result(id, of)) => result = Some((id, of)),
            Ok(Part::Entry(entry)) => {
                let result = result.take().filter(|(id, _)| *id == entry.id).map(|(_, result)| result);
                items.push(LoggedAction { entry, result });
            }
            Err(error) => tracing::warn!(%error, "cannot read an item of the operators' log"),
        }
        last = entry_id(item).filter(|_| is_entry(item)).or(last);
    }
    Page { items, next: last.filter(|_| has_more) }
}

/// An item of the table.
enum Part {
    Entry(LogEntry),
    /// The result of the entry with this id.
    Result(String, ActionResult),
}

fn is_entry(item: &Item) -> bool {
    item.contains_key(ENTRY)
}

/// Returns the id of the entry to which an item belongs.
fn entry_id(item: &Item) -> Option<String> {
    Some(read_text(item, SK).ok()?.split_once('#')?.0.to_owned())
}

fn parse(item: &Item) -> Result<Part, ItemError> {
    if is_entry(item) {
        return Ok(Part::Entry(serde_json::from_str(read_text(item, ENTRY)?)?));
    }
    let id = entry_id(item).ok_or(ItemError::Attribute(SK))?;
    Ok(Part::Result(id, serde_json::from_str(read_text(item, RESULT)?)?))
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;

    use super::*;

    fn item(id: &str, part: &str, content: &str) -> Item {
        let mut item = key(id, part).attributes();
        item.insert(part.to_owned(), AttributeValue::S(content.to_owned()));
        item
    }

    fn entry(id: &str, action: &str) -> Item {
        let content = format!(r#"{{"id": "{id}", "at": 1, "operator": "o", "action": "{action}", "scope": {{}}}}"#);
        item(id, ENTRY, &content)
    }

    fn ids(page: &Page<LoggedAction>) -> Vec<&str> {
        page.items.iter().map(|logged| logged.entry.id.as_str()).collect()
    }

    #[test]
    fn the_next_page_begins_behind_entries_that_cannot_be_read() {
        let unreadable = |id: &str| item(id, ENTRY, "{}");
        let read = [unreadable("3"), item("2", RESULT, "{}"), unreadable("2")];
        let first = page(&read, true, 1);
        assert_eq!((ids(&first), first.next.as_deref()), (vec![], Some("2")));
        let second = page(&[unreadable("1"), entry("0", "pause")], false, 1);
        assert_eq!((ids(&second), second.next.as_deref()), (vec!["0"], None));
    }

    #[test]
    fn an_entry_of_an_unknown_action_is_listed_and_a_full_page_has_a_next_one() {
        let read = [entry("3", "tidyUp"), entry("2", "pause"), entry("1", "pause")];
        let listed = page(&read, false, 2);
        assert_eq!((ids(&listed), listed.next.as_deref()), (vec!["3", "2"], Some("2")));
        assert_eq!(listed.items[0].entry.action, longshore_domain::operator_log::OperatorAction::Other);
        assert_eq!(page(&read, false, 3).next, None);
    }
}
