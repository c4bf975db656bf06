//! The tokens of a user, and their renewal.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;
use ureq::Agent;

use super::discovery::{SignIn, TokenKind};
use super::profiles::{self, Profile, Profiles, StoredTokens};
use crate::api::{Tokens, Transient, is_transient_status, time_left};
use crate::output::exit::{CommandError, Exit};

/// Seconds before its end in which a token is renewed: longer than a call takes.
const RENEWAL_SECONDS: u64 = 120;

/// Seconds after a renewal that has failed for a while in which the old token is used without another one.
const PAUSE_SECONDS: u64 = 15;

/// A signed-in user of a deployment. Commands that run at once share the tokens by the file of profiles.
pub(crate) struct Session {
    /// Name of the profile, and path of the file that has it.
    name: String,
    path: PathBuf,
    state: Mutex<State>,
}

/// What a session knows.
struct State {
    profile: Profile,
    /// The issuer's endpoint for renewals, once it was read.
    token_endpoint: Option<String>,
    /// Seconds since 1970 until which the old token is used while it is valid.
    paused_until: u64,
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
    pub(super) fn tokens(self, kind: TokenKind, now: u64, used: Option<String>) -> Result<StoredTokens> {
        let token = match kind {
            TokenKind::Access => self.access_token,
            TokenKind::Id => self.id_token,
        };
        let token = token.context("the issuer returned no token for the API")?;
        // A token that is valid for a few minutes only is not renewed before every call.
        let renew_at = self.expires_in.map(|seconds| now + seconds.saturating_sub(RENEWAL_SECONDS).max(seconds / 2));
        let expires_at = self.expires_in.map(|seconds| now.saturating_add(seconds));
        Ok(StoredTokens { token, renew_at, expires_at, refresh_token: self.refresh_token.or(used) })
    }
}

impl Tokens for Session {
    fn token(&self, agent: &Agent, until: Option<Instant>) -> Result<Option<String>> {
        let mut state = self.state();
        let Some(tokens) = state.profile.tokens.clone() else {
            return if state.profile.sign_in.is_some() { Err(self.ended()) } else { Ok(None) };
        };
        let time = now();
        if !tokens.is_due(time) || (tokens.is_valid(time) && time < state.paused_until) {
            return Ok(Some(tokens.token));
        }
        match self.renew(agent, &mut state, &tokens.token, until) {
            // The time has gone on meanwhile.
            Err(error) if error.is::<Transient>() && tokens.is_valid(now()) => {
                state.paused_until = now() + PAUSE_SECONDS;
                Ok(Some(tokens.token))
            }
            renewed => renewed?.map(Some).ok_or_else(|| self.ended()),
        }
    }

    fn renewed(&self, agent: &Agent, refused: &str, until: Option<Instant>) -> Result<Option<String>> {
        self.renew(agent, &mut self.state(), refused, until)
    }
}

impl Session {
    /// Creates the session of a profile.
    pub(super) fn new(name: &str, path: PathBuf, profile: Profile) -> Self {
        let state = State { profile, token_endpoint: None, paused_until: 0 };
        Self { name: name.to_owned(), path, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a token in place of `old`: the one that another command has stored, or a new one. `None` without a
    /// refresh token.
    fn renew(&self, agent: &Agent, state: &mut State, old: &str, until: Option<Instant>) -> Result<Option<String>> {
        // A refresh token may be valid for one use. Of commands at once, only one renews.
        let lock = profiles::lock(&self.path).ok();
        let stored = Profiles::read(&self.path)?.get(&self.name).cloned();
        let stored = stored.filter(|stored| stored.is_same_deployment(&state.profile)).ok_or_else(|| self.ended())?;
        state.profile = stored;
        let Some(tokens) = state.profile.tokens.clone() else { return Err(self.ended()) };
        if tokens.token != old {
            return Ok(Some(tokens.token));
        }
        let Some((sign_in, refresh)) = state.profile.sign_in.clone().zip(tokens.refresh_token) else {
            return Ok(None);
        };
        let endpoint = match &state.token_endpoint {
            Some(endpoint) => endpoint.clone(),
            None => state.token_endpoint.insert(sign_in.endpoints(agent, until)?.token_endpoint).clone(),
        };
        let renewed = self.request(agent, &endpoint, &sign_in, refresh, until)?;
        let token = renewed.token.clone();
        state.profile.tokens = Some(renewed);
        if let Err(error) = Profiles::set_locked(&self.path, &self.name, state.profile.clone()) {
            eprintln!("warning: the renewed token is not stored, so the next command may need a sign-in: {error:#}");
        }
        drop(lock);
        Ok(Some(token))
    }

    fn request(
        &self,
        agent: &Agent,
        endpoint: &str,
        sign_in: &SignIn,
        refresh: String,
        until: Option<Instant>,
    ) -> Result<StoredTokens> {
        let form = [("grant_type", "refresh_token"), ("client_id", &sign_in.client_id), ("refresh_token", &refresh)];
        let unavailable = |reason: String| Transient(format!("{endpoint} does not renew the sign-in: {reason}"));
        let request = agent.post(endpoint).config().timeout_global(time_left(until)).build();
        let mut response = request.send_form(form).map_err(|error| unavailable(error.to_string()))?;
        let text = response.body_mut().read_to_string().map_err(|error| unavailable(error.to_string()))?;
        if is_final(&text) {
            return Err(self.ended());
        }
        let status = response.status();
        let answer = serde_json::from_str(&text).ok().filter(|_: &TokenResponse| !is_transient_status(status.as_u16()));
        let answer = answer.ok_or_else(|| unavailable(format!("it answers {status}")))?;
        answer.tokens(sign_in.token, now(), Some(refresh))
    }

    fn ended(&self) -> anyhow::Error {
        let named = if self.name == profiles::DEFAULT { String::new() } else { format!(" --profile {}", self.name) };
        let reason = format!("you are signed out, or the session has ended: sign in with `longshore login{named}`");
        CommandError::new(Exit::NotSignedIn, reason).into()
    }
}

/// Returns true for an error after which the user has to sign in again (RFC 6749, 5.2).
fn is_final(answer: &str) -> bool {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let last = ["invalid_grant", "invalid_request", "invalid_client", "unauthorized_client", "unsupported_grant_type"];
    answer["error"].as_str().is_some_and(|error| last.contains(&error))
}

/// Returns the seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(refresh: Option<&str>, expires_in: u64) -> TokenResponse {
        let text = |text: &str| Some(text.to_owned());
        TokenResponse {
            access_token: text("a"),
            id_token: text("i"),
            refresh_token: refresh.map(str::to_owned),
            expires_in: Some(expires_in),
        }
    }

    #[test]
    fn a_renewal_keeps_the_refresh_token_unless_there_is_a_new_one() -> Result<()> {
        let used = || Some("old".to_owned());
        let kept = answer(None, 3_600).tokens(TokenKind::Access, 1_000, used())?;
        let expected = StoredTokens {
            token: "a".to_owned(),
            renew_at: Some(4_480),
            expires_at: Some(4_600),
            refresh_token: used(),
        };
        assert_eq!(kept, expected);
        let rotated = answer(Some("new"), 60).tokens(TokenKind::Id, 1_000, used())?;
        assert_eq!((rotated.token.as_str(), rotated.refresh_token.as_deref()), ("i", Some("new")));
        assert_eq!(rotated.renew_at, Some(1_030), "half of a short life");
        Ok(())
    }

    #[test]
    fn only_a_final_error_ends_the_session() {
        assert!(is_final(r#"{"error":"invalid_grant"}"#));
        for answer in ["", "<html>", r#"{"error":"temporarily_unavailable"}"#, r#"{"access_token":"a"}"#] {
            assert!(!is_final(answer), "{answer}");
        }
    }

    #[test]
    fn a_token_of_another_command_is_used_and_a_sign_out_is_final() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("profiles.json");
        let tokens = |token: &str, renew_at| StoredTokens {
            token: token.to_owned(),
            renew_at,
            expires_at: None,
            refresh_token: None,
        };
        let sign_in = SignIn {
            issuer: "https://issuer.example".to_owned(),
            client_id: "c".to_owned(),
            scope: String::new(),
            token: TokenKind::Access,
            hosted_page: None,
        };
        let profile = |url: &str, tokens: Option<StoredTokens>| Profile {
            api_url: url.to_owned(),
            sign_in: Some(sign_in.clone()),
            tokens,
        };
        let url = "https://a.example";
        let session = Session::new("p", path.clone(), profile(url, Some(tokens("old", Some(1)))));
        let agent = crate::api::agent("http://localhost");
        Profiles::set(&path, "p", profile(url, Some(tokens("new", None))))?;
        assert_eq!(session.token(&agent, None)?.as_deref(), Some("new"));
        for other in [profile(url, None), profile("https://b.example", Some(tokens("other", None)))] {
            let session = Session::new("p", path.clone(), profile(url, Some(tokens("old", Some(1)))));
            Profiles::set(&path, "p", other)?;
            let error = session.token(&agent, None).unwrap_err();
            assert_eq!(crate::output::exit::exit_code(&error), Exit::NotSignedIn);
        }
        Ok(())
    }
}
