//! The client, and the calls for jobs, results and records.

use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use ureq::http::Request;
use ureq::{Agent, Body};
use uuid::Uuid;

use super::answer::Answer;
use super::documents::{CostEstimate, ImportOptions, Job, Output, Page};
use super::http::{Transient, agent, no_answer};

/// Delay before the next poll if the API asks for none.
const DEFAULT_POLL: Duration = Duration::from_secs(1);

/// Number of times that a call is tried which is harmless twice.
const TRIES: u32 = 5;

/// Delay before the second try; doubled for each further one.
const BACK_OFF: Duration = Duration::from_millis(500);

/// The tokens of a user.
pub trait Tokens: Send + Sync {
    /// Returns a token that is valid for the next call; `None` if the API is open.
    ///
    /// # Errors
    /// If the user has to sign in again, or the issuer does not answer.
    fn token(&self, agent: &Agent) -> Result<Option<String>>;

    /// Returns a new token in place of one that the API has refused; `None` if there is none.
    ///
    /// # Errors
    /// Like [`Tokens::token`].
    fn renewed(&self, agent: &Agent, refused: &str) -> Result<Option<String>>;
}

/// A token that cannot be renewed.
struct Fixed(Option<String>);

impl Tokens for Fixed {
    fn token(&self, _: &Agent) -> Result<Option<String>> {
        Ok(self.0.clone())
    }

    fn renewed(&self, _: &Agent, _: &str) -> Result<Option<String>> {
        Ok(None)
    }
}

/// A client of one deployment.
pub struct Api {
    base: String,
    pub(super) agent: Agent,
    tokens: Box<dyn Tokens>,
}

/// A job's document, and the delay before the next poll that the API asks for.
pub struct JobResponse {
    /// The document.
    pub job: Job,
    /// Delay before the next poll.
    pub retry_after: Duration,
}

impl Api {
    /// Creates a client. `token` is required unless the API is open.
    pub fn new(base: &str, token: Option<&str>) -> Self {
        Self::signed_in(base, Box::new(Fixed(token.map(str::to_owned))))
    }

    /// Creates a client of a user who has signed in.
    pub fn signed_in(base: &str, tokens: Box<dyn Tokens>) -> Self {
        let base = base.trim_end_matches('/').to_owned();
        Self { agent: agent(&base), base, tokens }
    }

    /// Sends a request to a path or URL of the API. Returns the answer, whatever its status is. A token that is refused
    /// is renewed once.
    ///
    /// # Errors
    /// If there is no answer ([`Transient`]), or the user has to sign in again.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Result<Answer> {
        let token = self.tokens.token(&self.agent)?;
        let answer = self.send_with(token.as_deref(), method, path, headers, body)?;
        if answer.status() != 401 {
            return Ok(answer);
        }
        match token.map(|refused| self.tokens.renewed(&self.agent, &refused)).transpose()?.flatten() {
            Some(renewed) => self.send_with(Some(&renewed), method, path, headers, body),
            None => Ok(answer),
        }
    }

    fn send_with(
        &self,
        token: Option<&str>,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Answer> {
        let url = self.absolute(path);
        // No other server gets the token.
        let is_own = url.strip_prefix(&self.base).is_some_and(|path| path.starts_with('/'));
        let mut request = Request::builder().method(method).uri(url);
        if let Some(token) = token.filter(|_| is_own) {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = match body {
            Some(body) => {
                self.agent.run(request.header("content-type", "application/json").body(serde_json::to_vec(body)?)?)
            }
            // Without a body, the length of a POST would not be known.
            None if method == "POST" => self.agent.run(request.body(Vec::new())?),
            None => self.agent.run(request.body(())?),
        };
        Ok(Answer { response: response.map_err(|error| no_answer(&self.base, &error))? })
    }

    /// Sends a request that is harmless twice, again after faults that may pass.
    ///
    /// # Errors
    /// If it fails for good, or too often.
    pub fn repeat(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
        action: &str,
    ) -> Result<Answer> {
        let mut retry = 0;
        loop {
            let last = retry + 1 == TRIES;
            let delay = match self.send(method, path, headers, body) {
                Ok(answer) if answer.is_transient() && !last => answer.retry_after(),
                Ok(answer) => return Ok(answer),
                Err(error) if error.is::<Transient>() && !last => None,
                Err(error) => return Err(error).context(action.to_owned()),
            };
            sleep(delay.unwrap_or(BACK_OFF * 2_u32.pow(retry)));
            retry += 1;
        }
    }

    /// Reads JSON.
    ///
    /// # Errors
    /// If the API refuses the call. `action` describes the call in errors.
    pub fn get(&self, path: &str, action: &str) -> Result<Value> {
        self.read_json(path, action)
    }

    fn read_json<T: DeserializeOwned>(&self, path: &str, action: &str) -> Result<T> {
        self.repeat("GET", path, &[], None, action)?.success(action)?.json(action)
    }

    /// Sends JSON, or nothing, once, and reads JSON.
    ///
    /// # Errors
    /// If the API refuses the call. `action` describes the call in errors.
    pub fn post(&self, path: &str, body: Option<&Value>, action: &str) -> Result<Value> {
        self.send("POST", path, &[], body)?.success(action)?.json(action)
    }

    /// Creates an import job. Returns the URL to poll.
    pub fn create_job(&self, file_guid: &str, options: ImportOptions, priority: &str) -> Result<String> {
        self.create(&json!({
            "jobType": "import", "fileGuid": file_guid, "priority": priority, "options": options,
        }))
    }

    /// Creates a job of any type, once, although the call can be repeated. Returns the URL to poll.
    pub fn create(&self, request: &Value) -> Result<String> {
        self.create_estimated(request).map(|(url, _)| url)
    }

    /// Same as [`Api::create`]. Also returns the estimated cost, if the answer has one.
    pub fn create_estimated(&self, request: &Value) -> Result<(String, Option<CostEstimate>)> {
        let action = "creating the job";
        let key = Uuid::new_v4().to_string();
        let answer = self.repeat("POST", "/api/jobs", &[("idempotency-key", &key)], Some(request), action);
        self.created(answer.context("the job may exist: see `longshore jobs list`")?, action)
    }

    /// Sends the request for a job, without a repetition. Another call with the same key creates no second job. Returns
    /// the URL to poll.
    pub(crate) fn create_once(&self, request: &Value, key: &str) -> Result<String> {
        let answer = self.send("POST", "/api/jobs", &[("idempotency-key", key)], Some(request))?;
        self.created(answer, "creating the job").map(|(url, _)| url)
    }

    /// Returns the URL of a job and its estimated cost from the answer to its creation.
    fn created(&self, answer: Answer, action: &str) -> Result<(String, Option<CostEstimate>)> {
        let answer = answer.success(action)?;
        let location = answer.header("location").with_context(|| format!("{action}: the answer has no Location"))?;
        let url = self.absolute(location);
        // The job exists, whatever its document is.
        let job: Value = answer.json(action).unwrap_or_default();
        Ok((url, serde_json::from_value(job["costEstimate"].clone()).ok()))
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
        self.read_json(&format!("/api/jobs/{job_id}/output"), "reading the result")
    }

    /// Downloads a file of a job's result by its name.
    pub fn result_file(&self, job_id: &str, name: &str) -> Result<Body> {
        self.file(&format!("/api/jobs/{job_id}/output/{name}"), &format!("downloading {name}"))
    }

    /// Downloads the file at a path of the API, which returns it or redirects to a presigned URL.
    pub fn file(&self, path: &str, action: &str) -> Result<Body> {
        let answer = self.repeat("GET", path, &[], None, action)?.success(action)?;
        match answer.header("location") {
            Some(location) if answer.status() == 303 => self.download(location, action),
            _ => Ok(answer.into_body()),
        }
    }

    /// Downloads from a presigned URL of the result. `action` describes the call in errors.
    pub fn download(&self, url: &str, action: &str) -> Result<Body> {
        let response = self.agent.get(self.absolute(url)).call();
        let response = response.map_err(|error| no_answer("the storage", &error)).context(action.to_owned())?;
        Ok(Answer { response }.stored(action)?.into_body())
    }

    /// Reads a page of the records of a dataset.
    pub fn records(&self, dataset: &str, limit: u32, cursor: Option<&str>) -> Result<Page> {
        let cursor = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        self.read_json(&format!("/api/datasets/{dataset}/records?limit={limit}{cursor}"), "reading records")
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
