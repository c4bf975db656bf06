//! Calls about webhooks, and their shared parts.
//!
//! | file | contains |
//! | --- | --- |
//! | `create`, `get`, `put`, `delete`, `test`, `secret` | the calls of endpoints |
//! | `deliveries`, `replay` | the calls of deliveries |
//! | `request` | the body of a create and a PUT |
//! | `change` | the webhook as a resource, its checks and its secret |
//! | `document`, `examples` | the responses; examples |

mod change;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod deliveries;
pub(crate) mod document;
mod examples;
pub(crate) mod get;
pub(crate) mod put;
pub(crate) mod replay;
mod request;
pub(crate) mod secret;
pub(crate) mod test;

pub use document::{
    CreatedWebhookDocument, DeliveriesDocument, DeliveryDocument, WebhookDocument, WebhookSecretDocument,
    WebhooksDocument,
};
