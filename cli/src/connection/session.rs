//! The tokens of a user, and their renewal.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde::Deserialize;
use ureq::Agent;

use super::discovery::{SignIn, TokenKind};
use super::profiles::{Profile, Profiles, Tokens};
use crate::exit::{Exit, Failure};

/// Seconds before its end in which a token is renewed: longer than a call takes.
const RENEWAL_SECONDS: u64 = 120;

/// A signed-in user of a deployment.
pub(crate) struct Session {
    /// Name of the profile, and path of the file that has it.
    name: String,
    path: PathBuf,
    profile: Mutex<Profile>,
}

/// The response of a token endpoint (RFC 6749, 5.1).
#[derive(Deserialize)]
pub(super) struct TokenResponse {
    access_token: Option<String>,
    id_token: Option<String>,
    refresh_token: Option<String>,
    expires_in: Option<u64>,
}

impl TokenResponse {
    /// Returns the tokens for the API. A renewal without a new refresh token keeps the one that was used.
    pub(super) fn tokens(self, kind: TokenKind, now: u64, used: Option<String>) -> Result<Tokens> {
        let token = match kind {
            TokenKind::Access => self.access_token,
            TokenKind::Id => self.id_token,
        };
        let token = token.context("the issuer returned no token for the API")?;
        let expires_at = self.expires_in.map(|seconds| now + seconds);
        Ok(Tokens { token, expires_at, refresh_token: self.refresh_token.or(used) })
    }
}

impl Session {
    /// Creates the session of a profile.
    pub(super) fn new(name: &str, path: PathBuf, profile: Profile) -> Self {
        Self { name: name.to_owned(), path, profile: Mutex::new(profile) }
    }

    /// Returns a token that is valid for the next call; `None` if the API is open.
    ///
    /// # Errors
    /// If the user has to sign in again.
    pub(crate) fn token(&self, agent: &Agent) -> Result<Option<String>> {
        let mut profile = self.profile.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(tokens) = &profile.tokens else { return Ok(None) };
        if tokens.expires_at.is_none_or(|end| now() + RENEWAL_SECONDS < end) {
            return Ok(Some(tokens.token.clone()));
        }
        let Some((sign_in, refresh)) = profile.sign_in.clone().zip(tokens.refresh_token.clone()) else {
            return Err(self.ended());
        };
        let tokens = self.renew(agent, &sign_in, refresh)?;
        let token = tokens.token.clone();
        profile.tokens = Some(tokens);
        Profiles::set(&self.path, &self.name, profile.clone())?;
        Ok(Some(token))
    }

    fn renew(&self, agent: &Agent, sign_in: &SignIn, refresh: String) -> Result<Tokens> {
        let form = [("grant_type", "refresh_token"), ("client_id", &sign_in.client_id), ("refresh_token", &refresh)];
        let endpoint = sign_in.endpoints(agent)?.token_endpoint;
        let mut response =
            agent.post(&endpoint).send_form(form).with_context(|| format!("{endpoint} does not respond"))?;
        if response.status().is_client_error() {
            return Err(self.ended());
        }
        let text = response.body_mut().read_to_string()?;
        let answer: TokenResponse = serde_json::from_str(&text)
            .with_context(|| format!("{endpoint} returned {} and no tokens", response.status()))?;
        answer.tokens(sign_in.token, now(), Some(refresh))
    }

    fn ended(&self) -> anyhow::Error {
        let profile =
            if self.name == super::profiles::DEFAULT { String::new() } else { format!(" --profile {}", self.name) };
        Failure::new(Exit::SignIn, format!("your session has ended: sign in again with `longshore login{profile}`"))
            .into()
    }
}

/// Returns the seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renewal_keeps_the_refresh_token_unless_there_is_a_new_one() -> Result<()> {
        let answer = |refresh: Option<&str>| TokenResponse {
            access_token: Some("a".to_owned()),
            id_token: Some("i".to_owned()),
            refresh_token: refresh.map(str::to_owned),
            expires_in: Some(60),
        };
        let used = || Some("old".to_owned());
        let kept = answer(None).tokens(TokenKind::Access, 1_000, used())?;
        let expected = Tokens { token: "a".to_owned(), expires_at: Some(1_060), refresh_token: used() };
        assert_eq!(kept, expected);
        let rotated = answer(Some("new")).tokens(TokenKind::Id, 1_000, used())?;
        assert_eq!((rotated.token.as_str(), rotated.refresh_token.as_deref()), ("i", Some("new")));
        Ok(())
    }
}
