//! Operators: the callers who may see data of all tenants. Read-only operators see no rows, and change nothing.

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

/// Claims that name a person, in the order in which they are looked for. At many issuers, people edit their `name`.
const NAME_CLAIMS: [&str; 5] = ["email", "cognito:username", "preferred_username", "username", "name"];

/// Maximum number of characters of a name.
const NAME_CHARS: usize = 200;

/// The rule that identifies operators: a claim of the accepted token contains a list of words, and one of them is one
/// of these words. Callers must not be able to set the claim.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Operators {
    /// Name of the claim, `cognito:groups` for instance.
    pub claim: String,
    /// The word that identifies operators.
    pub group: String,
    /// The word that identifies read-only operators; `None` if there are none.
    pub read_only_group: Option<String>,
}

/// Makes the caller's operator role available to the router's handlers: they take [`Operator`] or [`Viewer`] as an
/// argument.
pub fn with_operators<S: Clone + Send + Sync + 'static>(router: Router<S>, operators: &Operators) -> Router<S> {
    router.layer(Extension(operators.clone()))
}

/// An operator, identified by the claim `sub`. A handler that takes this argument refuses all other callers, also
/// read-only operators: 403 `not-an-operator`. With [`Access::Open`], no caller is an operator, because callers are
/// indistinguishable.
///
/// If the router has a [`CallLimit`], the calls of each operator are counted under the operator's id: 429
/// `rate-limited` above the rate. A handler that also serves others takes `Option<Operator>`, which refuses and counts
/// nobody.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Operator {
    /// The token's claim `sub`.
    pub id: String,
    /// Name for people, if the token has one. It is not unique, and its bearer may be able to choose it.
    pub name: Option<String>,
}

/// A caller who may read what concerns all tenants: an operator, or a read-only operator. A handler that takes this
/// argument changes nothing, and refuses and counts callers as [`Operator`] does. One that also serves tenants takes
/// [`Caller`](super::Caller).
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Viewer {
    /// The caller.
    pub operator: Operator,
    /// True for an operator, who may see rows of tenants; false for a read-only operator.
    pub sees_rows: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for Operator {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let operator = Self::find(&parts.extensions)?;
        operator.count(&parts.extensions)?;
        Ok(operator)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Viewer {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let viewer = Self::find(&parts.extensions)?;
        viewer.operator.count(&parts.extensions)?;
        Ok(viewer)
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

impl<S: Send + Sync> OptionalFromRequestParts<S> for Viewer {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, Failure> {
        match Self::find(&parts.extensions) {
            Ok(viewer) => Ok(Some(viewer)),
            Err(Failure::Problem(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Operator {
    fn find(extensions: &Extensions) -> Result<Self, Failure> {
        let Viewer { operator, sees_rows } = Viewer::find(extensions)?;
        if sees_rows { Ok(operator) } else { Err(read_only().into()) }
    }

    fn count(&self, extensions: &Extensions) -> Result<(), Failure> {
        let Some(limit) = extensions.get::<Arc<CallLimit>>() else { return Ok(()) };
        let name = TenantId::parse(&self.id).unwrap_or_else(|| UNNAMED.clone());
        Ok(limit.count(&name, extensions.get().copied().unwrap_or(CallCost(1)))?)
    }
}

impl Viewer {
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
        let has = |group: &str| words(groups).any(|word| word == group);
        let sees_rows = has(&operators.group);
        if !sees_rows && !operators.read_only_group.as_deref().is_some_and(has) {
            return Err(not_an_operator(operators).into());
        }
        let name = NAME_CLAIMS.iter().find_map(|claim| claim_of(extensions, claim));
        let operator = Operator {
            id: claim_of(extensions, "sub").unwrap_or("unknown").to_owned(),
            name: name.map(|name| name.chars().take(NAME_CHARS).collect()),
        };
        Ok(Self { operator, sees_rows })
    }
}

/// Splits a claim into words: the gateway passes a list as `[a b]`, and a scope as `a b`.
fn words(claim: &str) -> impl Iterator<Item = &str> {
    let list = claim.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(claim);
    list.split(' ').filter(|word| !word.is_empty())
}

fn read_only() -> Problem {
    let detail = "your token makes you a read-only operator, who changes nothing; ask an operator to make this call";
    Problem::new(Kind::NotAnOperator, detail)
}

fn not_an_operator(Operators { claim, group, .. }: &Operators) -> Problem {
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

    async fn ask(access: Option<Access>, claims: serde_json::Value) -> (Result<Operator, u16>, Option<Viewer>) {
        let context = json!({"http": {"method": "GET"}, "timeEpoch": 0, "authorizer": {"jwt": {"claims": claims}}});
        let context = RequestContext::ApiGatewayV2(serde_json::from_value(context).unwrap());
        let (mut parts, ()) = Request::new(()).with_request_context(context).into_parts();
        parts.extensions.insert(Operators {
            claim: "cognito:groups".into(),
            group: "operators".into(),
            read_only_group: Some("auditors".into()),
        });
        access.map(|access| parts.extensions.insert(access));
        let found = <Option<Operator>>::from_request_parts(&mut parts, &()).await;
        let operator = <Operator as FromRequestParts<()>>::from_request_parts(&mut parts, &()).await;
        assert_eq!(found.ok().flatten(), operator.as_ref().ok().cloned());
        let operator = operator.map_err(|failure| match failure {
            Failure::Problem(problem) => problem.status(),
            Failure::Internal(_) => 500,
        });
        let viewer = <Viewer as FromRequestParts<()>>::from_request_parts(&mut parts, &()).await.ok();
        let found = <Option<Viewer>>::from_request_parts(&mut parts, &()).await;
        assert_eq!(found.ok().flatten(), viewer);
        (operator, viewer)
    }

    fn signed_in() -> Option<Access> {
        Some(Access::SignedIn { tenant_claim: "sub".into() })
    }

    #[tokio::test]
    async fn an_operator_has_the_whole_word_in_the_claim() {
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
            let (operator, viewer) = ask(signed_in(), json!({"sub": "o", "cognito:groups": groups})).await;
            let expected = Operator { id: "o".into(), name: None };
            assert_eq!(operator, if is { Ok(expected) } else { Err(403) }, "{groups}");
            assert_eq!(viewer.map(|viewer| viewer.sees_rows), is.then_some(true), "{groups}");
        }
        assert_eq!(ask(signed_in(), json!({"sub": "operators"})).await, (Err(403), None), "no such claim");
    }

    #[tokio::test]
    async fn a_read_only_operator_sees_no_rows_and_is_no_operator() {
        for (groups, sees_rows) in [("[auditors]", false), ("auditors operators", true)] {
            let claims = json!({"sub": "a", "email": "ann@example.com", "cognito:groups": groups});
            let (operator, viewer) = ask(signed_in(), claims).await;
            let expected = Operator { id: "a".into(), name: Some("ann@example.com".into()) };
            assert_eq!(viewer, Some(Viewer { operator: expected.clone(), sees_rows }), "{groups}");
            assert_eq!(operator, if sees_rows { Ok(expected) } else { Err(403) }, "{groups}");
        }
    }

    #[tokio::test]
    async fn a_name_that_its_bearer_can_choose_is_the_last_resort() {
        for (claims, expected) in [
            (json!({"name": "Olga", "email": "ann@example.com"}), "ann@example.com"),
            (json!({"name": "Olga", "username": "ann"}), "ann"),
            (json!({"name": "Olga"}), "Olga"),
        ] {
            let mut claims = claims;
            claims["cognito:groups"] = json!("operators");
            let (operator, _) = ask(signed_in(), claims).await;
            assert_eq!(operator.unwrap().name.as_deref(), Some(expected));
        }
    }

    #[tokio::test]
    async fn no_caller_is_an_operator_with_open_access_or_without_an_access_rule() {
        let claims = json!({"sub": "o", "cognito:groups": "[operators auditors]"});
        assert_eq!(ask(Some(Access::Open), claims.clone()).await, (Err(403), None));
        assert_eq!(ask(None, claims).await, (Err(500), None));
    }
}
