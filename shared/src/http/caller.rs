//! A caller who has a tenant, may read what concerns all tenants, or both.

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;

use super::{Failure, Tenant, Viewer};
use crate::problem::{Kind, Problem};

/// A caller of a route that serves tenants, and operators also without a tenant of their own. The call is counted once:
/// under the tenant, or else under the operator.
///
/// 403 `no-tenant` for a caller who is neither. Other refusals are those of [`Tenant`].
#[derive(Debug)]
pub struct Caller {
    /// The tenant of the caller. The error is that of an operator whose token has no tenant.
    pub tenant: Result<Tenant, Problem>,
    /// The role of an operator, also of a read-only one; `None` for other callers.
    pub viewer: Option<Viewer>,
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let viewer = <Viewer as OptionalFromRequestParts<S>>::from_request_parts(parts, state).await?;
        match Tenant::from_request_parts(parts, state).await {
            Ok(tenant) => Ok(Self { tenant: Ok(tenant), viewer }),
            Err(Failure::Problem(problem)) if problem.kind == Kind::NoTenant && viewer.is_some() => {
                let viewer = <Viewer as FromRequestParts<S>>::from_request_parts(parts, state).await?;
                Ok(Self { tenant: Err(problem), viewer: Some(viewer) })
            }
            Err(failure) => Err(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::http::Request;
    use lambda_http::RequestExt;
    use lambda_http::request::RequestContext;
    use longshore_domain::rate::Rate;
    use longshore_domain::timestamp::Timestamp;
    use serde_json::{Value, json};

    use super::super::{Access, CallLimit, Operators};
    use super::*;

    /// The tenant, or the name of the problem; and for an operator, whether rows may be seen.
    type Found = (Result<String, &'static str>, Option<bool>);

    /// Returns the caller of a request with these claims, or the status of the refusal.
    async fn ask(claims: &Value, limit: Option<&Arc<CallLimit>>) -> Result<Found, u16> {
        let context = json!({"http": {"method": "GET"}, "timeEpoch": 0, "authorizer": {"jwt": {"claims": claims}}});
        let context = RequestContext::ApiGatewayV2(serde_json::from_value(context).unwrap());
        let (mut parts, ()) = Request::new(()).with_request_context(context).into_parts();
        parts.extensions.insert(Access::SignedIn { tenant_claim: "tenant".into() });
        parts.extensions.insert(Operators {
            claim: "groups".into(),
            group: "operators".into(),
            read_only_group: Some("auditors".into()),
        });
        limit.map(|limit| parts.extensions.insert(limit.clone()));
        match Caller::from_request_parts(&mut parts, &()).await {
            Ok(Caller { tenant, viewer }) => {
                let tenant = tenant.map(|Tenant(name)| name.to_string()).map_err(|problem| problem.kind.name());
                Ok((tenant, viewer.map(|viewer| viewer.sees_rows)))
            }
            Err(Failure::Problem(problem)) => Err(problem.status()),
            Err(Failure::Internal(_)) => Err(500),
        }
    }

    #[tokio::test]
    async fn a_caller_has_a_tenant_or_is_an_operator() {
        for (groups, sees_rows) in [("[]", None), ("[operators]", Some(true)), ("[auditors]", Some(false))] {
            let with_tenant = json!({"sub": "o", "tenant": "acme", "groups": groups});
            assert_eq!(ask(&with_tenant, None).await, Ok((Ok("acme".into()), sees_rows)), "{groups}");
            let without = ask(&json!({"sub": "o", "groups": groups}), None).await;
            let expected = if sees_rows.is_some() { Ok((Err("no-tenant"), sees_rows)) } else { Err(403) };
            assert_eq!(without, expected, "{groups}");
        }
    }

    #[tokio::test]
    async fn each_call_is_counted_once_also_that_of_an_operator_without_a_tenant() {
        for claims in [json!({"sub": "o", "groups": "operators"}), json!({"tenant": "o", "groups": "operators"})] {
            let limit = Arc::new(CallLimit::new(Rate { per_second: 1, burst: 2 }, || Timestamp(1)));
            for expected in [true, true, false] {
                let answer = ask(&claims, Some(&limit)).await;
                assert_eq!(answer.is_ok(), expected, "{claims}: {answer:?}");
            }
        }
    }
}
