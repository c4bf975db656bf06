//! A step before and after every call of the files.

use longshore_domain::group::ChunkPlan;
use longshore_domain::ports::{
    FileInfo, FileStream, Files, MultipartFiles, MultipartOutcome, MultipartUpload, PortResult, PrefixRemoval, Read,
};

use super::{Stepwise, cloned, stepwise};
use crate::faults::{Fault, after, again, before};

impl<T: Files> Files for Stepwise<T> {
    type Stream = Stepwise<T::Stream>;

    stepwise! {
        async fn info(&self, key: &str) -> PortResult<Option<FileInfo>>;
        async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>>;
        async fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> PortResult<()>;
        async fn remove(&self, key: &str) -> PortResult<()>;
        async fn remove_some(&self, prefix: &str) -> PortResult<PrefixRemoval>;
    }

    async fn open(
        &self,
        key: &str,
        etag: Option<&str>,
        start: u64,
        end: Option<u64>,
    ) -> PortResult<Read<Self::Stream>> {
        let fault = before("open").await?;
        let read = self.0.open(key, etag, start, end).await?;
        after("open", fault).await?;
        Ok(match read {
            Read::Found(stream) => Read::Found(Stepwise(stream)),
            Read::Absent => Read::Absent,
            Read::Changed => Read::Changed,
        })
    }
}

impl<T: FileStream> FileStream for Stepwise<T> {
    async fn next(&mut self) -> PortResult<Option<Vec<u8>>> {
        let fault = before("stream").await?;
        let block = self.0.next().await?;
        after("stream", fault).await?;
        Ok(block)
    }
}

impl<T: MultipartFiles> MultipartFiles for Stepwise<T> {
    stepwise! {
        async fn create_multipart(&self, key: &str, content_type: &str) -> PortResult<MultipartUpload>;
        async fn upload_part(&self, upload: &MultipartUpload, number: u32, bytes: Vec<u8>) -> PortResult<Option<String>>;
        async fn copy_part(&self, upload: &MultipartUpload, number: u32, from: &str) -> PortResult<Option<String>>;
        async fn complete_multipart(&self, upload: &MultipartUpload, etags: &[String]) -> PortResult<MultipartOutcome>;
    }

    async fn abort_multipart(&self, upload: &MultipartUpload) {
        self.0.abort_multipart(upload).await;
    }
}
