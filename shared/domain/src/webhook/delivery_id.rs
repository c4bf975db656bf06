//! Ids of deliveries.

use serde::{Deserialize, Serialize};

use crate::ids::EndpointId;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;
use crate::turns::OfTenant;

/// Identifies a delivery of an endpoint. Later deliveries have greater ids.
#[derive(Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeliveryId(String);

impl DeliveryId {
    pub(super) fn new(created_at: Timestamp, event_id: &str) -> Self {
        Self(format!("{:015}-{event_id}", created_at.0))
    }

    /// Returns the id before those of all deliveries that are created at this time.
    pub fn before(time: Timestamp) -> Self {
        Self::new(time, "")
    }

    /// Parses an id; `None` if no delivery can have it.
    pub fn parse(text: &str) -> Option<Self> {
        let (time, event_id) = text.split_once('-')?;
        let is_time = time.len() == 15 && time.bytes().all(|c| c.is_ascii_digit());
        let is_id = event_id.len() <= 256 && event_id.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-');
        (is_time && is_id).then(|| Self(text.to_owned()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Identifies a delivery.
#[derive(Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryKey {
    /// Tenant of the endpoint.
    pub tenant: TenantId,
    /// The endpoint.
    pub endpoint_id: EndpointId,
    /// The delivery.
    pub id: DeliveryId,
}

impl OfTenant for DeliveryKey {
    fn tenant(&self) -> &TenantId {
        &self.tenant
    }
}
