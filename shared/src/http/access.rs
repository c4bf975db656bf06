//! Who may call, and by which claim of a token a caller's tenant is known.
//!
//! The gateway has checked the token (signature, issuer, audience, expiry) before a function sees the call; the function
//! only reads the claim. So the setting says whether there is a gateway that checks: if it is missing, nobody is let in.

use axum::{Extension, Router};

/// Who may call.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Access {
    /// Anybody, all as one tenant; tokens are not looked at. Only where somebody has asked for it by name.
    Open,
    /// Callers whose token the gateway has accepted.
    SignedIn {
        /// Name of the claim that holds the tenant, `sub` for instance.
        tenant_claim: String,
    },
}

/// Lets the router's handlers know whose a call is: they take [`Tenant`](super::Tenant) as an argument.
pub fn with_access<S: Clone + Send + Sync + 'static>(router: Router<S>, access: &Access) -> Router<S> {
    router.layer(Extension(access.clone()))
}
