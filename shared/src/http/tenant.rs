//! Whose a request is.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use longshore_domain::ids::DEFAULT_TENANT;

/// The tenant on whose behalf a call is made. Everything that a handler reads or writes is this tenant's; what is
/// another's is not found.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Tenant(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Tenant {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(DEFAULT_TENANT.to_owned()))
    }
}
