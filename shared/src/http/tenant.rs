//! The tenant that a request belongs to.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;
use lambda_http::request::RequestContext;
use longshore_domain::ids::DEFAULT_TENANT;

use super::{Access, CallCost, CallLimit, Failure};
use crate::problem::{Kind, Problem};

/// Maximum length of a tenant's name: the longest message group that SQS takes, and the space that a record leaves
/// for it.
const MAX_NAME_BYTES: usize = 128;

/// Characters that a tenant's name may hold beside letters and digits. The name is part of keys of DynamoDB
/// (separated by `#`) and S3 (separated by `/`), and it is a message group of SQS. The names of the usual issuers
/// fit: UUIDs, `auth0|5f7c…`, e-mail addresses, URNs.
const MARKS: &[u8] = b"-_.@|:+=";

/// The tenant on whose behalf a call is made. Everything that a handler reads or writes belongs to this tenant;
/// another tenant's data is not found.
///
/// The name is the claim that [`Access`] names, as the gateway passes it on with the token that it has accepted;
/// never a header, and never a default for a caller who has signed in. 403 `no-tenant` if the token has no such
/// claim, or its value is not a valid name. 429 `rate-limited` if the tenant calls more often than the router's
/// [`CallLimit`] allows.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Tenant(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Tenant {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let tenant = match parts.extensions.get::<Access>() {
            Some(Access::Open) => Self(DEFAULT_TENANT.to_owned()),
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
    if is_name(name) {
        return Ok(Tenant(name.to_owned()));
    }
    let detail = format!(
        "the claim {claim} of the token is not a valid tenant name: 1 to {MAX_NAME_BYTES} letters, digits and the \
         characters {}, without a leading dot",
        String::from_utf8_lossy(MARKS)
    );
    Err(no_tenant(detail))
}

/// Returns a claim as text. The gateway passes a list as `[a b]`, which is not a valid name.
pub(super) fn claim_of<'a>(extensions: &'a Extensions, claim: &str) -> Option<&'a str> {
    let Some(RequestContext::ApiGatewayV2(context)) = extensions.get::<RequestContext>() else { return None };
    let claims = &context.authorizer.as_ref()?.jwt.as_ref()?.claims;
    claims.get(claim).map(String::as_str)
}

/// Checks a tenant's name. `.` and `..` would lead out of a folder.
fn is_name(text: &str) -> bool {
    let fits = (1..=MAX_NAME_BYTES).contains(&text.len()) && !text.starts_with('.');
    fits && text.bytes().all(|b| b.is_ascii_alphanumeric() || MARKS.contains(&b))
}

/// 403 and not 404: the configuration is wrong, and no foreign id is involved.
fn no_tenant(detail: String) -> Problem {
    Problem::new(Kind::NoTenant, detail)
}

#[cfg(test)]
#[path = "tenant_tests.rs"]
mod tests;
