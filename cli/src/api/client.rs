//! The calls for jobs, results and records, and the upload of a local file directly to the bucket: by one PUT, or in
//! parts if the API requires it.

use super::documents::{ImportOptions, Job, Output, Page};
use anyhow::{Context, Result, bail, ensure};
use data_encoding::HEXLOWER;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;
use ureq::http::{Response, StatusCode};
use ureq::typestate::{WithBody, WithoutBody};
use ureq::{Agent, AsSendBody, Body, RequestBuilder};

/// A client of one deployment.
pub struct Api {
    base: String,
    agent: Agent,
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
        self.create(&json!({
            "jobType": "import", "fileGuid": file_guid, "priority": priority, "options": options,
        }))
    }

    /// Creates a job of any type. Returns the URL to poll.
    pub fn create(&self, request: &Value) -> Result<String> {
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

    /// Downloads a file of a job's result by its name. The API redirects to a presigned URL.
    pub fn result_file(&self, job_id: &str, name: &str) -> Result<Body> {
        let action = format!("downloading {name}");
        let response = self.get(&format!("{}/api/jobs/{job_id}/output/{name}", self.base)).call();
        let response = expect_status(response, StatusCode::SEE_OTHER, &action)?;
        let location = header(&response, "location").with_context(|| format!("{action}: there is no Location"))?;
        self.download(&location, &action)
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

    fn post(&self, path: &str) -> RequestBuilder<WithBody> {
        self.authorize(self.agent.post(format!("{}{path}", self.base)))
    }

    fn authorize<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        if self.bearer.is_empty() { request } else { request.header("authorization", &self.bearer) }
    }

    fn absolute(&self, url: &str) -> String {
        if url.starts_with('/') { format!("{}{url}", self.base) } else { url.to_owned() }
    }
}

/// A local file to upload.
pub struct LocalFile<'a> {
    /// Path.
    pub path: &'a Path,
    /// File name.
    pub name: &'a str,
    /// Media type.
    pub content_type: &'a str,
    /// Size.
    pub size_bytes: u64,
    /// SHA-256, hexadecimal. If set, the bucket accepts no other content.
    pub sha256: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Upload {
    file_guid: String,
    #[serde(flatten)]
    target: Option<Target>,
    #[serde(default)]
    parts: Vec<Part>,
}

/// A presigned URL, and the headers that must be sent with it.
#[derive(Deserialize)]
struct Target {
    url: String,
    headers: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    part_number: u32,
    size: u64,
    #[serde(flatten)]
    target: Option<Target>,
}

impl Api {
    /// Creates an upload and sends the file directly to the bucket. Returns the upload's id.
    pub fn upload(&self, file: &LocalFile<'_>) -> Result<String> {
        let upload = self.create_upload(file)?;
        let mut source = File::open(file.path)?;
        match &upload.target {
            Some(target) => self.put(target, file.size_bytes, source)?,
            None => self.put_parts(&upload, &mut source)?,
        }
        Ok(upload.file_guid)
    }

    /// Creates the upload. Retries without the file's checksum if the API requires an upload in parts, which has a
    /// checksum per part. Only the API knows from which size.
    fn create_upload(&self, file: &LocalFile<'_>) -> Result<Upload> {
        let mut request = json!({ "fileName": file.name, "contentType": file.content_type, "size": file.size_bytes });
        request["sha256"] = file.sha256.into();
        let mut response = self.post("/api/uploads").send_json(&request).context("creating the upload: no response")?;
        if response.status() == StatusCode::UNPROCESSABLE_ENTITY && file.sha256.is_some() {
            let problem: Value = serde_json::from_str(&response.body_mut().read_to_string()?)?;
            ensure!(problem["errors"][0]["code"] == "sha256_not_allowed", "creating the upload: {problem}");
            request["sha256"] = Value::Null;
            response = self.post("/api/uploads").send_json(&request).context("creating the upload: no response")?;
        }
        read_json(Ok(response), StatusCode::CREATED, "creating the upload")
    }

    fn put_parts(&self, upload: &Upload, source: &mut File) -> Result<()> {
        let path = format!("/api/uploads/{}", upload.file_guid);
        for part in &upload.parts {
            let mut bytes = vec![0; usize::try_from(part.size)?];
            source.read_exact(&mut bytes)?;
            let sha256 = HEXLOWER.encode(&Sha256::digest(&bytes));
            let request = json!({ "parts": [{ "partNumber": part.part_number, "sha256": sha256 }] });
            let response = self.post(&format!("{path}/url")).send_json(request);
            let urls: Upload = read_json(response, StatusCode::OK, "requesting the URL of a part")?;
            let target = urls.parts.first().and_then(|part| part.target.as_ref());
            let target = target.context("requesting the URL of a part: the response has none")?;
            self.put(target, part.size, &bytes[..])?;
        }
        let response = self.post(&format!("{path}/complete")).send_empty();
        expect_status(response, StatusCode::OK, "completing the upload").map(drop)
    }

    fn put(&self, target: &Target, size_bytes: u64, body: impl AsSendBody) -> Result<()> {
        let mut put = ureq::http::Request::put(&target.url).header("content-length", size_bytes);
        for (name, value) in &target.headers {
            put = put.header(name, value);
        }
        let response = self.agent.run(put.body(body)?);
        expect_status(response, StatusCode::OK, "sending the file to the bucket").map(drop)
    }
}

fn header(response: &Response<Body>, name: &str) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

type CallResult = Result<Response<Body>, ureq::Error>;

/// Fails unless the response has this status. `action` describes the call in errors.
fn expect_status(response: CallResult, expected: StatusCode, action: &str) -> Result<Response<Body>> {
    let mut response = response.with_context(|| format!("{action}: no response"))?;
    let status = response.status();
    if status != expected {
        let body = response.body_mut().read_to_string().unwrap_or_default();
        bail!("{action}: status {status} instead of {expected}: {body}");
    }
    Ok(response)
}

/// Parses the body of a response that has this status.
fn read_json<T: DeserializeOwned>(response: CallResult, expected: StatusCode, action: &str) -> Result<T> {
    let mut body = expect_status(response, expected, action)?.into_body();
    let text = body.with_config().limit(u64::MAX).read_to_string()?;
    serde_json::from_str(&text).with_context(|| format!("{action}: the response is not the expected JSON: {text}"))
}
