//! The function with a server of images and files in memory, called by the contract.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::time::Duration;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use image_handler::{HandlerError, ImageHandler, TimeLimits};
use longshore_domain::ids::{ItemKey, JobId};
use longshore_domain::ports::Files;
use longshore_domain::remote::{Answer, ItemOutcome, read_answer};
use longshore_domain::timestamp::Timestamp;
use longshore_outbound::client::Client;
use longshore_outbound::limits::Limits;
use longshore_outbound::public_url::PublicUrls;
use longshore_testing::MemoryFiles;
use serde_json::{Value, json};

use crate::server::{Reaction, Requested, Server};

pub(crate) const JOB: &str = "01980000-0000-7000-8000-000000000001";

/// Times that no test reaches by accident.
pub(crate) const LONG: TimeLimits = TimeLimits { download: Duration::from_secs(60), reserve: Duration::from_secs(3) };

/// The function, and what is around it.
pub(crate) struct World<F = MemoryFiles> {
    pub(crate) handler: ImageHandler<F>,
    pub(crate) files: MemoryFiles,
    pub(crate) requested: Requested,
    port: u16,
}

impl World {
    pub(crate) async fn new<const N: usize>(paths: [(&str, Reaction); N]) -> Self {
        Self::with(paths, LONG).await
    }

    pub(crate) async fn with<const N: usize>(paths: [(&str, Reaction); N], times: TimeLimits) -> Self {
        World::over(paths, times, |files| files).await
    }
}

impl<F: Files> World<F> {
    /// Creates the function over files that wrap those in memory.
    pub(crate) async fn over<const N: usize>(
        paths: [(&str, Reaction); N],
        times: TimeLimits,
        wrap: impl Fn(MemoryFiles) -> F,
    ) -> Self {
        let paths: BTreeMap<_, _> = paths.into_iter().map(|(path, reaction)| (path.to_owned(), reaction)).collect();
        let Server { port, local, requested } = Server::start(paths).await;
        let allowed = PublicUrls::local(&[port], &local);
        let client = Client::local(Limits::default(), local).unwrap();
        let files = MemoryFiles::default();
        Self { handler: ImageHandler::new(wrap(files.clone()), client, allowed, times), files, requested, port }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }

    /// Sends the images at these paths, numbered from 1, and reads the answer as a worker does.
    pub(crate) async fn images(&self, options: Value, paths: &[&str]) -> Vec<Option<ItemOutcome>> {
        let values = paths.iter().map(|path| json!(self.url(path))).collect();
        self.send(request(options, values, Duration::from_secs(60))).await
    }

    pub(crate) async fn send(&self, request: Value) -> Vec<Option<ItemOutcome>> {
        self.try_send(request).await.unwrap()
    }

    /// Sends a request to a handler that may be stuck in an earlier one.
    pub(crate) async fn try_send(&self, request: Value) -> Result<Vec<Option<ItemOutcome>>, HandlerError> {
        let count = request["items"].as_array().unwrap().len() as u64;
        let answer = self.handler.answer(&request.to_string(), Timestamp(i64::MAX)).await?;
        let keys: Vec<_> = (1..=count).map(key).collect();
        match read_answer(&serde_json::to_vec(&answer).unwrap(), &keys).unwrap() {
            Answer::Items(items) => Ok(items.into_outcomes()),
            other => panic!("{other:?}"),
        }
    }

    /// Sends one image with the default options, and returns a description of its outcome.
    pub(crate) async fn outcome(&self, path: &str) -> String {
        describe(self.images(json!({}), &[path]).await.remove(0).as_ref())
    }
}

pub(crate) fn key(number: u64) -> ItemKey {
    ItemKey { job_id: JobId::parse(JOB).unwrap(), number }
}

/// Returns a request of the contract.
pub(crate) fn request(options: Value, values: Vec<Value>, time: Duration) -> Value {
    let item = |(number, value)| json!({ "key": key(number).to_string(), "number": number, "try": 1, "value": value });
    let deadline = Timestamp(Timestamp::now().0 + i64::try_from(time.as_millis()).unwrap());
    json!({
        "schema": "longshore.items/1", "mode": "run",
        "job": { "id": JOB, "type": "image", "tenant": "acme", "generation": 1, "options": options },
        "batch": { "id": "batch-1", "deadline": deadline.to_rfc3339() },
        "items": (1..).zip(values).map(item).collect::<Vec<_>>()
    })
}

/// Describes an outcome: `ok`, `reject CODE`, `retry SECONDS` or `unanswered`.
pub(crate) fn describe(outcome: Option<&ItemOutcome>) -> String {
    use longshore_domain::outcome::Outcome::{Ok, Reject, Retry};
    match outcome {
        None => "unanswered".to_owned(),
        Some(Ok(_)) => "ok".to_owned(),
        Some(Reject(rejection)) => format!("reject {}", rejection.code),
        Some(Retry { after: None, .. }) => "retry".to_owned(),
        Some(Retry { after: Some(after), .. }) => format!("retry {}", after.as_secs()),
        Some(other) => format!("{other:?}"),
    }
}

pub(crate) fn described(outcomes: &[Option<ItemOutcome>]) -> Vec<String> {
    outcomes.iter().map(|outcome| describe(outcome.as_ref())).collect()
}

/// Returns an image of these dimensions.
pub(crate) fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let image = RgbImage::from_fn(width, height, |x, y| Rgb([(x / 16) as u8, (y / 16) as u8, 7]));
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::from(image).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}
