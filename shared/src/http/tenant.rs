//! The tenant that a request belongs to.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;
use axum::{Extension, Router};
use lambda_http::request::RequestContext;
use longshore_domain::tenant::{DEFAULT_TENANT, TenantId};

use super::{CallCost, CallLimit, Failure};
use crate::problem::{Kind, Problem};

/// The tenant on whose behalf a call is made. Everything that a handler reads or writes belongs to this tenant;
/// another tenant's data is not found.
///
/// The name is the claim that [`Access`] names, as the gateway passes it on with the token that it has accepted;
/// never a header, and never a default for a caller who has signed in. 403 `no-tenant` if the token has no such
/// claim, or its value is not a valid name. 429 `rate-limited` if the tenant calls more often than the router's
/// [`CallLimit`] allows.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Tenant(pub TenantId);

impl<S: Send + Sync> FromRequestParts<S> for Tenant {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let tenant = match parts.extensions.get::<Access>() {
            Some(Access::Open) => Self(DEFAULT_TENANT.clone()),
            Some(Access::SignedIn { tenant_claim }) => signed_in(&parts.extensions, tenant_claim)?,
            None => return Err(Failure::Ours("the router was built without saying who may call".into())),
        };
        if let Some(limit) = parts.extensions.get::<Arc<CallLimit>>() {
            limit.count(&tenant.0, parts.extensions.get().copied().unwrap_or(CallCost(1)))?;
        }
        Ok(tenant)
    }
}

fn signed_in(extensions: &Extensions, claim: &str) -> Result<Tenant, Problem> {
    let name = claim_of(extensions, claim).ok_or_else(|| {
        let detail = format!(
            "the token has no claim {claim}, which identifies tenants in this deployment; ask an administrator to \
             set it for your user, sign in again, and send the kind of token that carries it"
        );
        no_tenant(detail)
    })?;
    if let Some(tenant) = TenantId::parse(name) {
        return Ok(Tenant(tenant));
    }
    let detail = format!(
        "the claim {claim} of the token is not a valid tenant name: 1 to {} letters, digits and the characters {}, \
         without a leading dot",
        TenantId::MAX_BYTES,
        TenantId::MARKS
    );
    Err(no_tenant(detail))
}

/// Returns a claim as text. The gateway passes a list as `[a b]`, which is not a valid name.
pub(super) fn claim_of<'a>(extensions: &'a Extensions, claim: &str) -> Option<&'a str> {
    let Some(RequestContext::ApiGatewayV2(context)) = extensions.get::<RequestContext>() else { return None };
    let claims = &context.authorizer.as_ref()?.jwt.as_ref()?.claims;
    claims.get(claim).map(String::as_str)
}

/// 403 and not 404: the configuration is wrong, and no foreign id is involved.
fn no_tenant(detail: String) -> Problem {
    Problem::new(Kind::NoTenant, detail)
}

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

/// Makes the caller's tenant available to the router's handlers: they take [`Tenant`] as an argument.
pub fn with_access<S: Clone + Send + Sync + 'static>(router: Router<S>, access: &Access) -> Router<S> {
    router.layer(Extension(access.clone()))
}

#[cfg(test)]
#[path = "tenant_tests.rs"]
mod tests;
