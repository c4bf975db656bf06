//! Webhooks: calls of the endpoints of tenants with events.
//!
//! | module | contents |
//! | --- | --- |
//! | `calls` | a call of an endpoint, as a trait |
//! | `deliver` | an attempt of a delivery, and its record |
//! | `check` | the check of an endpoint by a challenge |
//! | `health` | the record of an endpoint's health after a call |
//! | `messages` | the messages for deliveries |
//! | `replay` | the replay of failed deliveries |

mod calls;
mod check;
mod deliver;
mod health;
mod messages;
mod replay;

pub use calls::{CallEndpoints, Called, EndpointCall, TIMEOUT_S, failed_call};
pub use check::{CheckEnd, TYPE as CHECK_TYPE};
pub use deliver::{Deliverer, DeliveryEnd, WebhookError};
pub use messages::send_later;
pub use replay::replay;
