//! Streams of stored files: one that breaks off is resumed from its last position, and only from the same bytes.

use std::time::Duration;

use longshore::http::Failure;
use longshore::problem::{Kind, Problem};
use longshore::telemetry;
use longshore_domain::ports::{FileStream, Files, PortError, PortResult, Read};

/// Breaks in a row, without a block between them, after which a file counts as unreadable: the SDK repeats calls, not what
/// follows them.
const BREAKS: u32 = 3;

/// Seconds of `Retry-After` where a file could not be read: S3's own retries have taken that long already.
const AGAIN_S: u32 = 10;

/// Result of streaming a file.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Streamed {
    /// Every byte was handed over, once and in order.
    Whole,
    /// There is no such file, or none any more.
    Absent,
    /// The time for reading ended first.
    OutOfTime,
}

/// The object ended before its size, or another one stands under its key.
#[derive(Debug, thiserror::Error)]
#[error("{0} is not the object that was opened")]
struct Torn(String);

/// The object that is streamed: bytes from `start` on, of this version and size.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct Object<'a> {
    /// Its key.
    pub(super) key: &'a str,
    /// Its entity tag.
    pub(super) etag: &'a str,
    /// The first byte that is wanted.
    pub(super) start: u64,
    /// Its size.
    pub(super) size_bytes: u64,
}

/// Hands every byte of a file over, from its beginning on.
pub(super) async fn stream_file(
    files: &impl Files,
    key: &str,
    in_time: &(dyn Fn() -> bool + Sync),
    take: &mut (impl FnMut(&[u8]) + Send),
) -> PortResult<Streamed> {
    let Some(info) = files.info(key).await? else { return Ok(Streamed::Absent) };
    let object = Object { key, etag: &info.etag, start: 0, size_bytes: info.size_bytes };
    match stream(files, &object, in_time, take).await? {
        Some(streamed) => Ok(streamed),
        None => Err(torn(key)),
    }
}

/// Hands the bytes of an object over; `None` if another one stands under its key.
pub(super) async fn stream(
    files: &impl Files,
    object: &Object<'_>,
    in_time: &(dyn Fn() -> bool + Sync),
    take: &mut (impl FnMut(&[u8]) + Send),
) -> PortResult<Option<Streamed>> {
    let (mut position, mut breaks) = (object.start, 0);
    while position < object.size_bytes {
        if !in_time() {
            return Ok(Some(Streamed::OutOfTime));
        }
        let before = position;
        let error = match files.open(object.key, Some(object.etag), position, None).await? {
            Read::Absent => return Ok(Some(Streamed::Absent)),
            Read::Changed => return Ok(None),
            Read::Found(mut stream) => loop {
                match stream.next().await {
                    Ok(Some(block)) => {
                        position += block.len() as u64;
                        take(&block);
                    }
                    Ok(None) => break torn(object.key),
                    Err(error) => break error,
                }
                if !in_time() {
                    return Ok(Some(Streamed::OutOfTime));
                }
            },
        };
        breaks = if position > before { 0 } else { breaks + 1 };
        if position < object.size_bytes {
            let cause = telemetry::chain(&error);
            tracing::warn!(file.key = object.key, position, error = cause, "the stream of an audited file broke off");
            if breaks == BREAKS {
                return Err(error);
            }
        }
    }
    Ok(Some(Streamed::Whole))
}

fn torn(key: &str) -> PortError {
    PortError { service: "files", operation: "read", source: Torn(key.to_owned()).into() }
}

/// The answer of an audit that may take this long. Reading changes nothing, so that the caller may always ask again.
///
/// # Errors
/// 503 `unavailable` if a service fails, or does not answer in time.
pub(super) async fn within<T>(limit: Duration, audit: impl Future<Output = PortResult<T>>) -> Result<T, Failure> {
    let error = match tokio::time::timeout(limit, audit).await {
        Ok(Ok(answer)) => return Ok(answer),
        Ok(Err(error)) => telemetry::chain(&error),
        Err(elapsed) => telemetry::chain(&elapsed),
    };
    tracing::error!(error, "an audit could not read what it compares");
    let detail = "what the audit compares cannot be read at this moment; ask again later";
    Err(Problem::new(Kind::Unavailable, detail).retry_after(AGAIN_S).into())
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test]
    async fn an_audit_that_waits_for_a_service_for_too_long_is_unavailable() {
        let met = within::<()>(Duration::ZERO, pending()).await.unwrap_err();
        let Failure::Problem(problem) = met else { panic!("{met:?}") };
        assert_eq!((problem.status(), problem.retry_after_s.map(u32::from)), (503, Some(AGAIN_S)));
    }
}
