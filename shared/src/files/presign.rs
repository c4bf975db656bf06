//! URLs by which a client puts or gets one file itself, for a while and without any other right.

use std::time::Duration;

use aws_sdk_s3::presigning::{PresignedRequest, PresigningConfig};
use longshore_domain::ports::{PortResult, Upload};

use super::{S3Files, failed};

/// A URL for one PUT, and the headers that must come with it.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct PutUrl {
    /// Where to.
    pub url: String,
    /// Signed: a request without them, or with others, is refused. `content-length` is signed too and not listed,
    /// because every HTTP client sends it by itself.
    pub headers: Vec<(String, String)>,
}

impl S3Files {
    /// A URL that takes exactly the promised upload: its length, its media type, its checksum if one was given, and
    /// only while there is no such file (`If-None-Match: *`).
    ///
    /// # Errors
    /// If `seconds` is more than a week. No call is made.
    pub async fn presign_put(&self, upload: &Upload, seconds: u64) -> PortResult<PutUrl> {
        let size = i64::try_from(upload.size_bytes).unwrap_or(i64::MAX);
        let put = self.client.put_object().bucket(&self.bucket).key(&upload.key).if_none_match("*");
        let put = put.content_type(&upload.content_type).content_length(size);
        let put = put.set_checksum_sha256(upload.sha256.clone());
        let signed = put.presigned(for_seconds(seconds, "presign_put")?).await.map_err(failed("presign_put"))?;
        Ok(put_url(&signed))
    }

    /// A URL by which a browser saves the file under this name.
    ///
    /// # Errors
    /// If `seconds` is more than a week. No call is made.
    pub async fn presign_get(&self, key: &str, file_name: &str, seconds: u64) -> PortResult<String> {
        let get = self.client.get_object().bucket(&self.bucket).key(key);
        let get = get.response_content_disposition(content_disposition(file_name));
        let signed = get.presigned(for_seconds(seconds, "presign_get")?).await.map_err(failed("presign_get"))?;
        Ok(signed.uri().to_owned())
    }
}

/// The URL and the headers of what was signed.
pub(super) fn put_url(signed: &PresignedRequest) -> PutUrl {
    let headers = signed.headers().filter(|(name, _)| *name != "content-length");
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    PutUrl { url: signed.uri().to_owned(), headers }
}

pub(super) fn for_seconds(seconds: u64, operation: &'static str) -> PortResult<PresigningConfig> {
    PresigningConfig::expires_in(Duration::from_secs(seconds)).map_err(failed(operation))
}

/// `Content-Disposition` that saves under any name: an ASCII form for old clients, and the real one (RFC 6266).
pub fn content_disposition(file_name: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() && !"\"\\%;/".contains(c) || c == ' ' { c } else { '_' };
    let ascii: String = file_name.chars().map(plain).collect();
    let exact: String = file_name.bytes().map(percent_encoded).collect();
    format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{exact}")
}

fn percent_encoded(byte: u8) -> String {
    match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    }
}

#[cfg(test)]
mod tests {
    use super::content_disposition;

    #[test]
    fn any_file_name_can_be_saved() {
        for (name, expected) in [
            ("a b.csv", "attachment; filename=\"a b.csv\"; filename*=UTF-8''a%20b.csv"),
            ("ü\".csv", "attachment; filename=\"__.csv\"; filename*=UTF-8''%C3%BC%22.csv"),
        ] {
            assert_eq!(content_disposition(name), expected);
        }
    }
}
