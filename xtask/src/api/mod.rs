//! Longshore's HTTP API as a browser uses it: four calls, and one to read records back.

use super::Mode;
use super::source::Source;
use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::time::Duration;
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body};

/// A client of one deployment.
pub(super) struct Api {
    base: String,
    agent: Agent,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Upload {
    file_guid: String,
    method: String,
    url: String,
    headers: BTreeMap<String, String>,
}

/// `options` of an import.
#[derive(Serialize)]
pub(super) struct ImportOptions {
    pub(super) dataset: String,
    pub(super) key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) schema: Option<serde_json::Value>,
    pub(super) mode: Mode,
}

/// The part of a job document that the demo looks at.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Job {
    pub(super) job_id: String,
    pub(super) status: String,
    pub(super) message: String,
    pub(super) item_count: u64,
    pub(super) item_count_final: bool,
    pub(super) item_progress: u64,
    pub(super) counts: Counts,
    pub(super) percent: u64,
    pub(super) items_per_second: Option<f64>,
    pub(super) eta_seconds: Option<f64>,
    pub(super) error: Option<serde_json::Value>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq, Debug)]
pub(super) struct Counts {
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
    /// Only in a result: rows that were never tried.
    #[serde(default)]
    pub(super) unprocessed: u64,
}

/// The result document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    pub(super) item_count: u64,
    pub(super) counts: Counts,
    #[serde(default)]
    pub(super) timings: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    pub(super) files: BTreeMap<String, Option<ReportFile>>,
}

#[derive(Clone, Deserialize)]
pub(super) struct ReportFile {
    pub(super) url: String,
}

/// A page of records.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page {
    pub(super) records: Vec<Record>,
    pub(super) next_cursor: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Record {
    pub(super) key: String,
}

/// A status document and how long the API asks to wait before the next.
pub(super) struct Polled {
    pub(super) job: Job,
    pub(super) wait: Duration,
}

impl Api {
    pub(super) fn new(base: &str) -> Self {
        let config = Agent::config_builder()
            .proxy(None)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .build();
        Self { base: base.to_owned(), agent: Agent::new_with_config(config) }
    }

    /// Asks for an upload and puts the file straight into the bucket. Returns its id.
    pub(super) fn upload(&self, source: &Source) -> Result<String> {
        let request = serde_json::json!({
            "fileName": source.name,
            "contentType": source.content_type,
            "size": source.size_bytes,
            "sha256": source.sha256,
        });
        let answer = self.agent.post(format!("{}/api/uploads", self.base)).send_json(request);
        let upload: Upload = read(answer, StatusCode::CREATED, "asking for an upload")?;
        let mut put = ureq::http::Request::builder().method(upload.method.as_str()).uri(&upload.url);
        for (name, value) in &upload.headers {
            put = put.header(name, value);
        }
        if !upload.headers.keys().any(|name| name.eq_ignore_ascii_case("content-length")) {
            put = put.header("content-length", source.size_bytes);
        }
        let answer = self.agent.run(put.body(File::open(&source.path)?)?);
        expect_status(answer, StatusCode::OK, "putting the file into the bucket")?;
        Ok(upload.file_guid)
    }

    /// Creates the job. Returns the URL to poll, which the answer names.
    pub(super) fn create_job(&self, file_guid: &str, options: ImportOptions) -> Result<String> {
        let request = serde_json::json!({ "jobType": "import", "fileGuid": file_guid, "options": options });
        let answer = self.agent.post(format!("{}/api/jobs", self.base)).send_json(request);
        let answer = expect_status(answer, StatusCode::ACCEPTED, "creating the job")?;
        let location = header(&answer, "location").context("the answer to creating a job has no Location")?;
        Ok(self.absolute(&location))
    }

    /// Reads the job at `url`, as [`Api::create_job`] returned it.
    pub(super) fn poll(&self, url: &str) -> Result<Polled> {
        let answer = expect_status(self.agent.get(url).call(), StatusCode::OK, "reading the job")?;
        let wait = header(&answer, "retry-after").and_then(|seconds| seconds.parse().ok());
        let job = read(Ok(answer), StatusCode::OK, "reading the job")?;
        Ok(Polled { job, wait: Duration::from_secs(wait.unwrap_or(1)) })
    }

    pub(super) fn output(&self, job_id: &str) -> Result<Output> {
        let url = format!("{}/api/jobs/{job_id}/output", self.base);
        read(self.agent.get(url).call(), StatusCode::OK, "reading the result")
    }

    /// Follows a presigned link of the result.
    pub(super) fn download(&self, url: &str, what: &str) -> Result<Body> {
        let answer = self.agent.get(self.absolute(url)).call();
        Ok(expect_status(answer, StatusCode::OK, what)?.into_body())
    }

    pub(super) fn records(&self, dataset: &str, limit: u32, cursor: Option<&str>) -> Result<Page> {
        let url = format!("{}/api/datasets/{dataset}/records", self.base);
        let mut request = self.agent.get(url).query("limit", limit.to_string());
        if let Some(cursor) = cursor {
            request = request.query("cursor", cursor);
        }
        read(request.call(), StatusCode::OK, "reading records")
    }

    pub(super) fn has_records(&self, dataset: &str) -> Result<bool> {
        Ok(!self.records(dataset, 1, None)?.records.is_empty())
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
