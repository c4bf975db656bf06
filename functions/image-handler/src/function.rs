//! The function on Lambda: one request of the contract per invocation.

use std::time::{Duration, Instant};

use lambda_runtime::{LambdaEvent, service_fn};
use longshore::config::{self, take_calls};
use longshore::job_types::image::FETCH_SECONDS;
use longshore::telemetry;
use longshore_domain::ports::{Files, PortError};
use longshore_domain::timestamp::Timestamp;
use longshore_outbound::client::Client;
use longshore_outbound::limits::Limits;
use longshore_outbound::public_url::PublicUrls;
use longshore_targets::local_permissions;
use serde_json::value::RawValue;
use tracing::Instrument;

use crate::answer::{Answer, Fatal};
use crate::batch::Batch;
use crate::convert::Converter;
use crate::download::Downloader;
use crate::options::JobOptions;
use crate::request::{BadRequest, ItemsRequest, Request};

/// Name of the function in its logs.
const FUNCTION: &str = "image-handler";

/// State of the function: services, and the limit of one conversion at a time.
pub struct ImageHandler<F> {
    files: F,
    downloader: Downloader,
    converter: Converter,
    reserve: Duration,
}

/// Times within a call.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct TimeLimits {
    /// Maximum time of a download.
    pub download: Duration,
    /// Time between the answer and the end of the call.
    pub reserve: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self { download: Duration::from_secs(FETCH_SECONDS), reserve: Duration::from_secs(3) }
    }
}

/// An invocation without an answer.
#[derive(Debug, thiserror::Error)]
pub enum HandlerError {
    /// The event is no request of the contract.
    #[error(transparent)]
    BadRequest(#[from] BadRequest),
    /// A conversion of an earlier call has not ended. The process is of no use any more.
    #[error("a conversion of an earlier call has not ended")]
    Stuck,
    /// The bucket refuses a copy.
    #[error("the copies of an image cannot be stored")]
    Storage(#[from] PortError),
}

impl<F: Files> ImageHandler<F> {
    /// Creates the function.
    pub fn new(files: F, client: Client, allowed: PublicUrls, times: TimeLimits) -> Self {
        let downloader = Downloader { client, allowed, time: times.download };
        Self { files, downloader, converter: Converter::new(), reserve: times.reserve }
    }

    /// Answers an event. `ends` is the time at which the process of this invocation is stopped.
    ///
    /// # Errors
    /// If the event is no request of the contract, or the bucket refuses a copy.
    pub async fn answer(&self, event: &str, ends: Timestamp) -> Result<Answer, HandlerError> {
        match Request::read(event)? {
            Request::Ping(challenge) => Ok(Answer::pong(challenge)),
            Request::Items(_) if self.converter.is_busy() => Err(HandlerError::Stuck),
            Request::Items(request) => {
                let span = telemetry::job_span(request.job.id);
                Ok(self.items(&request, ends).instrument(span).await?)
            }
        }
    }

    async fn items(&self, request: &ItemsRequest, ends: Timestamp) -> Result<Answer, PortError> {
        let options = match JobOptions::read(&request.job.options) {
            Ok(options) => options,
            Err(error) => {
                let fatal = Fatal { code: "invalid_options", message: error.to_string() };
                return Ok(Answer::Fatal { fatal });
            }
        };
        let batch = Batch {
            files: &self.files,
            downloader: &self.downloader,
            converter: &self.converter,
            request,
            options: &options,
            until: self.until(request.batch.deadline.min(ends)),
        };
        batch.run().await
    }

    /// Returns the time of the answer for a call that ends at this time.
    fn until(&self, end: Timestamp) -> Instant {
        let left = u64::try_from(end.millis_since(Timestamp::now())).unwrap_or_default();
        Instant::now() + Duration::from_millis(left).saturating_sub(self.reserve)
    }
}

/// Runs the function, which writes to these files.
///
/// # Errors
/// If the operating system has no root certificates, or the runtime's API fails.
pub async fn serve(files: impl Files + 'static) -> Result<(), lambda_runtime::Error> {
    let (client, urls) = match local_permissions()? {
        Some(local) => {
            let urls = PublicUrls::local(&config::handler_ports()?, &local);
            (Client::local(Limits::default(), local)?, urls)
        }
        None => (Client::new(Limits::default())?, PublicUrls::default()),
    };
    let handler = &ImageHandler::new(files, client, urls, TimeLimits::default());
    lambda_runtime::run(service_fn(|event: LambdaEvent<Box<RawValue>>| async move {
        let (started, ends) = (Instant::now(), i64::try_from(event.context.deadline).unwrap_or(i64::MAX));
        let answer = handler.answer(event.payload.get(), Timestamp(ends)).await;
        if let Err(error) = &answer {
            tracing::error!(error = telemetry::chain(error), "the request has no answer");
        }
        telemetry::record_invocation(FUNCTION, started, &take_calls());
        if matches!(answer, Err(HandlerError::Stuck)) {
            // Lambda starts another process. The items are sent again, in smaller batches.
            std::process::exit(1);
        }
        answer.map_err(|error| lambda_runtime::Error::from(telemetry::chain(&error)))
    }))
    .await
}
