//! The sign-in of a deployment, from `/config.json`, and the endpoints of its issuer.

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use ureq::Agent;

use crate::api::{Transient, check_secure};

/// The OpenID Connect settings of a deployment.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(super) struct SignIn {
    /// The issuer of the tokens.
    pub(super) issuer: String,
    /// The public client at the issuer.
    pub(super) client_id: String,
    /// The scopes, separated by spaces.
    pub(super) scope: String,
    /// The token that the API expects.
    pub(super) token: TokenKind,
    /// The root of Cognito's sign-in page. `None` for an issuer that publishes its endpoints.
    pub(super) hosted_page: Option<String>,
}

/// A kind of token.
#[derive(Serialize, Deserialize, Copy, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum TokenKind {
    /// An access token.
    Access,
    /// An ID token.
    Id,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    sign_in: Option<SignIn>,
}

/// The endpoints of an issuer.
#[derive(Deserialize, Clone, Debug, PartialEq)]
pub(super) struct Endpoints {
    /// The issuer itself.
    #[serde(default)]
    pub(super) issuer: Option<String>,
    /// The page where a user signs in.
    pub(super) authorization_endpoint: String,
    /// The endpoint that returns tokens.
    pub(super) token_endpoint: String,
    /// The endpoint that makes tokens invalid, if there is one.
    #[serde(default)]
    pub(super) revocation_endpoint: Option<String>,
}

impl SignIn {
    /// Reads the sign-in of a deployment; `None` if its API is open.
    pub(super) fn of_deployment(agent: &Agent, api_url: &str) -> Result<Option<Self>> {
        let settings: Settings = get(agent, &format!("{api_url}/config.json")).with_context(|| {
            format!("{api_url} is not a Longshore deployment, or does not serve /config.json; use --token")
        })?;
        if let Some(sign_in) = &settings.sign_in {
            check_secure(sign_in.hosted_page.as_deref().unwrap_or(&sign_in.issuer))?;
        }
        Ok(settings.sign_in)
    }

    /// Returns the endpoints of the issuer.
    pub(super) fn endpoints(&self, agent: &Agent) -> Result<Endpoints> {
        if let Some(page) = &self.hosted_page {
            // Cognito does not publish them where the issuer is.
            let at = |path: &str| format!("{page}/oauth2/{path}");
            return Ok(Endpoints {
                issuer: None,
                authorization_endpoint: at("authorize"),
                token_endpoint: at("token"),
                revocation_endpoint: Some(at("revoke")),
            });
        }
        let issuer = self.issuer.trim_end_matches('/');
        let endpoints: Endpoints = get(agent, &format!("{issuer}/.well-known/openid-configuration"))
            .with_context(|| format!("the issuer {issuer} does not publish its endpoints"))?;
        let named = endpoints.issuer.as_deref().unwrap_or_default().trim_end_matches('/');
        ensure!(named == issuer, "the issuer {issuer} publishes the endpoints of {named}");
        let of_issuer = [
            Some(&endpoints.authorization_endpoint),
            Some(&endpoints.token_endpoint),
            endpoints.revocation_endpoint.as_ref(),
        ];
        of_issuer.into_iter().flatten().try_for_each(|url| check_secure(url))?;
        Ok(endpoints)
    }
}

fn get<T: DeserializeOwned>(agent: &Agent, url: &str) -> Result<T> {
    let mut response = agent.get(url).call().map_err(|error| Transient(format!("{url} does not answer: {error}")))?;
    ensure!(response.status().is_success(), "{url} returned {}", response.status());
    let text = response.body_mut().read_to_string()?;
    serde_json::from_str(&text).with_context(|| format!("{url} returned other JSON"))
}
