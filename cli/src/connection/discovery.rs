//! The sign-in of a deployment, from `/config.json`, and the endpoints of its issuer.

use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use ureq::Agent;

use crate::api::{Transient, check_secure, is_transient_status, no_answer, time_left};

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
        let settings: Settings = get(agent, &format!("{api_url}/config.json"), None).with_context(|| {
            format!("{api_url} is not a Longshore deployment, or does not serve /config.json; use --token")
        })?;
        if let Some(sign_in) = &settings.sign_in {
            check_secure(sign_in.hosted_page.as_deref().unwrap_or(&sign_in.issuer))?;
        }
        Ok(settings.sign_in)
    }

    /// Returns the endpoints of the issuer, which are read until then.
    ///
    /// # Errors
    /// [`Transient`] if the issuer does not answer for a while; or if they are not those of this issuer.
    pub(super) fn endpoints(&self, agent: &Agent, until: Option<Instant>) -> Result<Endpoints> {
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
        let endpoints: Endpoints = get(agent, &format!("{issuer}/.well-known/openid-configuration"), until)
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

fn get<T: DeserializeOwned>(agent: &Agent, url: &str, until: Option<Instant>) -> Result<T> {
    let request = agent.get(url).config().timeout_global(time_left(until)).build();
    let mut response = request.call().map_err(|error| no_answer(url, &error))?;
    let status = response.status();
    if is_transient_status(status.as_u16()) {
        bail!(Transient(format!("{url} returned {status}")));
    }
    ensure!(status.is_success(), "{url} returned {status}");
    let text = response.body_mut().read_to_string();
    let text = text.map_err(|error| Transient(format!("the answer of {url} ends early: {error}")))?;
    serde_json::from_str(&text).with_context(|| format!("{url} returned other JSON"))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Starts an issuer that sends these bytes as its only answer. Returns its sign-in.
    fn issuer(answer: &'static str) -> Result<SignIn> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let issuer = format!("http://{}", listener.local_addr()?);
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            // A request fits into one packet.
            assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let (client_id, scope) = (String::new(), String::new());
        Ok(SignIn { issuer, client_id, scope, token: TokenKind::Access, hosted_page: None })
    }

    #[test]
    fn an_issuer_that_is_busy_or_cut_off_is_asked_again_and_another_refusal_is_final() -> Result<()> {
        for (answer, expected) in [
            ("HTTP/1.1 503 x\r\ncontent-length: 0\r\n\r\n", true),
            ("HTTP/1.1 429 x\r\ncontent-length: 0\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"issuer\":", true),
            ("", true),
            ("HTTP/1.1 404 x\r\ncontent-length: 0\r\n\r\n", false),
            ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", false),
        ] {
            let sign_in = issuer(answer)?;
            let error = sign_in.endpoints(&crate::api::agent(&sign_in.issuer), None).unwrap_err();
            assert_eq!(error.is::<Transient>(), expected, "{answer}: {error:#}");
        }
        Ok(())
    }
}
