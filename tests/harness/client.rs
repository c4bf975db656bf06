//! A stack as a browser sees it: the HTTP API and presigned URLs only.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use local_cloud::process::agent;
use longshore::aws_limits::lambda::ANSWER_BYTES;
use serde_json::{Value, json};
use ureq::http::Request;
use ureq::{Agent, Body};

/// Maximum size of a response: larger than any response of a test.
const MAX_ANSWER: u64 = 512 << 20;

/// Name of the header with the idempotency key. Repeated requests with one key have one effect.
pub(super) const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Pause between two attempts of a patient client.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Client of one API.
#[derive(Clone, Debug)]
pub struct Client {
    base: String,
    agent: Agent,
    /// The proxy that the functions sign URLs for, and the endpoint that this client calls instead. Both are URLs
    /// without a trailing slash.
    bypass: Option<(String, String)>,
    /// Access token for the API. It is not sent anywhere else.
    token: Option<String>,
    /// Maximum time for retries of calls without a response or with a server error.
    patience: Duration,
    /// True if every response is compared with the API document of this version.
    checks_contract: bool,
}

/// A response.
#[derive(Clone, Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Headers, by name in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// The body as JSON, or null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The JSON of a response with this status.
    ///
    /// # Errors
    /// If the status is another one.
    pub fn expect(&self, status: u16) -> Result<Value> {
        ensure!(self.status == status, "answered {} instead of {status}: {}", self.status, self.text());
        Ok(self.json())
    }

    /// Pointer and code of the only invalid field of a request: `/options/key invalid_key`.
    pub fn bad_field(&self) -> String {
        let errors = &self.json()["errors"];
        let member = |name: &str| errors[0][name].as_str().unwrap_or_default().to_owned();
        format!("{} {}", member("pointer"), member("code")).trim().to_owned()
    }
}

/// Checks a response of a function or of the gateway against the API document.
fn check_contract(method: &str, path: &str, answer: &Answer) -> Result<()> {
    let headers: Vec<_> = answer.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let (status, body) = (answer.status, answer.body.as_slice());
    let answer = contract::Answer { method, path, status, headers: &headers, body };
    answer.check().map_err(anyhow::Error::msg)
}

impl Client {
    /// A client of the API at this URL.
    pub fn new(base: &str) -> Self {
        let (base, agent, patience) = (base.to_owned(), agent(), Duration::ZERO);
        Self { base, agent, bypass: None, token: None, patience, checks_contract: true }
    }

    /// The same client, signed in: every call of the API has this token, unless the call sets another one.
    #[must_use]
    pub fn with_token(self, token: &str) -> Self {
        Self { token: Some(format!("Bearer {token}")), ..self }
    }

    /// The same client, signed out.
    #[must_use]
    pub fn signed_out(self) -> Self {
        Self { token: None, ..self }
    }

    /// The same client, which calls `endpoint` directly instead of the proxy for which functions sign URLs. The host
    /// name is part of the signature, so a request still names the proxy.
    #[must_use]
    pub fn bypassing(self, proxy: &str, endpoint: &str) -> Self {
        Self { bypass: Some((proxy.to_owned(), endpoint.to_owned())), ..self }
    }

    /// The same client with retries for at most this time. It retries idempotent calls: reads, calls with an
    /// `Idempotency-Key`, and requests for the URLs or the completion of an upload.
    #[must_use]
    pub fn patient(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The same client for functions of several versions: responses of an earlier one are not those of the API document.
    #[must_use]
    pub fn of_any_version(self) -> Self {
        Self { checks_contract: false, ..self }
    }

    /// The URL that paths are appended to, without a trailing slash.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Sends any call. `to` is a path or a complete URL.
    ///
    /// # Errors
    /// If there is no response at all.
    pub fn call(&self, method: &str, to: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Answer> {
        let is_upload_call = to.starts_with("/api/uploads/");
        let is_idempotent =
            method == "GET" || is_upload_call || headers.iter().any(|(name, _)| *name == IDEMPOTENCY_KEY);
        let until = Instant::now() + if is_idempotent { self.patience } else { Duration::ZERO };
        loop {
            let answer = self.call_once(method, to, headers, body);
            let failed = answer.as_ref().map_or(true, |answer| answer.status >= 500);
            if !failed || Instant::now() >= until {
                return answer;
            }
            std::thread::sleep(RETRY_PAUSE);
        }
    }

    fn call_once(&self, method: &str, to: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Answer> {
        let url = if to.starts_with('/') { format!("{}{to}", self.base) } else { to.to_owned() };
        let bypass =
            self.bypass.as_ref().and_then(|(proxy, endpoint)| Some((url.strip_prefix(proxy)?, proxy, endpoint)));
        let mut request = Request::builder().method(method);
        request = match bypass {
            None => request.uri(&url),
            Some((path, proxy, endpoint)) => {
                request.uri(format!("{endpoint}{path}")).header("host", proxy.trim_start_matches("http://"))
            }
        };
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let to_api = url.starts_with(&format!("{}/", self.base));
        let has_token = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        if let Some(token) = self.token.as_ref().filter(|_| to_api && !has_token) {
            request = request.header("authorization", token);
        }
        let answer = if body.is_empty() && matches!(method, "GET" | "HEAD" | "DELETE") {
            self.agent.run(request.body(())?)
        } else {
            self.agent.run(request.body(body)?)
        };
        let answer = read(answer.with_context(|| format!("{method} {to}: no response"))?)?;
        if to_api {
            let bytes = answer.body.len();
            ensure!(bytes <= ANSWER_BYTES, "{method} {to}: a response of {bytes} bytes exceeds the limit of Lambda");
            if self.checks_contract {
                check_contract(method, url.strip_prefix(&self.base).unwrap_or(&url), &answer)?;
            }
        }
        Ok(answer)
    }

    /// `POST` of JSON.
    ///
    /// # Errors
    /// If there is no response at all.
    pub fn post(&self, path: &str, body: &Value) -> Result<Answer> {
        self.call("POST", path, &[("content-type", "application/json")], body.to_string().as_bytes())
    }

    /// `GET`.
    ///
    /// # Errors
    /// If there is no response at all.
    pub fn get(&self, to: &str) -> Result<Answer> {
        self.call("GET", to, &[], &[])
    }

    /// Creates an upload for a file of this size.
    ///
    /// # Errors
    /// If the request is refused.
    pub fn create_upload(&self, name: &str, size: usize, sha256: Option<&str>) -> Result<Value> {
        let content_type = if name.ends_with(".jsonl") { "application/x-ndjson" } else { "text/csv" };
        let mut request = json!({ "fileName": name, "contentType": content_type, "size": size });
        if let Some(sha256) = sha256 {
            request["sha256"] = sha256.into();
        }
        self.post("/api/uploads", &request)?.expect(201)
    }

    /// Uploads bytes to an upload's URL.
    ///
    /// # Errors
    /// If there is no response at all.
    pub fn put(&self, upload: &Value, bytes: &[u8]) -> Result<Answer> {
        let headers = upload["headers"].as_object().context("the upload has no headers")?;
        let headers: Vec<_> =
            headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect();
        self.call("PUT", upload["url"].as_str().context("the upload has no URL")?, &headers, bytes)
    }

    /// Uploads a file. Returns its `fileGuid`.
    ///
    /// # Errors
    /// If any step is refused.
    pub fn upload(&self, name: &str, bytes: &[u8]) -> Result<String> {
        let upload = self.create_upload(name, bytes.len(), None)?;
        self.put_file(&upload, bytes)?;
        Ok(upload["fileGuid"].as_str().context("the upload has no fileGuid")?.to_owned())
    }
}

fn read(mut answer: ureq::http::Response<Body>) -> Result<Answer> {
    let text = |value: &ureq::http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = answer.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
    let body = answer.body_mut().with_config().limit(MAX_ANSWER).read_to_vec()?;
    Ok(Answer { status: answer.status().as_u16(), headers, body })
}
