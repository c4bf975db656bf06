//! Downloads of public files: unsigned `GET` requests to URLs that anyone may name.
//!
//! A file is often behind a redirect, so up to [`REDIRECTS`] are followed. Each target is checked like the first URL, and
//! so are its addresses. All hops share one deadline.

use std::time::{Instant, SystemTime};

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, HOST, HeaderValue, LOCATION, USER_AGENT};
use hyper::{Request, Response};
use tokio::time::Instant as TokioInstant;

use crate::call::{AGENT, Answer};
use crate::client::{Client, answer};
use crate::connection::Outgoing;
use crate::failure::{CallFailure, Phase};
use crate::limits::Limits;
use crate::public_url::{PublicUrl, PublicUrls};
use crate::url::UrlError;

/// Maximum number of redirects of a download.
pub const REDIRECTS: usize = 3;

/// A download.
#[derive(Copy, Clone, Debug)]
pub struct Fetch<'a> {
    /// The file.
    pub url: &'a PublicUrl,
    /// The rule for the targets of redirects.
    pub allowed: &'a PublicUrls,
    /// Types of the file, for the header `Accept`.
    pub accept: &'static str,
    /// Maximum bytes of the file.
    pub body_bytes: usize,
    /// The time of the call.
    pub now: SystemTime,
    /// The end of the download, with all of its redirects.
    pub deadline: Instant,
}

/// A download without an answer of the file's server.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum FetchFailure {
    /// A call failed.
    #[error(transparent)]
    Call(#[from] CallFailure),
    /// A redirect to a URL that is not allowed.
    #[error("The server redirects to another URL, which is not allowed: {0}")]
    Redirect(UrlError),
    /// More redirects than are followed.
    #[error("The server redirects more than {REDIRECTS} times. Use the URL of the file itself.")]
    TooManyRedirects,
}

/// The next step of a download.
enum Step {
    Answered(Answer),
    Redirected(PublicUrl),
}

impl Client {
    /// Downloads a file. Returns the last answer: that of the file's server with any status, or a redirect without a
    /// target. The body of a 2xx answer is whole.
    ///
    /// # Errors
    /// If a call fails, or a redirect is not followed.
    pub async fn get(&self, fetch: &Fetch<'_>) -> Result<Answer, FetchFailure> {
        let mut url = fetch.url.clone();
        for _ in 0..=REDIRECTS {
            match self.step(fetch, &url).await? {
                Step::Answered(answer) => return Ok(answer),
                Step::Redirected(target) => url = target,
            }
        }
        Err(FetchFailure::TooManyRedirects)
    }

    async fn step(&self, fetch: &Fetch<'_>, url: &PublicUrl) -> Result<Step, FetchFailure> {
        let (begun, deadline) = (TokioInstant::now(), TokioInstant::from_std(fetch.deadline));
        if deadline <= begun {
            return Err(CallFailure::TimedOut(Phase::Start).into());
        }
        let limits = Limits { body_bytes: fetch.body_bytes, ..self.limits() };
        let exchanged = self.exchange(url.origin(), request(url, fetch.accept)?, &limits, deadline).await?;
        match location(&exchanged.head) {
            Some(location) => redirected(fetch.allowed, url, location).map(Step::Redirected),
            None => Ok(Step::Answered(answer(&exchanged, fetch.now + begun.elapsed()))),
        }
    }
}

/// Returns the target of a redirect. 300 and 304 are none: their target is a choice, or a file that was kept.
fn location(head: &Response<()>) -> Option<&HeaderValue> {
    matches!(head.status().as_u16(), 301 | 302 | 303 | 307 | 308).then(|| head.headers().get(LOCATION)).flatten()
}

fn redirected(allowed: &PublicUrls, from: &PublicUrl, location: &HeaderValue) -> Result<PublicUrl, FetchFailure> {
    let text = std::str::from_utf8(location.as_bytes());
    let text = text.map_err(|_| FetchFailure::Redirect(UrlError::Invalid("it is not UTF-8".to_owned())))?;
    allowed.redirected(from, text).map_err(FetchFailure::Redirect)
}

fn request(url: &PublicUrl, accept: &'static str) -> Result<Outgoing, CallFailure> {
    let invalid = || CallFailure::Protocol("the request cannot be written".to_owned());
    let mut request = Request::get(url.target()).body(Full::new(Bytes::new())).map_err(|_| invalid())?;
    request.headers_mut().extend([
        (HOST, HeaderValue::try_from(url.origin().to_string()).map_err(|_| invalid())?),
        (ACCEPT, HeaderValue::from_static(accept)),
        (ACCEPT_ENCODING, HeaderValue::from_static("identity")),
        (USER_AGENT, HeaderValue::from_static(AGENT)),
    ]);
    Ok(request)
}
