//! A table that processes a part of each batch, and the calls that follow.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use futures::FutureExt;
use longshore_domain::ids::JobId;
use serde_json::{Value, json};

use super::super::keys::Key;
use super::DynamoStore;
use crate::store::dynamo::item::{Item, text};

thread_local! {
    static WAITED: RefCell<Vec<Duration>> = const { RefCell::new(Vec::new()) };
}

/// A table that processes one request of each batch, and leaves the others for a number of times.
#[derive(Clone, Debug)]
struct Leaving {
    times: Arc<Mutex<u32>>,
    /// Requests in each call.
    calls: Arc<Mutex<Vec<usize>>>,
}

impl HttpConnector for Leaving {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let body: Value = serde_json::from_slice(request.body().bytes().unwrap_or_default()).unwrap_or_default();
        let reads = request.headers().get("x-amz-target").is_some_and(|target| target.ends_with("BatchGetItem"));
        let requests = &body["RequestItems"]["t"];
        let requests = if reads { &requests["Keys"] } else { requests };
        let mut requests = requests.as_array().cloned().unwrap_or_default();
        self.calls.lock().unwrap().push(requests.len());
        let mut times = self.times.lock().unwrap();
        let worked = if *times > 0 { 1 } else { requests.len() };
        *times = times.saturating_sub(1);
        let left = requests.split_off(worked.min(requests.len()));
        let answer = match (reads, left.is_empty()) {
            (true, true) => json!({"Responses": {"t": requests}, "UnprocessedKeys": {}}),
            (true, false) => json!({"Responses": {"t": requests}, "UnprocessedKeys": {"t": {"Keys": left}}}),
            (false, true) => json!({"UnprocessedItems": {}}),
            (false, false) => json!({"UnprocessedItems": {"t": left}}),
        };
        let status = 200_u16.try_into().unwrap();
        HttpConnectorFuture::ready(Ok(HttpResponse::new(status, answer.to_string().into())))
    }
}

fn store(times: u32) -> (DynamoStore, Leaving) {
    let table = Leaving { times: Arc::new(Mutex::new(times)), calls: Arc::default() };
    let connector = SharedHttpConnector::new(table.clone());
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("eu-central-1"))
        .credentials_provider(Credentials::new("key", "secret", None, None, "test"))
        .http_client(http_client_fn(move |_, _| connector.clone()));
    let mut store = DynamoStore::new(aws_sdk_dynamodb::Client::from_conf(config.build()), "t".into());
    store.sleep = |time| {
        WAITED.with_borrow_mut(|waited| waited.push(time));
        futures::future::ready(()).boxed()
    };
    WAITED.take();
    (store, table)
}

fn keys(count: u32) -> Vec<Item> {
    (0..count).map(|n| [("PK".to_owned(), text("p")), ("SK".to_owned(), text(n.to_string()))].into()).collect()
}

#[tokio::test]
async fn unprocessed_items_of_a_batch_are_requested_again_after_a_wait() {
    let (store, table) = store(4);
    let groups = (0..9).map(|group| Key::group(JobId::generate(), group)).collect();
    assert_eq!(store.batch_get("progress", groups).await.unwrap().len(), 9);
    assert_eq!(*table.calls.lock().unwrap(), [9, 8, 7, 6, 5]);
    assert_eq!(WAITED.take().len(), 4);

    let (store, table) = self::store(4);
    store.delete_batch(&keys(9)).await.unwrap();
    assert_eq!(*table.calls.lock().unwrap(), [9, 8, 7, 6, 5]);
    assert_eq!(WAITED.take().len(), 4);
}

#[tokio::test]
async fn a_batch_that_stays_unprocessed_is_an_error() {
    let (store, table) = store(u32::MAX);
    let groups = (0..99).map(|group| Key::group(JobId::generate(), group)).collect();
    assert!(store.batch_get("progress", groups).await.is_err());
    assert_eq!(table.calls.lock().unwrap().len(), WAITED.take().len() + 1);

    let (store, table) = self::store(u32::MAX);
    assert!(store.delete_batch(&keys(25)).await.is_err());
    assert_eq!(table.calls.lock().unwrap().len(), WAITED.take().len() + 1);
}
