//! The prepared file, while it is written.

use longshore::telemetry;
use longshore_domain::ports::{FileInfo, Files, MultipartFiles, MultipartOutcome, MultipartUpload};

use crate::outcome::PrepareError;

/// Media type of the prepared file. Its encoding can be any.
const CONTENT_TYPE: &str = "text/plain";

/// A file that is uploaded part by part, or at once if it has only one part.
pub(crate) struct Upload<'a, F> {
    files: &'a F,
    key: String,
    /// A part that may be the only one.
    first: Option<Vec<u8>>,
    parts: Option<(MultipartUpload, Vec<String>)>,
    /// True once the file can exist.
    is_stored: bool,
}

impl<'a, F: Files + MultipartFiles> Upload<'a, F> {
    /// Creates an upload of this key, of which nothing is stored yet.
    pub(crate) const fn new(files: &'a F, key: String) -> Self {
        Self { files, key, first: None, parts: None, is_stored: false }
    }

    /// Returns the key.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Adds a part.
    pub(crate) async fn push(&mut self, part: Vec<u8>) -> Result<(), PrepareError> {
        if self.parts.is_none() {
            let Some(first) = self.first.take() else {
                self.first = Some(part);
                return Ok(());
            };
            self.parts = Some((self.files.create_multipart(&self.key, CONTENT_TYPE).await?, Vec::new()));
            self.store(first).await?;
        }
        self.store(part).await
    }

    async fn store(&mut self, part: Vec<u8>) -> Result<(), PrepareError> {
        let Some((upload, etags)) = &mut self.parts else { return Ok(()) };
        let number = u32::try_from(etags.len() + 1).unwrap_or(u32::MAX);
        let etag = self.files.upload_part(upload, number, part).await?;
        etags.push(etag.ok_or(PrepareError::NotStored)?);
        Ok(())
    }

    /// Completes the file.
    pub(crate) async fn finish(&mut self) -> Result<FileInfo, PrepareError> {
        self.is_stored = true;
        match &self.parts {
            None => self.files.write(&self.key, CONTENT_TYPE, self.first.take().unwrap_or_default()).await?,
            Some((upload, etags)) => match self.files.complete_multipart(upload, etags).await? {
                // The SDK repeats a call whose response was lost. The key is unique, so the file is this one.
                MultipartOutcome::Completed | MultipartOutcome::Gone => {}
                MultipartOutcome::Changed => return Err(PrepareError::NotStored),
            },
        }
        self.parts = None;
        self.files.info(&self.key).await?.ok_or(PrepareError::NotStored)
    }

    /// Discards the parts and the file, best effort: the bucket removes parts after a day, and the file with the job.
    pub(crate) async fn discard(&mut self) {
        if self.is_stored {
            remove_unused(self.files, &self.key).await;
        }
        if let Some((upload, _)) = self.parts.take() {
            self.files.abort_multipart(&upload).await;
        }
    }
}

/// Removes a file that no job uses, best effort: it is in the job's folder.
pub(crate) async fn remove_unused(files: &impl Files, key: &str) {
    if let Err(error) = files.remove(key).await {
        let error = telemetry::chain(&error);
        tracing::warn!(file.key = key, error, "cannot remove a file that is not used");
    }
}
