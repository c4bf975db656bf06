//! Reads stored files within the time of a call.

use std::time::Duration;

use longshore::files::{ResumingReader, Version};
use longshore::http::Failure;
use longshore::telemetry;
use longshore_domain::ports::{Files, PortError, PortResult, Read};

use crate::unreadable::unreadable;

/// Result of streaming a file.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Streamed {
    /// Every byte was delivered, once and in order.
    Complete,
    /// The file does not exist, or no longer exists.
    Absent,
    /// The time for reading ended first.
    OutOfTime,
}

/// Streams every byte of a file, from its beginning.
pub(super) async fn stream_file(
    files: &impl Files,
    key: &str,
    in_time: &(dyn Fn() -> bool + Sync),
    take: &mut (impl FnMut(&[u8]) + Send),
) -> PortResult<Streamed> {
    // A job can have thousands of files: without time, there is not even a request for each of them.
    if !in_time() {
        return Ok(Streamed::OutOfTime);
    }
    let Some(info) = files.info(key).await? else { return Ok(Streamed::Absent) };
    let version = Version { key, etag: &info.etag, size_bytes: info.size_bytes };
    match stream(ResumingReader::new(files, version, 0), in_time, take).await? {
        Some(streamed) => Ok(streamed),
        None => Err(PortError { service: "files", operation: "read", source: ObjectReplaced(key.to_owned()).into() }),
    }
}

/// Streams the bytes of a file; `None` if its version has changed.
pub(super) async fn stream<F: Files>(
    mut reader: ResumingReader<'_, F>,
    in_time: &(dyn Fn() -> bool + Sync),
    take: &mut (impl FnMut(&[u8]) + Send),
) -> PortResult<Option<Streamed>> {
    while in_time() {
        match reader.next().await? {
            Read::Found(Some(block)) => take(&block),
            Read::Found(None) => return Ok(Some(Streamed::Complete)),
            Read::Absent => return Ok(Some(Streamed::Absent)),
            Read::Changed => return Ok(None),
        }
    }
    Ok(Some(Streamed::OutOfTime))
}

/// The object at the key was replaced while it was read.
#[derive(Debug, thiserror::Error)]
#[error("the object {0} was replaced while it was read")]
struct ObjectReplaced(String);

/// Runs an audit with a timeout. An audit changes nothing, so the caller can always retry.
///
/// # Errors
/// 503 `unavailable` if a service fails or does not answer in time.
pub(super) async fn with_timeout<T>(limit: Duration, audit: impl Future<Output = PortResult<T>>) -> Result<T, Failure> {
    let error = match tokio::time::timeout(limit, audit).await {
        Ok(Ok(answer)) => return Ok(answer),
        Ok(Err(error)) => telemetry::chain(&error),
        Err(elapsed) => telemetry::chain(&elapsed),
    };
    Err(unreadable(&error, "the audit's data cannot be read at the moment; retry later"))
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use longshore_testing::MemoryFiles;

    use super::*;

    #[tokio::test]
    async fn without_time_no_file_is_requested() {
        let files = MemoryFiles::default();
        let streamed = stream_file(&files, "absent", &|| false, &mut |_| ()).await.unwrap();
        assert_eq!(streamed, Streamed::OutOfTime);
    }

    #[tokio::test]
    async fn an_audit_that_times_out_returns_503() {
        let failure = with_timeout::<()>(Duration::ZERO, pending()).await.unwrap_err();
        let Failure::Problem(problem) = failure else { panic!("{failure:?}") };
        assert_eq!((problem.status(), problem.retry_after_s.map(u32::from)), (503, Some(10)));
    }
}
