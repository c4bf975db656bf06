//! Multipart uploads in memory, for tests. They refuse calls that S3 refuses.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use longshore_domain::parts::{Multipart, PartChecksum};
use longshore_domain::ports::{
    DownloadUrls, MultipartFiles, MultipartOutcome, MultipartUpload, PartStorage, PortResult, PutUrl, ReceivedPart,
    Upload, UploadStorage,
};
use sha2::{Digest, Sha256};

use super::{MemoryFiles, Parts, etag, failed};
use longshore::aws_limits::s3::{check_key, check_part_number, check_parts};

impl MemoryFiles {
    /// Begins an upload for this key: there is one per key at a time, named after it.
    pub fn begin_parts(&self, key: &str) -> String {
        let id = format!("parts of {key}");
        self.parts.unfinished().insert(id.clone(), Parts::new());
        id
    }

    /// Puts a part, overwriting one of the same number; does nothing if the upload does not exist, or the number is
    /// invalid.
    pub fn put_part(&self, id: &str, number: u32, bytes: impl Into<Vec<u8>>) {
        if check_part_number(number as usize).is_err() {
            return;
        }
        if let Some(parts) = self.parts.unfinished().get_mut(id) {
            parts.insert(number, bytes.into());
        }
    }

    /// Returns the uploaded parts; `None` if the upload does not exist.
    pub fn received_parts(&self, id: &str) -> Option<Vec<ReceivedPart>> {
        Some(self.parts.unfinished().get(id)?.iter().map(received).collect())
    }

    /// Assembles a file from these parts, if there is none yet.
    ///
    /// # Errors
    /// If S3 would refuse them: too small, too many, or out of order.
    pub fn complete_parts(&self, key: &str, id: &str, parts: &[ReceivedPart]) -> PortResult<MultipartOutcome> {
        let mut unfinished = self.parts.unfinished();
        let Some(put) = unfinished.get(id).filter(|_| self.get(key).is_none()) else {
            return Ok(MultipartOutcome::Gone);
        };
        let same = parts.iter().all(|part| put.get_key_value(&part.number).map(received).as_ref() == Some(part));
        if !same {
            return Ok(MultipartOutcome::Changed);
        }
        let sizes: Vec<_> = parts.iter().map(|part| (part.number as usize, part.size_bytes)).collect();
        check_parts(&sizes).map_err(failed("complete_parts"))?;
        self.put(key, parts.iter().filter_map(|part| put.get(&part.number)).flatten().copied().collect::<Vec<_>>());
        unfinished.remove(id);
        Ok(MultipartOutcome::Completed)
    }

    /// Removes an upload and its parts.
    pub fn abort_parts(&self, id: &str) {
        self.parts.unfinished().remove(id);
    }

    /// Returns the unfinished uploads.
    pub fn unfinished_parts(&self) -> Vec<String> {
        self.parts.unfinished().keys().cloned().collect()
    }
}

/// For tests: the URLs accept no PUT.
impl UploadStorage for MemoryFiles {
    async fn upload_url(&self, upload: &Upload, seconds: u64) -> PortResult<PutUrl> {
        let checksum = upload.sha256.clone().map(|sha256| ("x-amz-checksum-sha256".to_owned(), sha256));
        let headers = [("content-type".to_owned(), upload.content_type.clone())].into_iter().chain(checksum);
        Ok(PutUrl { url: format!("memory:{}?for={seconds}", upload.key), headers: headers.collect() })
    }

    async fn is_received(&self, upload: &Upload) -> PortResult<bool> {
        Ok(self.get(&upload.key).is_some())
    }
}

impl PartStorage for MemoryFiles {
    async fn begin(&self, upload: &Upload) -> PortResult<String> {
        Ok(self.begin_parts(&upload.key))
    }

    async fn part_url(&self, upload: &Upload, _: &Multipart, part: &PartChecksum, seconds: u64) -> PortResult<PutUrl> {
        let url = format!("memory:{}?part={}&for={seconds}", upload.key, part.part.number);
        Ok(PutUrl { url, headers: vec![("x-amz-checksum-sha256".to_owned(), part.sha256.clone())] })
    }

    async fn received_parts(&self, _: &Upload, multipart: &Multipart) -> PortResult<Option<Vec<ReceivedPart>>> {
        Ok(MemoryFiles::received_parts(self, &multipart.id))
    }

    async fn complete(
        &self,
        upload: &Upload,
        multipart: &Multipart,
        parts: &[ReceivedPart],
    ) -> PortResult<MultipartOutcome> {
        self.complete_parts(&upload.key, &multipart.id, parts)
    }

    async fn abort(&self, _: &Upload, multipart: &Multipart) {
        self.abort_parts(&multipart.id);
    }
}

/// For tests: the URLs serve no file.
impl DownloadUrls for MemoryFiles {
    async fn download_url(&self, key: &str, file_name: &str, seconds: u64) -> PortResult<String> {
        Ok(format!("memory:{key}?as={file_name}&for={seconds}"))
    }
}

/// Names of uploads have a number, so that there may be several per key. Parts may be smaller than S3 allows, so that
/// a test has many; the conformance suite shows that S3 refuses those.
impl MultipartFiles for MemoryFiles {
    async fn create_multipart(&self, key: &str, _: &str) -> PortResult<MultipartUpload> {
        check_key(key).map_err(failed("create_multipart"))?;
        let mut unfinished = self.parts.unfinished();
        let numbered = (0_u32..).map(|n| format!("upload {n} of {key}"));
        let completed = self.parts.completed();
        let id = numbered.into_iter().find(|id| !unfinished.contains_key(id) && !completed.contains_key(id));
        let id = id.unwrap_or_default();
        unfinished.insert(id.clone(), Parts::new());
        Ok(MultipartUpload { key: key.to_owned(), id })
    }

    async fn upload_part(&self, upload: &MultipartUpload, number: u32, bytes: Vec<u8>) -> PortResult<Option<String>> {
        check_part_number(number as usize).map_err(failed("upload_part"))?;
        let mut unfinished = self.parts.unfinished();
        let Some(parts) = unfinished.get_mut(&upload.id) else { return Ok(None) };
        let etag = etag(&bytes);
        parts.insert(number, bytes);
        Ok(Some(etag))
    }

    async fn copy_part(&self, upload: &MultipartUpload, number: u32, from: &str) -> PortResult<Option<String>> {
        let bytes = self.get(from).ok_or("NoSuchKey").map_err(failed("copy_part"))?;
        self.upload_part(upload, number, bytes).await
    }

    async fn complete_multipart(&self, upload: &MultipartUpload, etags: &[String]) -> PortResult<MultipartOutcome> {
        let mut unfinished = self.parts.unfinished();
        let Some(parts) = unfinished.get(&upload.id) else {
            let again = self.parts.is_completed_again(&upload.id, etags);
            return Ok(if again { MultipartOutcome::Completed } else { MultipartOutcome::Gone });
        };
        let mut bytes = Vec::new();
        for (number, expected) in (1..).zip(etags) {
            let Some(part) = parts.get(&number).filter(|part| etag(part) == *expected) else {
                return Ok(MultipartOutcome::Changed);
            };
            bytes.extend_from_slice(part);
        }
        unfinished.remove(&upload.id);
        self.parts.complete(&upload.id, etags);
        self.put(&upload.key, bytes);
        Ok(MultipartOutcome::Completed)
    }

    async fn abort_multipart(&self, upload: &MultipartUpload) {
        MemoryFiles::abort_parts(self, &upload.id);
    }
}

fn received((number, bytes): (&u32, &Vec<u8>)) -> ReceivedPart {
    ReceivedPart {
        number: *number,
        size_bytes: bytes.len() as u64,
        sha256: Some(STANDARD.encode(Sha256::digest(bytes))),
        etag: etag(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_repeated_completion_gets_both_responses_and_changes_nothing() {
        let files = MemoryFiles::default();
        let mut answers = Vec::new();
        for _ in 0..2 {
            let upload = files.create_multipart("k", "text/csv").await.unwrap();
            let etag = files.upload_part(&upload, 1, b"x".to_vec()).await.unwrap().unwrap();
            assert_eq!(
                files.complete_multipart(&upload, std::slice::from_ref(&etag)).await.unwrap(),
                MultipartOutcome::Completed
            );
            files.remove("k");
            answers.push(files.complete_multipart(&upload, std::slice::from_ref(&etag)).await.unwrap());
            assert_eq!(files.complete_multipart(&upload, &["other".to_owned()]).await.unwrap(), MultipartOutcome::Gone);
            assert_eq!(files.get("k"), None, "no file is made again");
        }
        assert_eq!(answers, [MultipartOutcome::Completed, MultipartOutcome::Gone]);
    }
}
