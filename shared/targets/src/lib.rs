//! What the functions that register handlers and that call them have in common: the targets that the stack's owner
//! permits, and the secret with which calls of endpoints are signed.

mod allowed;
pub mod root_secret;

pub use allowed::{AllowedTargets, SettingsError, local_permissions, webhook_policy};
