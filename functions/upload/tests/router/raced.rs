//! Two calls that complete the same upload.

use longshore_domain::parts::{Multipart, PartChecksum};
use longshore_domain::ports::{MultipartOutcome, PartStorage, PortResult, PutUrl, ReceivedPart, Upload, UploadStorage};
use longshore_testing::MemoryFiles;

use crate::parts::{Large, bytes_of};

/// Storage in which another call is faster: it completes the upload, or replaces a part, after the parts were listed.
#[derive(Clone)]
struct Raced {
    files: MemoryFiles,
    by: fn(&MemoryFiles, &Upload, &Multipart),
    /// S3's answer to the second call, if it differs from the stored state.
    says: Option<MultipartOutcome>,
}

impl UploadStorage for Raced {
    async fn upload_url(&self, upload: &Upload, seconds: u64) -> PortResult<PutUrl> {
        self.files.upload_url(upload, seconds).await
    }

    async fn is_received(&self, upload: &Upload) -> PortResult<bool> {
        self.files.is_received(upload).await
    }
}

impl PartStorage for Raced {
    async fn begin(&self, upload: &Upload) -> PortResult<String> {
        self.files.begin(upload).await
    }

    async fn part_url(
        &self,
        upload: &Upload,
        multipart: &Multipart,
        part: &PartChecksum,
        seconds: u64,
    ) -> PortResult<PutUrl> {
        self.files.part_url(upload, multipart, part, seconds).await
    }

    async fn received_parts(&self, upload: &Upload, multipart: &Multipart) -> PortResult<Option<Vec<ReceivedPart>>> {
        PartStorage::received_parts(&self.files, upload, multipart).await
    }

    async fn complete(
        &self,
        upload: &Upload,
        multipart: &Multipart,
        parts: &[ReceivedPart],
    ) -> PortResult<MultipartOutcome> {
        (self.by)(&self.files, upload, multipart);
        let found = self.files.complete(upload, multipart, parts).await?;
        Ok(self.says.unwrap_or(found))
    }

    async fn abort(&self, upload: &Upload, multipart: &Multipart) {
        self.files.abort(upload, multipart).await;
    }
}

#[tokio::test]
async fn the_second_of_two_completing_calls_finds_a_complete_upload() {
    let by_another = |files: &MemoryFiles, upload: &Upload, multipart: &Multipart| {
        let parts = files.received_parts(&multipart.id).unwrap();
        files.complete_parts(&upload.key, &multipart.id, &parts).unwrap();
    };
    for (by, says, expected, reported) in [
        (by_another as fn(&MemoryFiles, &Upload, &Multipart), None, 200, ""),
        (by_another, Some(MultipartOutcome::Changed), 200, ""),
        (
            |files, _, multipart| files.put_part(&multipart.id, 1, vec![b'x'; bytes_of(1).len()]),
            None,
            409,
            "uploaded again",
        ),
        (|files, _, multipart| files.abort_parts(&multipart.id), None, 409, "retry in a moment"),
    ] {
        let files = MemoryFiles::default();
        let large = Large::promised(Raced { files: files.clone(), by, says }).await;
        for number in 1..=3 {
            files.put_part(&large.multipart.id, number, bytes_of(number));
        }
        let (code, document) = large.call("POST", "/complete", "").await;
        assert_eq!(code, expected, "{document}");
        assert!(code == 200 || document["type"] == "/api/problems/upload-incomplete", "{document}");
        assert!(document["detail"].as_str().unwrap_or_default().contains(reported), "{document}");
    }
}
