//! The messages about endpoints and deliveries.

use serde::{Deserialize, Serialize};

use crate::ids::EndpointId;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;
use crate::webhook::{DeliveryId, DeliveryKey};

/// A request to the function that calls endpoints.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "request", deny_unknown_fields)]
pub enum WebhookMessage {
    /// Attempt a delivery, if its attempt is due.
    Deliver {
        /// The delivery.
        delivery: DeliveryKey,
    },
    /// Check an endpoint.
    Check {
        /// Tenant of the endpoint.
        tenant: TenantId,
        /// The endpoint.
        endpoint_id: EndpointId,
        /// The challenge of the check. A result counts only for it.
        challenge: String,
    },
    /// Replay the deliveries of an endpoint that were not accepted and that were created after another one.
    Replay {
        /// Tenant of the endpoint.
        tenant: TenantId,
        /// The endpoint.
        endpoint_id: EndpointId,
        /// Only deliveries with greater ids.
        after: DeliveryId,
        /// Time of the request: deliveries that were created later are not replayed, unless they wait for a check.
        requested_at: Timestamp,
        /// True for the release after a passed check: only deliveries are replayed that wait for it, or for a later
        /// attempt.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        only_waiting: bool,
    },
}

impl WebhookMessage {
    /// Returns the tenant, which is the message group: the load of one tenant does not delay another.
    pub const fn tenant(&self) -> &TenantId {
        match self {
            Self::Deliver { delivery } => &delivery.tenant,
            Self::Check { tenant, .. } | Self::Replay { tenant, .. } => tenant,
        }
    }
}
