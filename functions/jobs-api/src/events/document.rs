//! A page of events.

use longshore::events::EventDocument;
use serde::Serialize;
use utoipa::ToSchema;

/// A page of events.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Events)]
pub struct EventsDocument {
    /// Events, in the order in which they entered the list.
    pub events: Vec<EventDocument>,
    /// Cursor for the next call. If the page is empty, it is the cursor of this call, or `null` if there was none.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}
