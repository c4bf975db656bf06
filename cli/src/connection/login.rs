//! `login` and `logout`: the authorization code flow with PKCE (RFC 7636) in the user's browser, or a token from
//! elsewhere.

use std::env;
use std::io::{IsTerminal, Read, stdin};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use ureq::Agent;
use url::Url;
use uuid::Uuid;

use super::discovery::{Endpoints, SignIn};
use super::loopback::{Loopback, Redirect};
use super::options::{API_URL, default_profile, preferred, variable};
use super::profiles::{self, Profile, Profiles, StoredTokens};
use super::session::{TokenResponse, now};
use crate::api::{Api, agent, check_secure};
use crate::output::exit::{CODES, CommandError, Exit};

/// Time in which the user has to sign in.
const SIGN_IN_TIMEOUT: Duration = Duration::from_secs(300);

/// Options of `login`.
#[derive(clap::Args)]
#[command(after_help = CODES)]
pub struct LoginOptions {
    /// Root URL of the API: the stack's output ApiUrl [default: that of the profile]
    #[arg(long, value_name = "URL")]
    api_url: Option<String>,
    /// Name of the profile that is created or changed
    #[arg(long, value_name = "NAME", default_value_t = default_profile())]
    profile: String,
    /// Store this token instead of opening a browser; `-` reads it from standard input
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Print the URL of the sign-in page instead of opening a browser. The browser must reach this machine's localhost:
    /// over SSH, forward port 8976
    #[arg(long, conflicts_with = "token")]
    no_browser: bool,
}

/// Options of `logout`.
#[derive(clap::Args)]
#[command(after_help = CODES)]
pub struct LogoutOptions {
    /// Name of the profile whose tokens are deleted
    #[arg(long, value_name = "NAME", default_value_t = default_profile())]
    profile: String,
}

/// Signs in, and keeps the tokens in the profile.
///
/// # Errors
/// If there is no such deployment, or the sign-in is refused.
pub fn login(options: &LoginOptions) -> Result<()> {
    let path = profiles::path()?;
    let stored = Profiles::read(&path)?.get(&options.profile).map(|profile| profile.api_url.clone());
    let url = options.api_url.clone().filter(|url| !url.is_empty()).or_else(|| variable(API_URL)).or(stored);
    let url = url.ok_or_else(|| {
        CommandError::new(Exit::Usage, "pass the URL of the deployment with --api-url; it is the stack's output ApiUrl")
    })?;
    let api_url = url.trim_end_matches('/').to_owned();
    check_secure(&api_url)?;
    let profile = match &options.token {
        Some(token) => {
            let tokens =
                StoredTokens { token: read_token(token)?, renew_at: None, expires_at: None, refresh_token: None };
            Profile { api_url, sign_in: None, tokens: Some(tokens) }
        }
        None => {
            let agent = agent(&api_url);
            let sign_in = SignIn::of_deployment(&agent, &api_url)?;
            let tokens =
                sign_in.as_ref().map(|sign_in| by_browser(&agent, sign_in, !options.no_browser)).transpose()?;
            Profile { api_url, sign_in, tokens }
        }
    };
    let token = profile.tokens.as_ref().map(|tokens| tokens.token.as_str());
    // A token that the API refuses is not kept.
    Api::new(&profile.api_url, token).get("/api/jobs?limit=1", "checking the sign-in")?;
    let what = if profile.tokens.is_some() { "Signed in to" } else { "No sign-in is needed for" };
    let line = format!("{what} {} (profile {}).", profile.api_url, options.profile);
    Profiles::set(&path, &options.profile, profile)?;
    println!("{line}");
    if let Some(preferred) = preferred(&variable, &env::current_dir().unwrap_or_default()) {
        eprintln!("note: {preferred}, which takes precedence over a profile that is not named");
    }
    Ok(())
}

/// Deletes the tokens of the profile, and revokes the refresh token if the issuer can be reached.
///
/// # Errors
/// If there is no such profile.
pub fn logout(options: &LogoutOptions) -> Result<()> {
    let path = profiles::path()?;
    let mut profile = Profiles::read(&path)?.get(&options.profile).cloned().ok_or_else(|| {
        let reason = format!("there is no profile {}: nothing to sign out of", options.profile);
        CommandError::new(Exit::Usage, reason)
    })?;
    let tokens = profile.tokens.take();
    Profiles::set(&path, &options.profile, profile.clone())?;
    if let Some((sign_in, refresh)) = profile.sign_in.zip(tokens.and_then(|tokens| tokens.refresh_token)) {
        let agent = agent(&profile.api_url);
        let revoked = revoke(&agent, &sign_in, &refresh);
        if let Err(error) = revoked {
            eprintln!("warning: the tokens are deleted here, but the refresh token is not revoked: {error:#}");
        }
    }
    println!("Signed out of {} (profile {}).", profile.api_url, options.profile);
    Ok(())
}

fn revoke(agent: &Agent, sign_in: &SignIn, refresh: &str) -> Result<()> {
    let Some(endpoint) = sign_in.endpoints(agent, None)?.revocation_endpoint else { return Ok(()) };
    let form = [("token", refresh), ("token_type_hint", "refresh_token"), ("client_id", &sign_in.client_id)];
    let response = agent.post(&endpoint).send_form(form).with_context(|| format!("{endpoint} does not respond"))?;
    ensure!(response.status().is_success(), "{endpoint} returned {}", response.status());
    Ok(())
}

/// Returns a token without the line end that a file or a pipe adds.
fn read_token(token: &str) -> Result<String> {
    let mut text = token.to_owned();
    if token == "-" {
        ensure!(!stdin().is_terminal(), CommandError::new(Exit::Usage, "pipe the token to `login --token -`"));
        text.clear();
        stdin().take(64 << 10).read_to_string(&mut text)?;
    }
    let text = text.trim();
    ensure!(!text.is_empty(), CommandError::new(Exit::Usage, "the token is empty"));
    Ok(text.to_owned())
}

/// Signs in by the browser.
fn by_browser(agent: &Agent, sign_in: &SignIn, opens: bool) -> Result<StoredTokens> {
    let endpoints = sign_in.endpoints(agent, None)?;
    let loopback = Loopback::start(sign_in.hosted_page.is_some())?;
    let (state, verifier) = (secret(), secret());
    let url = authorization_url(&endpoints, sign_in, loopback.redirect_url(), &state, &verifier)?;
    if opens && open(url.as_str()) {
        eprintln!("Sign in in your browser. If it does not open, visit:\n  {url}");
    } else {
        eprintln!("Sign in at:\n  {url}");
    }
    let code = match loopback.wait(&state, SIGN_IN_TIMEOUT)? {
        Redirect::Code(code) => code,
        Redirect::Refused(reason) => {
            return Err(CommandError::new(Exit::NotSignedIn, format!("the sign-in was refused: {reason}")).into());
        }
    };
    let form = [
        ("grant_type", "authorization_code"),
        ("client_id", &sign_in.client_id),
        ("code", &code),
        ("redirect_uri", loopback.redirect_url()),
        ("code_verifier", &verifier),
    ];
    let endpoint = &endpoints.token_endpoint;
    let mut response = agent.post(endpoint).send_form(form).with_context(|| format!("{endpoint} does not respond"))?;
    let status = response.status();
    let text = response.body_mut().read_to_string()?;
    if !status.is_success() {
        // The text can have the code, so that it is not shown.
        return Err(CommandError::new(
            Exit::NotSignedIn,
            format!("the issuer refused the sign-in: {endpoint} returned {status}"),
        )
        .into());
    }
    let answer: TokenResponse =
        serde_json::from_str(&text).with_context(|| format!("{endpoint} returned no tokens"))?;
    answer.tokens(sign_in.token, now(), None)
}

fn authorization_url(
    endpoints: &Endpoints,
    sign_in: &SignIn,
    redirect: &str,
    state: &str,
    verifier: &str,
) -> Result<Url> {
    let endpoint = &endpoints.authorization_endpoint;
    let mut url = Url::parse(endpoint).with_context(|| format!("{endpoint} is no URL"))?;
    url.query_pairs_mut()
        .append_pair("response_type", "code")
        .append_pair("client_id", &sign_in.client_id)
        .append_pair("redirect_uri", redirect)
        .append_pair("scope", &sign_in.scope)
        .append_pair("state", state)
        .append_pair("code_challenge", &URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)))
        .append_pair("code_challenge_method", "S256");
    Ok(url)
}

/// Returns a secret of 43 characters, with 244 random bits.
fn secret() -> String {
    let bytes = [*Uuid::new_v4().as_bytes(), *Uuid::new_v4().as_bytes()].concat();
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Starts the user's browser. Returns false if there is none.
fn open(url: &str) -> bool {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("rundll32");
        command.arg("url.dll,FileProtocolHandler");
        command
    } else {
        Command::new("xdg-open")
    };
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::discovery::TokenKind;
    use super::*;

    /// The challenge of the example in RFC 7636, appendix B.
    #[test]
    fn the_url_has_the_challenge_and_not_the_verifier() -> Result<()> {
        let endpoints = Endpoints {
            issuer: None,
            authorization_endpoint: "https://issuer.example/authorize?p=1".to_owned(),
            token_endpoint: String::new(),
            revocation_endpoint: None,
        };
        let sign_in = SignIn {
            issuer: String::new(),
            client_id: "c".to_owned(),
            scope: "openid email".to_owned(),
            token: TokenKind::Access,
            hosted_page: None,
        };
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let url = authorization_url(&endpoints, &sign_in, "http://127.0.0.1:1/", "s", verifier)?;
        assert_eq!(
            url.as_str(),
            "https://issuer.example/authorize?p=1&response_type=code&client_id=c&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2F\
             &scope=openid+email&state=s&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
        );
        assert_ne!(secret(), secret());
        assert_eq!(secret().len(), 43);
        Ok(())
    }
}
