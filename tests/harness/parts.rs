//! Large files, uploaded part by part as a page does it: hash a part, request its URL, upload it, complete at the
//! end.

use anyhow::{Context, Result};
use longshore::fingerprint::Fingerprinter;
use serde_json::{Value, json};

use super::client::{Answer, Client};

impl Client {
    /// Uploads a file, by one PUT or in parts.
    ///
    /// # Errors
    /// If any step is refused.
    pub fn put_file(&self, upload: &Value, bytes: &[u8]) -> Result<()> {
        if upload["url"].is_string() {
            return self.put(upload, bytes)?.expect(200).map(drop);
        }
        self.put_parts(upload, upload["parts"].as_array().context("the upload has neither a URL nor parts")?, bytes)?;
        self.complete(guid(upload)?)?.expect(200).map(drop)
    }

    /// Uploads these parts of a file.
    ///
    /// # Errors
    /// If any step is refused.
    pub fn put_parts(&self, upload: &Value, parts: &[Value], bytes: &[u8]) -> Result<()> {
        for part in parts {
            let bytes = bytes_of(upload, part, bytes)?;
            self.put(&self.part_url(guid(upload)?, part, bytes)?, bytes)?.expect(200)?;
        }
        Ok(())
    }

    /// A URL for a part with these bytes.
    ///
    /// # Errors
    /// If the request is refused.
    pub fn part_url(&self, file: &str, part: &Value, bytes: &[u8]) -> Result<Value> {
        let request = json!({ "parts": [{ "partNumber": part["partNumber"], "sha256": sha256(bytes) }] });
        Ok(self.post(&format!("/api/uploads/{file}/url"), &request)?.expect(200)?["parts"][0].clone())
    }

    /// Requests the completion of an upload in parts.
    ///
    /// # Errors
    /// If there is no response at all.
    pub fn complete(&self, file: &str) -> Result<Answer> {
        self.call("POST", &format!("/api/uploads/{file}/complete"), &[], &[])
    }
}

/// The bytes of a part of a file.
///
/// # Errors
/// If there is no such part.
pub fn bytes_of<'a>(upload: &Value, part: &Value, bytes: &'a [u8]) -> Result<&'a [u8]> {
    let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
    let (part_number, size) = (number(&part["partNumber"]), number(&part["size"]));
    let start = part_number.zip(number(&upload["partSize"])).map(|(number, part_size)| (number - 1) * part_size);
    let range = start.zip(size).and_then(|(start, size)| bytes.get(start..start + size));
    range.with_context(|| format!("{part} is not a part of the file"))
}

/// SHA-256 of bytes, in the form that the API expects for a part.
pub fn sha256(bytes: &[u8]) -> String {
    let mut fingerprinter = Fingerprinter::default();
    fingerprinter.take(bytes);
    fingerprinter.finish().sha256
}

fn guid(upload: &Value) -> Result<&str> {
    upload["fileGuid"].as_str().context("the upload has no fileGuid")
}
