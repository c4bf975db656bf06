//! The download of an image, and what follows from its end.
//!
//! | end | outcome |
//! | --- | --- |
//! | 200, 203 | the file |
//! | 202, 408, 425, 429, 5xx, time-out, no connection, no complete answer | tried again later |
//! | any other status, a file above the limit, an address that is not public, a redirect that is not followed | rejected |
//! | the end of the call | none |

use std::time::{Duration, Instant, SystemTime};

use longshore_images::limits::FILE_BYTES;
use longshore_outbound::call::Answer;
use longshore_outbound::client::Client;
use longshore_outbound::failure::{CallFailure, Part};
use longshore_outbound::fetch::{Fetch, FetchFailure};
use longshore_outbound::public_url::PublicUrls;

use crate::answer::{ItemOutcome, Rejected};
use crate::item::Source;
use crate::reject;

/// Types that are asked for.
const ACCEPT: &str = "image/jpeg,image/png,image/webp";

/// Maximum wait that a server can ask for.
const MAX_WAIT: Duration = Duration::from_secs(3_600);

/// Downloads images.
pub(crate) struct Downloader {
    pub(crate) client: Client,
    pub(crate) allowed: PublicUrls,
    /// Maximum time of a download.
    pub(crate) time: Duration,
}

/// The end of a download.
#[derive(Debug)]
pub(crate) enum Downloaded {
    /// The file.
    File(Vec<u8>),
    /// The outcome of the item.
    Ended(ItemOutcome),
    /// The time of the call has ended.
    OutOfTime,
}

impl Downloader {
    /// Downloads an image, until the time of a download or that of the call ends.
    pub(crate) async fn download(&self, source: &Source, until: Instant) -> Downloaded {
        let own_end = Instant::now() + self.time;
        let fetch = Fetch {
            url: &source.url,
            allowed: &self.allowed,
            accept: ACCEPT,
            body_bytes: FILE_BYTES,
            now: SystemTime::now(),
            deadline: own_end.min(until),
        };
        match self.client.get(&fetch).await {
            Ok(answer) => answered(answer, source),
            Err(FetchFailure::Call(CallFailure::TimedOut(_))) if until < own_end => Downloaded::OutOfTime,
            Err(failure) => Downloaded::Ended(failed(&failure, source)),
        }
    }
}

fn answered(answer: Answer, source: &Source) -> Downloaded {
    match answer.status {
        200 | 203 => Downloaded::File(answer.body.into()),
        202 | 408 | 425 | 429 | 500..=599 => Downloaded::Ended(ItemOutcome::Retry {
            after: answer.retry_after.map(|after| after.min(MAX_WAIT).as_secs()),
            reason: format!("the server of the image answered {}", answer.status),
        }),
        status => Downloaded::Ended(ItemOutcome::Reject(reject::refused_status(status, source.field.clone()))),
    }
}

fn failed(failure: &FetchFailure, source: &Source) -> ItemOutcome {
    let field = source.field.clone();
    let rejected = |code, message| ItemOutcome::Reject(Rejected { code, field: source.field.clone(), message });
    match failure {
        FetchFailure::Call(CallFailure::TooLarge(Part::Body)) => ItemOutcome::Reject(reject::too_large(field)),
        FetchFailure::Call(CallFailure::RefusedAddress { .. }) => {
            // The address is not told: it would show the network behind this function to tenants.
            rejected("url_not_allowed", "The host has an address that is not public. Use a public host.".to_owned())
        }
        FetchFailure::Call(CallFailure::TooLarge(_) | CallFailure::Protocol(_)) => rejected(
            "bad_response",
            "The server's answer is not valid HTTP. Check the URL, or host the file elsewhere.".to_owned(),
        ),
        FetchFailure::Redirect(_) => rejected("url_not_allowed", failure.to_string()),
        FetchFailure::TooManyRedirects => rejected("too_many_redirects", failure.to_string()),
        FetchFailure::Call(_) => ItemOutcome::Retry { after: None, reason: format!("the download failed: {failure}") },
    }
}
