//! The client, and the calls for jobs, results and records.

use std::borrow::Cow;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use ureq::http::Request;
use ureq::{Agent, Body, Proxy};
use url::Url;

use super::answer::{Answer, NoAnswer};
use super::documents::{ImportOptions, Job, Output, Page};
use crate::connection::Session;

/// Time in which a connection is made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Time in which an answer begins: longer than the API's own limit of 30 s.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// Delay before the next poll if the API asks for none.
const DEFAULT_POLL: Duration = Duration::from_secs(1);

/// A client of one deployment.
pub struct Api {
    base: String,
    pub(super) agent: Agent,
    credentials: Credentials,
}

/// The user of the API.
enum Credentials {
    /// A token; `None` if the API is open.
    Token(Option<String>),
    /// A session whose tokens are renewed.
    Session(Box<Session>),
}

/// A job's document, and the delay before the next poll that the API asks for.
pub struct JobResponse {
    /// The document.
    pub job: Job,
    /// Delay before the next poll.
    pub retry_after: Duration,
}

/// Returns an HTTP client for a deployment. A proxy of the environment is used, but not on the way to this machine.
pub(crate) fn agent(base: &str) -> Agent {
    let host = Url::parse(base).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let is_here = matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]");
    let config = Agent::config_builder()
        .proxy(if is_here { None } else { Proxy::try_from_env() })
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_recv_response(Some(RESPONSE_TIMEOUT))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false);
    Agent::new_with_config(config.build())
}

impl Api {
    /// Creates a client. `token` is required unless the API is open.
    pub fn new(base: &str, token: Option<&str>) -> Self {
        Self::with(base, Credentials::Token(token.map(str::to_owned)))
    }

    /// Creates a client of a user who has signed in.
    pub(crate) fn signed_in(base: &str, session: Session) -> Self {
        Self::with(base, Credentials::Session(Box::new(session)))
    }

    fn with(base: &str, credentials: Credentials) -> Self {
        let base = base.trim_end_matches('/').to_owned();
        Self { agent: agent(&base), base, credentials }
    }

    /// Sends a request to a path or URL of the API. Returns the answer, whatever its status is.
    ///
    /// # Errors
    /// If there is no answer, or the user has to sign in again.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Result<Answer> {
        let url = self.absolute(path);
        let is_own = url.strip_prefix(&self.base).is_some_and(|path| path.starts_with('/'));
        let mut request = Request::builder().method(method).uri(url);
        // No other server gets the token.
        if let Some(token) = self.token()?.filter(|_| is_own) {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = match body {
            Some(body) => {
                self.agent.run(request.header("content-type", "application/json").body(serde_json::to_vec(body)?)?)
            }
            None => self.agent.run(request.body(())?),
        };
        Ok(Answer { response: response.map_err(|error| NoAnswer { url: self.base.clone(), error: Box::new(error) })? })
    }

    /// Reads JSON.
    ///
    /// # Errors
    /// If the API refuses the call. `action` describes the call in errors.
    pub fn get(&self, path: &str, action: &str) -> Result<Value> {
        self.send("GET", path, &[], None)?.success(action)?.json(action)
    }

    /// Sends JSON, or nothing, and reads JSON.
    ///
    /// # Errors
    /// If the API refuses the call. `action` describes the call in errors.
    pub fn post_json(&self, path: &str, body: Option<&Value>, action: &str) -> Result<Value> {
        self.send("POST", path, &[], body)?.success(action)?.json(action)
    }

    fn token(&self) -> Result<Option<Cow<'_, str>>> {
        match &self.credentials {
            Credentials::Token(token) => Ok(token.as_deref().map(Cow::Borrowed)),
            Credentials::Session(session) => Ok(session.token(&self.agent)?.map(Cow::Owned)),
        }
    }

    /// Creates an import job. Returns the URL to poll.
    pub fn create_job(&self, file_guid: &str, options: ImportOptions, priority: &str) -> Result<String> {
        self.create(&json!({
            "jobType": "import", "fileGuid": file_guid, "priority": priority, "options": options,
        }))
    }

    /// Creates a job of any type. Returns the URL to poll.
    pub fn create(&self, request: &Value) -> Result<String> {
        let action = "creating the job";
        let answer = self.send("POST", "/api/jobs", &[], Some(request))?.success(action)?;
        let location = answer.header("location").with_context(|| format!("{action}: the answer has no Location"))?;
        Ok(self.absolute(location))
    }

    /// Reads the job at `url`, as returned by [`Api::create_job`].
    pub fn poll(&self, url: &str) -> Result<JobResponse> {
        let action = "reading the job";
        let answer = self.send("GET", url, &[], None)?.success(action)?;
        let retry_after = answer.retry_after().unwrap_or(DEFAULT_POLL);
        Ok(JobResponse { job: answer.json(action)?, retry_after })
    }

    /// Cancels the job at `url`.
    pub fn cancel(&self, url: &str) -> Result<()> {
        self.send("POST", &format!("{url}/cancel"), &[], None)?.success("canceling the job").map(drop)
    }

    /// Reads any URL of the API, unless its ETag is still `etag`. Returns the status and the ETag.
    pub fn read(&self, url: &str, etag: Option<&str>) -> Result<(u16, String)> {
        let condition = etag.map(|etag| ("if-none-match", etag));
        let answer = self.send("GET", url, condition.as_slice(), None)?;
        Ok((answer.status(), answer.header("etag").unwrap_or_default().to_owned()))
    }

    /// Reads the result of a job.
    pub fn output(&self, job_id: &str) -> Result<Output> {
        let action = "reading the result";
        self.send("GET", &format!("/api/jobs/{job_id}/output"), &[], None)?.success(action)?.json(action)
    }

    /// Downloads a file of a job's result by its name. The API redirects to a presigned URL.
    pub fn result_file(&self, job_id: &str, name: &str) -> Result<Body> {
        self.file(&format!("/api/jobs/{job_id}/output/{name}"), &format!("downloading {name}"))
    }

    /// Downloads the file at a path of the API, which returns it or redirects to a presigned URL.
    pub fn file(&self, path: &str, action: &str) -> Result<Body> {
        let answer = self.send("GET", path, &[], None)?.success(action)?;
        match answer.header("location") {
            Some(location) if answer.status() == 303 => self.download(location, action),
            _ => Ok(answer.into_body()),
        }
    }

    /// Downloads from a presigned URL of the result. `action` describes the call in errors.
    pub fn download(&self, url: &str, action: &str) -> Result<Body> {
        let response = self.agent.get(self.absolute(url)).call();
        let response = response.map_err(|error| NoAnswer { url: "the storage".to_owned(), error: Box::new(error) })?;
        Ok(Answer { response }.success(action)?.into_body())
    }

    /// Reads a page of the records of a dataset.
    pub fn records(&self, dataset: &str, limit: u32, cursor: Option<&str>) -> Result<Page> {
        let action = "reading records";
        let cursor = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let path = format!("/api/datasets/{dataset}/records?limit={limit}{cursor}");
        self.send("GET", &path, &[], None)?.success(action)?.json(action)
    }

    /// Returns true if the dataset has records.
    pub fn has_records(&self, dataset: &str) -> Result<bool> {
        Ok(!self.records(dataset, 1, None)?.records.is_empty())
    }

    /// Returns the URL of a path of the API; a URL stays as it is.
    pub fn absolute(&self, url: &str) -> String {
        if url.starts_with('/') { format!("{}{url}", self.base) } else { url.to_owned() }
    }
}
