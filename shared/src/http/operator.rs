//! Operators: the callers who may see data of all tenants.

use std::sync::Arc;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::Extensions;
use axum::http::request::Parts;
use axum::{Extension, Router};
use longshore_domain::tenant::TenantId;

use super::tenant::claim_of;
use super::{Access, CallCost, CallLimit, Failure};
use crate::problem::{Kind, Problem};

/// The name under which calls of operators are counted whose `sub` is not a valid name.
static UNNAMED: TenantId = TenantId::from_static("operators");

/// The rule that identifies operators: a claim of the accepted token contains a list of words, and one of them is this
/// word. Callers must not be able to set the claim.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Operators {
    /// Name of the claim, `cognito:groups` for instance.
    pub claim: String,
    /// The word that identifies operators.
    pub group: String,
}

/// Makes the caller's operator role available to the router's handlers: they take [`Operator`] as an argument.
pub fn with_operators<S: Clone + Send + Sync + 'static>(router: Router<S>, operators: &Operators) -> Router<S> {
    router.layer(Extension(operators.clone()))
}

/// An operator, identified by the claim `sub`. A handler that takes this argument refuses all other callers: 403
/// `not-an-operator`. With [`Access::Open`], no caller is an operator, because callers are indistinguishable.
///
/// If the router has a [`CallLimit`], the calls of each operator are counted under the operator's name: 429
/// `rate-limited` above the rate. A handler that also serves others takes `Option<Operator>`, which refuses and counts
/// nobody.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Operator(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Operator {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let operator = Self::find(&parts.extensions)?;
        if let Some(limit) = parts.extensions.get::<Arc<CallLimit>>() {
            let name = TenantId::parse(&operator.0).unwrap_or_else(|| UNNAMED.clone());
            limit.count(&name, parts.extensions.get().copied().unwrap_or(CallCost(1)))?;
        }
        Ok(operator)
    }
}

impl<S: Send + Sync> OptionalFromRequestParts<S> for Operator {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, Failure> {
        match Self::find(&parts.extensions) {
            Ok(operator) => Ok(Some(operator)),
            Err(Failure::Problem(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Operator {
    fn find(extensions: &Extensions) -> Result<Self, Failure> {
        let (Some(access), Some(operators)) = (extensions.get::<Access>(), extensions.get::<Operators>()) else {
            return Err(Failure::Internal("the router has no rule for operators".into()));
        };
        if *access == Access::Open {
            let detail = "this deployment is open to everyone, so no caller is an operator; deploy it with \
                          Access=cognito or Access=oidc";
            return Err(Problem::new(Kind::NotAnOperator, detail).into());
        }
        let groups = claim_of(extensions, &operators.claim).unwrap_or_default();
        if !words(groups).any(|word| word == operators.group) {
            return Err(not_an_operator(operators).into());
        }
        Ok(Self(claim_of(extensions, "sub").unwrap_or("unknown").to_owned()))
    }
}

/// Splits a claim into words: the gateway passes a list as `[a b]`, and a scope as `a b`.
fn words(claim: &str) -> impl Iterator<Item = &str> {
    let list = claim.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(claim);
    list.split(' ').filter(|word| !word.is_empty())
}

fn not_an_operator(Operators { claim, group }: &Operators) -> Problem {
    let detail = format!(
        "only operators can make this call, because it concerns all tenants; the token of an operator has {group} in \
         its claim {claim}; ask an administrator to make you an operator, and sign in again"
    );
    Problem::new(Kind::NotAnOperator, detail)
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use lambda_http::RequestExt;
    use lambda_http::request::RequestContext;
    use serde_json::json;

    use super::*;

    async fn ask(access: Option<Access>, claims: serde_json::Value) -> Result<Operator, u16> {
        let context = json!({"http": {"method": "GET"}, "timeEpoch": 0, "authorizer": {"jwt": {"claims": claims}}});
        let context = RequestContext::ApiGatewayV2(serde_json::from_value(context).unwrap());
        let (mut parts, ()) = Request::new(()).with_request_context(context).into_parts();
        parts.extensions.insert(Operators { claim: "cognito:groups".into(), group: "operators".into() });
        access.map(|access| parts.extensions.insert(access));
        let found = <Option<Operator>>::from_request_parts(&mut parts, &()).await;
        let operator = <Operator as FromRequestParts<()>>::from_request_parts(&mut parts, &()).await;
        assert_eq!(found.ok().flatten(), operator.as_ref().ok().cloned());
        operator.map_err(|failure| match failure {
            Failure::Problem(problem) => problem.status(),
            Failure::Internal(_) => 500,
        })
    }

    #[tokio::test]
    async fn an_operator_has_the_whole_word_in_the_claim() {
        let signed_in = Access::SignedIn { tenant_claim: "sub".into() };
        for (groups, is) in [
            ("[operators]", true),
            ("[a operators b]", true),
            ("operators", true),
            ("a operators", true),
            ("[operators2]", false),
            ("[a,operators]", false),
            ("[Operators]", false),
            ("[]", false),
            ("", false),
        ] {
            let operator = ask(Some(signed_in.clone()), json!({"sub": "o", "cognito:groups": groups})).await;
            assert_eq!(operator, if is { Ok(Operator("o".into())) } else { Err(403) }, "{groups}");
        }
        assert_eq!(ask(Some(signed_in), json!({"sub": "operators"})).await, Err(403), "no such claim");
    }

    #[tokio::test]
    async fn no_caller_is_an_operator_with_open_access_or_without_an_access_rule() {
        let claims = json!({"sub": "o", "cognito:groups": "[operators]"});
        assert_eq!(ask(Some(Access::Open), claims.clone()).await, Err(403));
        assert_eq!(ask(None, claims).await, Err(500));
    }
}
