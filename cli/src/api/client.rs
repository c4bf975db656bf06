//! The calls for jobs, results and records.

use super::documents::{ImportOptions, Job, Output, Page};
use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use std::time::Duration;
use ureq::http::{Response, StatusCode};
use ureq::typestate::{WithBody, WithoutBody};
use ureq::{Agent, Body, RequestBuilder};

/// A client of one deployment.
pub struct Api {
    base: String,
    pub(super) agent: Agent,
    /// The `Authorization` header, sent to the API only; empty if the API is open.
    bearer: String,
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
        let config = Agent::config_builder()
            .proxy(None)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .build();
        let bearer = token.map(|token| format!("Bearer {token}")).unwrap_or_default();
        Self { base: base.to_owned(), agent: Agent::new_with_config(config), bearer }
    }

    /// Creates an import job. Returns the URL to poll.
    pub fn create_job(&self, file_guid: &str, options: ImportOptions, priority: &str) -> Result<String> {
        let request = serde_json::json!({
            "jobType": "import", "fileGuid": file_guid, "priority": priority, "options": options,
        });
        let response = self.post("/api/jobs").send_json(request);
        let response = expect_status(response, StatusCode::ACCEPTED, "creating the job")?;
        let location = header(&response, "location").context("creating the job: the response has no Location")?;
        Ok(self.absolute(&location))
    }

    /// Reads the job at `url`, as returned by [`Api::create_job`].
    pub fn poll(&self, url: &str) -> Result<JobResponse> {
        let response = expect_status(self.get(url).call(), StatusCode::OK, "reading the job")?;
        let seconds = header(&response, "retry-after").and_then(|seconds| seconds.parse().ok());
        let job = read_json(Ok(response), StatusCode::OK, "reading the job")?;
        Ok(JobResponse { job, retry_after: Duration::from_secs(seconds.unwrap_or(1)) })
    }

    /// Cancels the job at `url`.
    pub fn cancel(&self, url: &str) -> Result<()> {
        let request = self.authorize(self.agent.post(format!("{url}/cancel")));
        expect_status(request.send_empty(), StatusCode::ACCEPTED, "canceling the job").map(drop)
    }

    /// Reads any URL of the API, unless its ETag is still `etag`. Returns the status and the ETag.
    pub fn read(&self, url: &str, etag: Option<&str>) -> Result<(u16, String)> {
        let mut request = self.get(&self.absolute(url));
        if let Some(etag) = etag {
            request = request.header("if-none-match", etag);
        }
        let response = request.call().with_context(|| format!("reading {url}: no response"))?;
        Ok((response.status().as_u16(), header(&response, "etag").unwrap_or_default()))
    }

    /// Reads the result of a job.
    pub fn output(&self, job_id: &str) -> Result<Output> {
        let url = format!("{}/api/jobs/{job_id}/output", self.base);
        read_json(self.get(&url).call(), StatusCode::OK, "reading the result")
    }

    /// Downloads from a presigned URL of the result. `action` describes the call in errors.
    pub fn download(&self, url: &str, action: &str) -> Result<Body> {
        let response = self.agent.get(self.absolute(url)).call();
        Ok(expect_status(response, StatusCode::OK, action)?.into_body())
    }

    /// Reads a page of the records of a dataset.
    pub fn records(&self, dataset: &str, limit: u32, cursor: Option<&str>) -> Result<Page> {
        let url = format!("{}/api/datasets/{dataset}/records", self.base);
        let mut request = self.get(&url).query("limit", limit.to_string());
        if let Some(cursor) = cursor {
            request = request.query("cursor", cursor);
        }
        read_json(request.call(), StatusCode::OK, "reading records")
    }

    /// Returns true if the dataset has records.
    pub fn has_records(&self, dataset: &str) -> Result<bool> {
        Ok(!self.records(dataset, 1, None)?.records.is_empty())
    }

    /// Starts a call of the API itself. A presigned URL contains its authorization and rejects a second one.
    fn get(&self, url: &str) -> RequestBuilder<WithoutBody> {
        self.authorize(self.agent.get(url))
    }

    pub(super) fn post(&self, path: &str) -> RequestBuilder<WithBody> {
        self.authorize(self.agent.post(format!("{}{path}", self.base)))
    }

    fn authorize<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        if self.bearer.is_empty() { request } else { request.header("authorization", &self.bearer) }
    }

    fn absolute(&self, url: &str) -> String {
        if url.starts_with('/') { format!("{}{url}", self.base) } else { url.to_owned() }
    }
}

fn header(response: &Response<Body>, name: &str) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

type CallResult = Result<Response<Body>, ureq::Error>;

/// Fails unless the response has this status. `action` describes the call in errors.
pub(super) fn expect_status(response: CallResult, expected: StatusCode, action: &str) -> Result<Response<Body>> {
    let mut response = response.with_context(|| format!("{action}: no response"))?;
    let status = response.status();
    if status != expected {
        let body = response.body_mut().read_to_string().unwrap_or_default();
        bail!("{action}: status {status} instead of {expected}: {body}");
    }
    Ok(response)
}

/// Parses the body of a response that has this status.
pub(super) fn read_json<T: DeserializeOwned>(response: CallResult, expected: StatusCode, action: &str) -> Result<T> {
    let mut body = expect_status(response, expected, action)?.into_body();
    let text = body.with_config().limit(u64::MAX).read_to_string()?;
    serde_json::from_str(&text).with_context(|| format!("{action}: the response is not the expected JSON: {text}"))
}
