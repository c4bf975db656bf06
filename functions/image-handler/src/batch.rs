//! The items of a call, one after the other: an image is converted and stored while the next one is downloaded.
//!
//! Memory holds one decoded image with its copies, and the file of the next image.

use std::time::Instant;

use longshore::ports::JobFolder;
use longshore::telemetry;
use longshore_domain::ports::{Files, PortError};
use longshore_domain::remote::Mode;
use tokio::time::timeout_at;

use crate::answer::{Answer, ItemOutcome, ItemResult, Rejected, RetryBatch};
use crate::convert::{Conversion, Converter};
use crate::download::{Downloaded, Downloader};
use crate::item::{Source, source};
use crate::options::JobOptions;
use crate::reject::refused_image;
use crate::request::{ItemsRequest, RequestItem};
use crate::store::{Stored, store};

/// Wait for a bucket that is unavailable, in seconds.
const STORAGE_WAIT: u64 = 20;

/// The items of a call, and the services for them.
pub(crate) struct Batch<'a, F> {
    pub(crate) files: &'a F,
    pub(crate) downloader: &'a Downloader,
    pub(crate) converter: &'a Converter,
    pub(crate) request: &'a ItemsRequest,
    pub(crate) options: &'a JobOptions,
    /// The time at which the answer is sent.
    pub(crate) until: Instant,
}

/// The state of an item after its download.
enum Begun {
    /// Its file.
    File(Source, Vec<u8>),
    /// Its outcome.
    Ended(ItemOutcome),
    /// The time of the call has ended.
    OutOfTime,
}

/// The end of an item in this call.
enum Ended {
    Outcome(ItemOutcome),
    OutOfTime,
    StorageUnavailable(PortError),
}

impl<F: Files> Batch<'_, F> {
    /// Processes the items in order, until the last one or until the time ends.
    ///
    /// # Errors
    /// If the bucket refuses a copy.
    pub(crate) async fn run(&self) -> Result<Answer, PortError> {
        let (mut results, mut items) = (Vec::new(), self.request.items.iter().peekable());
        let mut begun = None;
        while let Some(item) = items.next() {
            let current = match begun.take() {
                Some(begun) => begun,
                None => self.begin(item).await,
            };
            let (ended, next) = tokio::join!(self.end(item, current), self.begin_next(items.peek()));
            begun = next;
            match ended? {
                Ended::Outcome(outcome) => results.push(ItemResult { key: item.key.clone(), outcome }),
                Ended::OutOfTime => break,
                Ended::StorageUnavailable(error) => return Ok(unavailable(results, &error)),
            }
        }
        Ok(self.answer(results))
    }

    async fn begin_next(&self, item: Option<&&RequestItem>) -> Option<Begun> {
        match item {
            Some(item) => Some(self.begin(item).await),
            None => None,
        }
    }

    /// Downloads the image of an item. To validate it, only its URL is read.
    async fn begin(&self, item: &RequestItem) -> Begun {
        let source = match source(&item.value, &self.options.column, &self.downloader.allowed) {
            Ok(source) => source,
            Err(rejected) => return Begun::Ended(ItemOutcome::Reject(rejected)),
        };
        if self.request.mode == Mode::Validate {
            return Begun::Ended(ItemOutcome::Ok { output: None });
        }
        match self.downloader.download(&source, self.until).await {
            Downloaded::File(file) => Begun::File(source, file),
            Downloaded::Ended(outcome) => Begun::Ended(outcome),
            Downloaded::OutOfTime => Begun::OutOfTime,
        }
    }

    async fn end(&self, item: &RequestItem, begun: Begun) -> Result<Ended, PortError> {
        match begun {
            Begun::Ended(outcome) => Ok(Ended::Outcome(outcome)),
            Begun::OutOfTime => Ok(Ended::OutOfTime),
            Begun::File(source, file) => {
                // On the heap: the type of the future, with a call of S3 in it, is too deep for the compiler.
                let finish = Box::pin(self.finish(item, source, file));
                let finished = timeout_at(self.until.into(), finish).await;
                finished.unwrap_or(Ok(Ended::OutOfTime))
            }
        }
    }

    /// Converts an image, and stores the copies.
    async fn finish(&self, item: &RequestItem, source: Source, file: Vec<u8>) -> Result<Ended, PortError> {
        let image = match self.converter.convert(file, self.options.conversion.clone()).await {
            Conversion::Done(image) => image,
            Conversion::Refused(rejection) => {
                return Ok(Ended::Outcome(ItemOutcome::Reject(refused_image(&rejection, source.field))));
            }
            Conversion::Panicked => return Ok(Ended::Outcome(ItemOutcome::Reject(panicked(source.field)))),
        };
        let folder = JobFolder { tenant: &self.request.job.tenant, id: self.request.job.id };
        match store(self.files, folder, item.number, image).await {
            Stored::Done(output) => Ok(Ended::Outcome(ItemOutcome::Ok { output: Some(output) })),
            Stored::Unavailable(error) => Ok(Ended::StorageUnavailable(error)),
            Stored::Refused(error) => Err(error),
        }
    }

    /// Returns the answer with these results. An answer has at least one: if the time ended within the first item, this
    /// item spends a try, so that an image that never fits into a call fails at last.
    fn answer(&self, mut results: Vec<ItemResult>) -> Answer {
        if results.is_empty()
            && let Some(first) = self.request.items.first()
        {
            let reason = "the image was not finished before the end of the call".to_owned();
            results.push(ItemResult { key: first.key.clone(), outcome: ItemOutcome::Retry { after: None, reason } });
        }
        Answer::Results { results }
    }
}

/// Returns what was done before the bucket was unavailable. The other items are sent again, without spending a try.
fn unavailable(results: Vec<ItemResult>, error: &PortError) -> Answer {
    tracing::warn!(error = telemetry::chain(error), "cannot store the copies of an image; its item is sent again");
    if results.is_empty() {
        let reason = "the storage of the images is unavailable";
        return Answer::RetryBatch { retry_batch: RetryBatch { after: STORAGE_WAIT, reason } };
    }
    Answer::Results { results }
}

fn panicked(field: Option<String>) -> Rejected {
    let message = "The image could not be converted. Save it again, or use another format.".to_owned();
    Rejected { code: "conversion_failed", field, message }
}
