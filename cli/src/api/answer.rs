//! An answer of the API, and the errors of one that is no success.

use std::time::Duration;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::Body;
use ureq::http::Response;

use super::http::Transient;
use super::refused::ApiError;
use crate::output::exit::{CommandError, Exit};

/// Maximum number of wrong members of a request that an error lists.
const SHOWN: usize = 10;

/// Maximum number of characters of an answer that is no JSON in an error.
const SHOWN_CHARS: usize = 500;

/// Longest delay for which a call is tried again, in seconds. One that asks for more, such as one above the quota of a
/// day, is refused for good.
const MAX_RETRY_AFTER: u64 = 300;

/// An answer of the API.
pub struct Answer {
    pub(super) response: Response<Body>,
}

impl Answer {
    /// Returns the status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// Returns the delay that the API asks for, up to the longest one for which a command waits.
    pub fn retry_after(&self) -> Option<Duration> {
        Some(Duration::from_secs(self.asked_seconds()?.min(MAX_RETRY_AFTER)))
    }

    fn asked_seconds(&self) -> Option<u64> {
        self.header("retry-after")?.trim().parse().ok()
    }

    /// Returns true if the same call can succeed later, and not only after the longest delay.
    pub fn is_transient(&self) -> bool {
        is_transient_status(self.status()) && self.asked_seconds().is_none_or(|seconds| seconds <= MAX_RETRY_AFTER)
    }

    /// Returns the answer if it is a success or a redirect.
    ///
    /// # Errors
    /// If it is a refusal, with the API's own words.
    pub fn success(self, action: &str) -> Result<Self> {
        if self.status() < 400 { Ok(self) } else { Err(self.refusal().error(action)) }
    }

    /// Returns an answer of the storage if it is a success.
    ///
    /// # Errors
    /// If it is none.
    pub(super) fn stored(self, action: &str) -> Result<Self> {
        if self.status() < 300 {
            return Ok(self);
        }
        let refusal = self.refusal();
        let reason = format!("{action}: the storage answers {}: {}", refusal.status, shortened(&refusal.text));
        Err(CommandError::new(Exit::Failed, reason).with_api_error(refusal.api_error("storage")).into())
    }

    /// Reads the refusal.
    pub(super) fn refusal(mut self) -> Refusal {
        let (is_transient, retry_after) = (self.is_transient(), self.retry_after());
        let text = self.response.body_mut().read_to_string().unwrap_or_default();
        let problem = serde_json::from_str(&text).unwrap_or_default();
        Refusal { status: self.status(), problem, text, is_transient, retry_after }
    }

    /// Parses the body.
    ///
    /// # Errors
    /// [`Transient`] if the answer ends early; or if it is not the expected JSON.
    pub fn json<T: DeserializeOwned>(self, action: &str) -> Result<T> {
        let text = self.into_body().with_config().limit(u64::MAX).read_to_string();
        let text = text.map_err(|error| Transient(format!("{action}: the answer ends early: {error}")))?;
        serde_json::from_str(&text)
            .with_context(|| format!("{action}: the answer is not the expected JSON: {}", shortened(&text)))
    }

    /// Returns the body.
    pub fn into_body(self) -> Body {
        self.response.into_body()
    }
}

/// A refusal of the API, as a problem of RFC 9457, or of the storage.
pub(super) struct Refusal {
    status: u16,
    problem: Value,
    text: String,
    is_transient: bool,
    retry_after: Option<Duration>,
}

impl Refusal {
    /// Returns true if a member of the request is refused with this code.
    pub(super) fn has_code(&self, code: &str) -> bool {
        self.errors().iter().any(|error| error["code"] == code)
    }

    /// Returns true if the problem is of this kind, such as `already-uploaded`.
    pub(super) fn is_kind(&self, kind: &str) -> bool {
        self.kind() == Some(kind)
    }

    fn kind(&self) -> Option<&str> {
        self.problem["type"].as_str()?.rsplit('/').next()
    }

    /// Returns the error. `action` describes the call.
    pub(super) fn error(&self, action: &str) -> anyhow::Error {
        let exit = if matches!(self.status, 401 | 403) { Exit::NotSignedIn } else { Exit::Failed };
        CommandError::new(exit, format!("{action}: {}", self.describe()))
            .with_api_error(self.api_error("status"))
            .into()
    }

    /// Returns the refusal for programs. `source` is the first word of the kind of one that is no problem of the API.
    fn api_error(&self, source: &str) -> ApiError {
        let codes = self.errors().iter().filter_map(|error| error["code"].as_str()).map(str::to_owned);
        ApiError {
            kind: self.kind().map_or_else(|| format!("{source}-{}", self.status), str::to_owned),
            codes: codes.collect(),
            status: self.status,
            is_transient: self.is_transient,
            retry_after: self.retry_after,
        }
    }

    fn errors(&self) -> &[Value] {
        self.problem["errors"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// Describes the refusal: by its detail, and each wrong member of the request.
    fn describe(&self) -> String {
        if self.status == 401 {
            return "not signed in, or the token is invalid or expired: sign in with `longshore login`".to_owned();
        }
        let Some(detail) = self.problem["detail"].as_str().or(self.problem["message"].as_str()) else {
            return format!("the API answers {}: {}", self.status, shortened(&self.text));
        };
        let mut message = detail.to_owned();
        for error in self.errors().iter().take(SHOWN) {
            let of = |name: &str| error[name].as_str().unwrap_or_default();
            message.push_str(&format!("\n  {} {}: {}", of("pointer"), of("code"), of("detail")));
        }
        if self.errors().len() > SHOWN {
            message.push_str(&format!("\n  and {} more", self.errors().len() - SHOWN));
        }
        message
    }
}

/// Returns true if a call whose answer has this status can succeed later.
pub(crate) fn is_transient_status(status: u16) -> bool {
    status == 429 || status >= 500
}

fn shortened(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::refused::is_refused_with;

    /// Returns an answer without a body.
    pub(crate) fn answer(status: u16, retry_after: Option<&str>) -> Answer {
        let response = retry_after
            .into_iter()
            .fold(Response::builder().status(status), |response, seconds| response.header("retry-after", seconds));
        Answer { response: response.body(Body::builder().data("")).unwrap() }
    }

    fn describe(status: u16, problem: Value, text: &str) -> String {
        refusal(status, problem, text).describe()
    }

    fn refusal(status: u16, problem: Value, text: &str) -> Refusal {
        Refusal { status, problem, text: text.to_owned(), is_transient: false, retry_after: None }
    }

    #[test]
    fn a_delay_above_the_longest_one_makes_a_refusal_final() {
        for (status, asked, expected) in [
            (429, Some("300"), true),
            (429, Some("301"), false),
            (503, Some("39600"), false),
            (429, Some("soon"), true),
            (503, None, true),
            (404, Some("1"), false),
        ] {
            assert_eq!(answer(status, asked).is_transient(), expected, "{status} {asked:?}");
        }
        assert_eq!(answer(200, Some("39600")).retry_after(), Some(Duration::from_secs(MAX_RETRY_AFTER)));
        assert!(!answer(429, Some("39600")).refusal().is_transient);
    }

    #[test]
    fn a_refusal_has_a_kind() {
        let kind = |status, problem| refusal(status, problem, "").api_error("status").kind;
        assert_eq!(kind(429, json!({ "type": "/api/problems/rate-limited" })), "rate-limited");
        assert_eq!(kind(429, json!({ "message": "Too Many Requests" })), "status-429");
        let problem = json!({ "type": "/api/problems/invalid", "errors": [{ "code": "unknown_file" }] });
        assert!(is_refused_with(&refusal(422, problem, "").error("creating"), "unknown_file"));
    }

    #[test]
    fn a_refusal_says_what_is_wrong_and_where() {
        let error = json!({ "pointer": "/options/key", "code": "missing_option", "detail": "key is required" });
        let problem = json!({ "detail": "the request is invalid", "errors": [error] });
        let expected = "the request is invalid\n  /options/key missing_option: key is required";
        assert_eq!(describe(422, problem, ""), expected);
        let many = json!({ "detail": "d", "errors": vec![json!({}); 12] });
        assert!(describe(422, many, "").ends_with("and 2 more"));
        assert_eq!(describe(502, Value::Null, "<html>"), "the API answers 502: <html>");
        assert_eq!(describe(403, json!({ "message": "Forbidden" }), ""), "Forbidden");
        assert!(describe(401, Value::Null, "").contains("longshore login"));
    }
}
