//! Access rules: the callers that are let in, and the claim of a token that names a caller's tenant.
//!
//! The gateway has checked the token (signature, issuer, audience, expiry) before a function sees the call; the
//! function only reads the claim. So the setting states that a gateway checks tokens. If it is missing, no caller is
//! let in.

use axum::{Extension, Router};

/// The callers that are let in.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Access {
    /// Any caller, all as one tenant; tokens are ignored. Only if the setting names it explicitly.
    Open,
    /// Callers whose token the gateway has accepted.
    SignedIn {
        /// Name of the claim that holds the tenant, `sub` for instance.
        tenant_claim: String,
    },
}

/// Makes the caller's tenant available to the router's handlers: they take [`Tenant`](super::Tenant) as an argument.
pub fn with_access<S: Clone + Send + Sync + 'static>(router: Router<S>, access: &Access) -> Router<S> {
    router.layer(Extension(access.clone()))
}
