//! The tenant of a request.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;
use axum::{Extension, Router};
use lambda_http::request::RequestContext;
use longshore_domain::tenant::{DEFAULT_TENANT, TenantId};

use super::{CallCost, CallLimit, Failure};
use crate::problem::{Kind, Problem};

/// The tenant of a call. Everything that a handler reads or writes belongs to this tenant; another tenant's data is not
/// found.
///
/// The name is the value of a claim ([`Access`]) of the token that the gateway has accepted; never a header, and never
/// a default for a signed-in caller. 403 `no-tenant` if the token lacks the claim, or its value is not a valid name.
/// 429 `rate-limited` if the tenant calls more often than the router's [`CallLimit`] allows.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Tenant(pub TenantId);

impl<S: Send + Sync> FromRequestParts<S> for Tenant {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let tenant = match parts.extensions.get::<Access>() {
            Some(Access::Open) => Self(DEFAULT_TENANT.clone()),
            Some(Access::SignedIn { tenant_claim }) => signed_in(&parts.extensions, tenant_claim)?,
            None => return Err(Failure::Internal("the router has no access rule".into())),
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
            "the token lacks the claim {claim}, which identifies tenants in this deployment; ask an administrator to \
             set it for your user, sign in again, and send the kind of token that contains it"
        );
        no_tenant(detail)
    })?;
    if let Some(tenant) = TenantId::parse(name) {
        return Ok(Tenant(tenant));
    }
    let detail = format!(
        "the claim {claim} of the token is not a valid tenant name; a name has 1 to {} letters, digits and characters \
         {}, without a leading dot",
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

/// Returns 403, not 404: the configuration is wrong, and no id of another tenant is involved.
fn no_tenant(detail: String) -> Problem {
    Problem::new(Kind::NoTenant, detail)
}

/// The callers that are allowed.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Access {
    /// Any caller, all as one tenant; tokens are ignored. Only if it is set explicitly.
    Open,
    /// Callers whose token the gateway has accepted.
    SignedIn {
        /// Name of the claim with the tenant, for example `sub`.
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
