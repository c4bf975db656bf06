//! Shared states of registered job types: one item per type, replaced by compare-and-set on its number of writes.

use longshore_domain::ports::{HandlerStates, PortResult, Replaced};
use longshore_domain::remote::{HandlerState, ReadState};

use super::item::{Item, ItemError, number, read_number, read_text, text};
use super::keys::Key;
use super::retry::unanswered;
use super::update::{Update, Updated};
use super::{DynamoStore, failed};

impl HandlerStates for DynamoStore {
    /// Consistent GetItem of `STATE`.
    async fn handler_state(&self, job_type: &str) -> PortResult<ReadState> {
        let get = self.client.get_item().table_name(&self.table).consistent_read(true);
        let get = get.set_key(Some(Key::handler_state(job_type).attributes()));
        let item = get.send().await.map_err(unanswered("handler_state"))?.item;
        item.as_ref().map_or(Ok(ReadState::default()), parse).map_err(failed("handler_state"))
    }

    /// UpdateItem of `STATE`, if `writes` is as it was read, or the item is absent and was never read. If our own write
    /// was applied and its response was lost, the refusal shows our own name.
    async fn replace_handler_state(
        &self,
        job_type: &str,
        read: u64,
        state: &HandlerState,
        writer: &str,
    ) -> PortResult<Replaced> {
        const OPERATION: &str = "replace_handler_state";
        let state = serde_json::to_string(state).map_err(failed(OPERATION))?;
        let mut values = vec![(":state", text(state)), (":writer", text(writer)), (":writes", number(read + 1))];
        let condition =
            if read == 0 { "attribute_not_exists(#PK)" } else { "attribute_exists(#PK) AND #writes = :read" };
        values.extend((read > 0).then(|| (":read", number(read))));
        let update = Update {
            operation: OPERATION,
            key: Key::handler_state(job_type),
            update: "SET #state = :state, #writer = :writer, #writes = :writes".into(),
            condition: condition.into(),
            values,
        };
        match self.update(update).await? {
            Updated::Applied(_) => Ok(Replaced::Replaced),
            Updated::Refused(item) if read_text(&item, "writer").is_ok_and(|stored| stored == writer) => {
                Ok(Replaced::Replaced)
            }
            Updated::Refused(item) => Ok(Replaced::Changed(parse(&item).map_err(failed(OPERATION))?)),
            Updated::Absent => Ok(Replaced::Changed(ReadState::default())),
        }
    }
}

/// Reads a state. Parts that only a newer version of this program knows are dropped when this one writes: the breaker,
/// the rate and the limit of concurrency then begin like those of a working handler.
fn parse(item: &Item) -> Result<ReadState, ItemError> {
    Ok(ReadState { state: serde_json::from_str(read_text(item, "state")?)?, version: read_number(item, "writes")? })
}
