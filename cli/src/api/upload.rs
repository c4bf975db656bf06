//! Uploads a local file directly to the bucket: by one PUT, or in parts if the API requires it.

use super::client::{Api, expect_status, read_json};
use anyhow::{Context, Result, ensure};
use data_encoding::HEXLOWER;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use ureq::AsSendBody;
use ureq::http::StatusCode;

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
