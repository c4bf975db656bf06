//! A user of the local stack.

use serde::{Deserialize, Serialize};

/// A user of the local stack.
#[derive(Clone, Serialize, Deserialize)]
pub struct User {
    /// Name to sign in with.
    pub name: String,
    /// Password to sign in with.
    pub password: String,
    /// Tenant that owns the user's jobs.
    pub tenant: String,
    /// Token for the header `Authorization: Bearer …`.
    pub token: String,
}

/// Omits password and token, because the output can be logged.
impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User").field("name", &self.name).field("tenant", &self.tenant).finish_non_exhaustive()
    }
}
