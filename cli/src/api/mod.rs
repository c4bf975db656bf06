//! A client of Longshore's HTTP API as a browser uses it: four calls, and one to read records back.

mod documents;
mod upload;

pub use documents::{ImportOptions, Job, Mode, Output, Page};
pub use upload::LocalFile;

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use std::time::Duration;
use ureq::http::{Response, StatusCode};
use ureq::typestate::{WithBody, WithoutBody};
use ureq::{Agent, Body, RequestBuilder};

/// A client of one deployment.
pub struct Api {
    base: String,
    agent: Agent,
    /// The `Authorization` header, sent to the API only; empty if the API is open.
    bearer: String,
}

/// A status document, and the delay before the next poll that the API asks for.
pub struct Polled {
    /// The document.
    pub job: Job,
    /// Delay before the next poll.
    pub wait: Duration,
}

impl Api {
    /// Creates a client with this token, if the API needs one.
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

    /// Creates the job. Returns the URL to poll, from the response.
    pub fn create_job(&self, file_guid: &str, options: ImportOptions, priority: &str) -> Result<String> {
        let request = serde_json::json!({
            "jobType": "import", "fileGuid": file_guid, "priority": priority, "options": options,
        });
        let answer = self.post("/api/jobs").send_json(request);
        let answer = expect_status(answer, StatusCode::ACCEPTED, "creating the job")?;
        let location = header(&answer, "location").context("the answer to creating a job has no Location")?;
        Ok(self.absolute(&location))
    }

    /// Reads the job at `url`, as returned by [`Api::create_job`].
    pub fn poll(&self, url: &str) -> Result<Polled> {
        let answer = expect_status(self.get(url).call(), StatusCode::OK, "reading the job")?;
        let wait = header(&answer, "retry-after").and_then(|seconds| seconds.parse().ok());
        let job = read(Ok(answer), StatusCode::OK, "reading the job")?;
        Ok(Polled { job, wait: Duration::from_secs(wait.unwrap_or(1)) })
    }

    /// Cancels the job at `url`.
    pub fn cancel(&self, url: &str) -> Result<()> {
        let request = self.agent.post(format!("{url}/cancel"));
        let request = if self.bearer.is_empty() { request } else { request.header("authorization", &self.bearer) };
        expect_status(request.send_empty(), StatusCode::ACCEPTED, "canceling the job").map(|_| ())
    }

    /// Reads any URL of the API. Returns the status and the ETag.
    pub fn read(&self, url: &str, known: Option<&str>) -> Result<(u16, String)> {
        let mut request = self.get(&self.absolute(url));
        if let Some(tag) = known {
            request = request.header("if-none-match", tag);
        }
        let answer = request.call().with_context(|| format!("reading {url} got no answer"))?;
        Ok((answer.status().as_u16(), header(&answer, "etag").unwrap_or_default()))
    }

    /// Reads the result of a job.
    pub fn output(&self, job_id: &str) -> Result<Output> {
        let url = format!("{}/api/jobs/{job_id}/output", self.base);
        read(self.get(&url).call(), StatusCode::OK, "reading the result")
    }

    /// Follows a presigned link of the result.
    pub fn download(&self, url: &str, what: &str) -> Result<Body> {
        let answer = self.agent.get(self.absolute(url)).call();
        Ok(expect_status(answer, StatusCode::OK, what)?.into_body())
    }

    /// Reads a page of the records of a dataset.
    pub fn records(&self, dataset: &str, limit: u32, cursor: Option<&str>) -> Result<Page> {
        let url = format!("{}/api/datasets/{dataset}/records", self.base);
        let mut request = self.get(&url).query("limit", limit.to_string());
        if let Some(cursor) = cursor {
            request = request.query("cursor", cursor);
        }
        read(request.call(), StatusCode::OK, "reading records")
    }

    /// Returns true if the dataset has records.
    pub fn has_records(&self, dataset: &str) -> Result<bool> {
        Ok(!self.records(dataset, 1, None)?.records.is_empty())
    }

    /// A call of the API itself. Presigned links contain their authorization, and reject a second one.
    fn get(&self, url: &str) -> RequestBuilder<WithoutBody> {
        let request = self.agent.get(url);
        if self.bearer.is_empty() { request } else { request.header("authorization", &self.bearer) }
    }

    fn post(&self, path: &str) -> RequestBuilder<WithBody> {
        let request = self.agent.post(format!("{}{path}", self.base));
        if self.bearer.is_empty() { request } else { request.header("authorization", &self.bearer) }
    }

    fn absolute(&self, url: &str) -> String {
        if url.starts_with('/') { format!("{}{url}", self.base) } else { url.to_owned() }
    }
}

fn header(answer: &Response<Body>, name: &str) -> Option<String> {
    Some(answer.headers().get(name)?.to_str().ok()?.to_owned())
}

type Answer = Result<Response<Body>, ureq::Error>;

fn expect_status(answer: Answer, status: StatusCode, what: &str) -> Result<Response<Body>> {
    let mut answer = answer.with_context(|| format!("{what} got no answer"))?;
    if answer.status() != status {
        let body = answer.body_mut().read_to_string().unwrap_or_default();
        bail!("{what}: {} in place of {status}: {body}", answer.status());
    }
    Ok(answer)
}

fn read<T: DeserializeOwned>(answer: Answer, status: StatusCode, what: &str) -> Result<T> {
    let text = expect_status(answer, status, what)?.into_body().with_config().limit(u64::MAX).read_to_string()?;
    serde_json::from_str(&text).with_context(|| format!("{what}: cannot make sense of {text}"))
}
