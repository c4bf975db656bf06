//! The API's calls for dead letters.

use anyhow::{Context, Result, anyhow};
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::http::{Request, Response};
use ureq::{Agent, Body};

use super::document::{DeadLetter, Page, ReplayResponse};

/// A client of one deployment, with an operator's token.
pub(super) struct Client {
    base: String,
    bearer: String,
    agent: Agent,
}

impl Client {
    pub(super) fn new(base: &str, token: &str) -> Self {
        let config = Agent::config_builder().proxy(None).http_status_as_error(false).build();
        let agent = Agent::new_with_config(config);
        Self { base: base.trim_end_matches('/').to_owned(), bearer: format!("Bearer {token}"), agent }
    }

    /// Lists all open dead letters, page by page.
    pub(super) fn list(&self, queue: Option<&str>, job: Option<&str>) -> Result<Vec<DeadLetter>> {
        let (mut dead_letters, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut query = String::from("?limit=100");
            for (name, value) in [("queue", queue), ("jobId", job), ("cursor", cursor.as_deref())] {
                query.extend(value.map(|value| format!("&{name}={value}")));
            }
            let page: Page = json(self.call("GET", &query, "")?)?;
            dead_letters.extend(page.dead_letters);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(dead_letters);
            }
        }
    }

    pub(super) fn show(&self, dead_letter: &str) -> Result<Value> {
        json(self.call("GET", &format!("/{dead_letter}"), "")?)
    }

    pub(super) fn replay(&self, dead_letter: &str) -> Result<ReplayResponse> {
        json(self.call("POST", &format!("/{dead_letter}/replay"), "")?)
    }

    pub(super) fn replay_job(&self, job: &str) -> Result<ReplayResponse> {
        json(self.call("POST", "/replay", &serde_json::json!({ "jobId": job }).to_string())?)
    }

    pub(super) fn discard(&self, dead_letter: &str) -> Result<()> {
        self.call("DELETE", &format!("/{dead_letter}"), "").map(|_| ())
    }

    /// Sends a request. Fails unless the response has a status of success.
    fn call(&self, method: &str, path: &str, body: &str) -> Result<Response<Body>> {
        let url = format!("{}/api/dead-letters{path}", self.base);
        let request = Request::builder().method(method).uri(&url).header("authorization", &self.bearer);
        let response = if method == "POST" {
            self.agent.run(request.header("content-type", "application/json").body(body.to_owned())?)
        } else {
            self.agent.run(request.body(())?)
        };
        let response = response.with_context(|| format!("{url} does not respond"))?;
        if response.status().is_success() { Ok(response) } else { Err(error(response)) }
    }
}

/// Returns an error with the API's own message.
fn error(mut response: Response<Body>) -> anyhow::Error {
    let status = response.status();
    let text = response.body_mut().read_to_string().unwrap_or_default();
    let problem: Value = serde_json::from_str(&text).unwrap_or_default();
    match (status.as_u16(), problem["detail"].as_str()) {
        (401, _) => anyhow!("the token is invalid or has expired: sign in again"),
        (_, Some(detail)) => anyhow!("{detail}"),
        _ => anyhow!("the API returned {status}: {text}"),
    }
}

fn json<T: DeserializeOwned>(mut response: Response<Body>) -> Result<T> {
    let text = response.body_mut().with_config().limit(u64::MAX).read_to_string()?;
    serde_json::from_str(&text).with_context(|| format!("the response is not the expected JSON: {text}"))
}
