//! The client, and the calls for jobs, results and records.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use ureq::http::Request;
use ureq::{Agent, AsSendBody, Body};
use uuid::Uuid;

use super::again::{Again, Fault, Waits};
use super::answer::Answer;
use super::documents::{CostEstimate, ImportOptions, Job, Output, Page};
use super::http::{agent, no_answer, time_left};
use super::tokens::{Fixed, Tokens};

/// Delay before the next poll if the API asks for none.
const DEFAULT_POLL: Duration = Duration::from_secs(1);

/// A client of one deployment.
pub struct Api {
    base: String,
    pub(super) agent: Agent,
    tokens: Box<dyn Tokens>,
    waits: Waits,
}

/// A job's document, and the delay before the next poll that the API asks for.
pub struct JobResponse {
    /// The document.
    pub job: Job,
    /// Delay before the next poll.
    pub retry_after: Duration,
}

/// A call to a path or URL of the API.
#[derive(Copy, Clone)]
struct Call<'a> {
    method: &'a str,
    path: &'a str,
    headers: &'a [(&'a str, &'a str)],
    body: Option<&'a Value>,
    /// Time at which the call ends without an answer, if that is before the usual limits.
    until: Option<Instant>,
}

impl Api {
    /// Creates a client. `token` is required unless the API is open.
    pub fn new(base: &str, token: Option<&str>) -> Self {
        Self::signed_in(base, Box::new(Fixed(token.map(str::to_owned))))
    }

    /// Creates a client of a user who has signed in.
    pub fn signed_in(base: &str, tokens: Box<dyn Tokens>) -> Self {
        let base = base.trim_end_matches('/').to_owned();
        Self { agent: agent(&base), base, tokens, waits: Waits::default() }
    }

    /// Sends a request to a path or URL of the API once. Returns the answer, whatever its status is. A token that is
    /// refused is renewed once.
    ///
    /// # Errors
    /// If there is no answer ([`Transient`](super::Transient)), or the user has to sign in again.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Result<Answer> {
        self.call(&Call { method, path, headers, body, until: None })
    }

    /// Reads a path or URL of the API once. An answer that has not come at `until` is lost.
    ///
    /// # Errors
    /// Like [`Api::send`].
    pub(crate) fn read_until(&self, path: &str, until: Option<Instant>) -> Result<Answer> {
        self.call(&Call { method: "GET", path, headers: &[], body: None, until })
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer> {
        let token = self.tokens.token(&self.agent, call.until)?;
        let answer = self.call_with(token.as_deref(), call)?;
        if answer.status() != 401 {
            return Ok(answer);
        }
        let renew = |refused: String| self.tokens.renewed(&self.agent, &refused, call.until);
        match token.map(renew).transpose()?.flatten() {
            Some(renewed) => self.call_with(Some(&renewed), call),
            None => Ok(answer),
        }
    }

    fn call_with(&self, token: Option<&str>, call: &Call<'_>) -> Result<Answer> {
        let url = self.absolute(call.path);
        // No other server gets the token.
        let is_own = url.strip_prefix(&self.base).is_some_and(|path| path.starts_with('/'));
        let mut request = Request::builder().method(call.method).uri(url);
        if let Some(token) = token.filter(|_| is_own) {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in call.headers {
            request = request.header(*name, *value);
        }
        match call.body {
            Some(body) => {
                let request = request.header("content-type", "application/json");
                self.run(request.body(serde_json::to_vec(body)?)?, call.until)
            }
            // Without a body, the length of a POST would not be known.
            None if call.method == "POST" => self.run(request.body(Vec::new())?, call.until),
            None => self.run(request.body(())?, call.until),
        }
    }

    fn run<B: AsSendBody>(&self, request: Request<B>, until: Option<Instant>) -> Result<Answer> {
        let response = match time_left(until) {
            None => self.agent.run(request),
            left => self.agent.run(self.agent.configure_request(request).timeout_global(left).build()),
        };
        Ok(Answer { response: response.map_err(|error| no_answer(&self.base, &error))? })
    }

    /// Sends a request that is harmless twice, again after faults that may pass: a read, a call with an idempotency key,
    /// or one whose effect the state of its object makes once, such as a cancel.
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
        self.try_again(Again::AfterFaults, &Call { method, path, headers, body, until: None }, action)
    }

    /// Sends any other request that changes something. It is sent again only if it is throttled with 429, because then
    /// nothing was done. After 503 or a lost answer, it may have been done.
    ///
    /// # Errors
    /// If it fails for good, or is throttled too often.
    pub fn change(&self, method: &str, path: &str, body: Option<&Value>, action: &str) -> Result<Answer> {
        self.try_again(Again::AfterThrottling, &Call { method, path, headers: &[], body, until: None }, action)
    }

    fn try_again(&self, again: Again, call: &Call<'_>, action: &str) -> Result<Answer> {
        let mut tries = 0;
        loop {
            let result = self.call(call);
            tries += 1;
            let Some(delay) = again.delay(tries, &result) else { return result.context(action.to_owned()) };
            self.announce_wait(&Fault::of_result(&result), delay);
            sleep(delay);
        }
    }

    /// Tells the user that a call waits for its next try, if that takes long.
    pub(crate) fn announce_wait(&self, fault: &Fault, delay: Duration) {
        self.waits.announce(fault, delay);
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

    /// Sends JSON, or nothing, like [`Api::change`], and reads JSON.
    ///
    /// # Errors
    /// If the API refuses the call. `action` describes the call in errors.
    pub fn post(&self, path: &str, body: Option<&Value>, action: &str) -> Result<Value> {
        self.change("POST", path, body, action)?.success(action)?.json(action)
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

    /// Cancels the job at `url`. A job that is being canceled stays so.
    pub fn cancel(&self, url: &str) -> Result<()> {
        let action = "canceling the job";
        self.repeat("POST", &format!("{url}/cancel"), &[], None, action)?.success(action).map(drop)
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
