//! Webhooks: endpoints of a tenant that are called with events, and the deliveries to them.
//!
//! An endpoint is verified before its first event. A delivery is attempted at growing intervals until the endpoint accepts
//! it; each is sent at least once, with the id of its event. An endpoint that refuses everything for days is disabled.

mod attempt;
mod delivery;
mod delivery_id;
mod endpoint;
mod health;

pub use attempt::{Attempt, AttemptResult, ERROR_BYTES, MAX_ATTEMPTS, next_attempt};
pub use delivery::{Delivery, DeliveryState, MAX_LOG, deliveries, deliveries_of_endpoint_event};
pub use delivery_id::{DeliveryId, DeliveryKey};
pub use endpoint::{
    Check, CheckResult, DisabledReason, Endpoint, EndpointState, JobScope, MAX_ENDPOINTS, ROTATION_S, SecretVersions,
};
pub use health::{Admission, FAILING_DAYS, Health};
