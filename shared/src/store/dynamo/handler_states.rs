//! Shared states of registered job types: one item per type, replaced by compare-and-set on its number of writes. The
//! reserved time is an attribute of its own, to which workers add.

use longshore_domain::ports::{HandlerStates, PortResult, Replaced, Reserved};
use longshore_domain::remote::{HandlerState, RateRequest, ReadState, ReservedUntil};

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

    /// UpdateItem of `STATE`, if `writes` is as it was read, or absent and never read. If our own write
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
            if read == 0 { "attribute_not_exists(#writes)" } else { "attribute_exists(#PK) AND #writes = :read" };
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

    /// UpdateItem of `STATE`: adds to `reserved`, if that is neither past nor too late; else sets it, if it is past or
    /// absent. After a refusal the other one is tried. The time never decreases, so that at most three are needed;
    /// the fourth is for a record that was deleted in between.
    async fn reserve_items(&self, job_type: &str, request: &RateRequest) -> PortResult<Reserved> {
        let is_past = request.last_read() < request.earliest();
        let first = if is_past { Change::Set } else { Change::Add };
        for change in [first, first.other(), first, first.other()] {
            match self.update(change.update(job_type, request)).await? {
                Updated::Applied(item) => return Ok(Reserved::Reserved(parse(&item).map_err(failed(RESERVE))?)),
                Updated::Refused(item) => {
                    let read = parse(&item).map_err(failed(RESERVE))?;
                    if request.after(read.reserved).is_none() {
                        return Ok(Reserved::TooLate(read));
                    }
                }
                Updated::Absent => {}
            }
        }
        Ok(Reserved::TooLate(self.handler_state(job_type).await?))
    }
}

const RESERVE: &str = "reserve_items";

/// A change of the reserved time.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Change {
    Add,
    Set,
}

impl Change {
    fn other(self) -> Self {
        match self {
            Self::Add => Self::Set,
            Self::Set => Self::Add,
        }
    }

    fn update(self, job_type: &str, request: &RateRequest) -> Update {
        let (earliest, latest, duration) = (request.earliest().0, request.latest().0, request.duration_us());
        let (update, condition, values) = match self {
            Self::Add => (
                "ADD #reserved :duration",
                "#reserved >= :earliest AND #reserved <= :latest",
                vec![(":duration", number(duration)), (":latest", number(latest))],
            ),
            Self::Set => (
                "SET #reserved = :end",
                "attribute_not_exists(#reserved) OR #reserved < :earliest",
                vec![(":end", number(earliest.saturating_add(duration)))],
            ),
        };
        Update {
            operation: RESERVE,
            key: Key::handler_state(job_type),
            update: update.into(),
            condition: condition.into(),
            values: [values, vec![(":earliest", number(earliest))]].concat(),
        }
    }
}

/// Reads a state. Parts that only a newer version of this program knows are dropped when this one writes: the breaker and
/// the limit of concurrency then begin like those of a working handler.
fn parse(item: &Item) -> Result<ReadState, ItemError> {
    let reserved = if item.contains_key("reserved") { read_number(item, "reserved")? } else { 0 };
    let read = ReadState { reserved: ReservedUntil(reserved), ..ReadState::default() };
    if !item.contains_key("writes") {
        return Ok(read);
    }
    let (state, version) = (serde_json::from_str(read_text(item, "state")?)?, read_number(item, "writes")?);
    Ok(ReadState { state, version, ..read })
}
