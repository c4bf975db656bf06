//! How much a request may carry beside its JSON: refused here, before a handler reads it.
//!
//! On AWS the gateway holds its own limits (10,240 bytes of request line and headers, 10 MB of body) and answers by itself;
//! an emulator, or a gateway of somebody else's, lets anything through. So the limits that the functions were written
//! for are held here, on every route, those that read no body included.

use axum::body::HttpBody;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::body::too_long;
use crate::problem::{Kind, Problem};

/// Bytes of path and query string: the longest path has an id of 36 characters and a dataset's name, the longest cursor
/// some hundred.
const MAX_TARGET: usize = 4 * 1024;

/// Bytes of all headers together: API Gateway's own limit, which holds for the request line, too. What the gateway adds on
/// the way is a few hundred bytes. Cookies do not count: nobody reads them, and a browser on a developer's machine carries
/// those of every other local project along.
const MAX_HEADERS: usize = 10 * 1024;

/// Bytes of a list of entity tags: some hundred of ours. A client has one or two.
const MAX_TAGS: usize = 4 * 1024;

/// Bytes of a `traceparent`: 55 today; a later version may say more. It is repeated in the answer and in the logs.
const MAX_TRACEPARENT: usize = 256;

/// Bytes of a body on any route: what the largest one reads. Routes that read none ignore a body up to this.
const MAX_BODY: usize = 256 * 1024;

/// Headers that are read, and that have no limit of their own where they are read.
const BOUNDED: [(HeaderName, usize); 3] =
    [(header::IF_MATCH, MAX_TAGS), (header::IF_NONE_MATCH, MAX_TAGS), (super::trace::TRACEPARENT, MAX_TRACEPARENT)];

/// Lets the rest answer, unless the request carries too much: 414, 431 or 413.
pub(super) async fn hold(request: Request, next: Next) -> Response {
    match check(&request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn check(request: &Request) -> Result<(), Problem> {
    check_target(request.uri())?;
    check_headers(request.headers())?;
    let bytes = request.body().size_hint().lower();
    if bytes > MAX_BODY as u64 { Err(too_long(MAX_BODY)) } else { Ok(()) }
}

fn check_target(uri: &Uri) -> Result<(), Problem> {
    let bytes = uri.path_and_query().map_or(0, |target| target.as_str().len());
    if bytes <= MAX_TARGET {
        return Ok(());
    }
    let detail = format!("path and query string may have up to {MAX_TARGET} bytes together, and have {bytes}");
    Err(Problem::new(Kind::UriTooLong, detail))
}

fn check_headers(headers: &HeaderMap) -> Result<(), Problem> {
    let counted = headers.iter().filter(|(name, _)| **name != header::COOKIE);
    let all = bytes_of(counted.map(|(name, value)| (name.as_str(), value.len())));
    if all > MAX_HEADERS {
        return Err(too_large("all headers together", MAX_HEADERS, all));
    }
    for (name, max) in &BOUNDED {
        let bytes = bytes_of(headers.get_all(name).iter().map(|value| ("", value.len())));
        if bytes > *max {
            return Err(too_large(&format!("the header {name}"), *max, bytes));
        }
    }
    Ok(())
}

fn bytes_of<'a>(fields: impl Iterator<Item = (&'a str, usize)>) -> usize {
    fields.map(|(name, bytes)| name.len() + bytes).sum()
}

/// RFC 6585, 5: for one header that is at fault as for all of them together.
fn too_large(what: &str, max: usize, bytes: usize) -> Problem {
    let detail = format!("{what} may have up to {max} bytes, and have {bytes}");
    Problem::new(Kind::HeadersTooLarge, detail)
}

#[cfg(test)]
#[path = "bounds_tests.rs"]
mod tests;
