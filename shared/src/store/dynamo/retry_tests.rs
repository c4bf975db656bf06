//! Tables that refuse calls, or process only a part of each batch, and the calls that follow.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use futures::FutureExt;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::Job;
use longshore_domain::ports::{
    Created, Definition, JobStore, JobTransitions, Ledger, PortResult, Removal, UploadRelease,
};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use super::super::item::{Item, text};
use super::super::keys::Key;
use super::*;

thread_local! {
    static WAITED: RefCell<Vec<Duration>> = const { RefCell::new(Vec::new()) };
}

/// A table that refuses a number of calls because of conflicts, and accepts the next. Records the calls, with the token
/// of each transaction.
#[derive(Clone, Debug)]
struct Contended {
    refusals: usize,
    calls: Arc<Mutex<Vec<(String, Value)>>>,
}

impl HttpConnector for Contended {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let operation = target.rsplit('.').next().unwrap_or_default().to_owned();
        let body: Value = serde_json::from_slice(request.body().bytes().unwrap_or_default()).unwrap_or_default();
        let conflict = match operation.as_str() {
            "TransactWriteItems" => json!({
                "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
                "CancellationReasons": [{ "Code": "None" }, { "Code": "TransactionConflict" }],
            }),
            _ => json!({ "__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException" }),
        };
        let is_read = matches!(operation.as_str(), "Query" | "GetItem" | "BatchGetItem");
        let mut calls = self.calls.lock().unwrap();
        if !is_read {
            calls.push((operation, body["ClientRequestToken"].clone()));
        }
        let refused = !is_read && calls.len() <= self.refusals;
        let (status, answer) = if refused { (400_u16, conflict) } else { (200, json!({})) };
        let answer = HttpResponse::new(status.try_into().unwrap(), answer.to_string().into());
        HttpConnectorFuture::ready(Ok(answer))
    }
}

/// A table that refuses every call with this code.
#[derive(Clone, Debug)]
struct Refusing(&'static str);

impl HttpConnector for Refusing {
    fn call(&self, _: HttpRequest) -> HttpConnectorFuture {
        let error = json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{}", self.0) });
        HttpConnectorFuture::ready(Ok(HttpResponse::new(400_u16.try_into().unwrap(), error.to_string().into())))
    }
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

/// Creates a store on a contended table, without waits.
fn store(refusals: usize) -> (DynamoStore, Contended) {
    let table = Contended { refusals, calls: Arc::default() };
    (store_on(table.clone()), table)
}

/// Creates a store on this table, without waits.
pub(in super::super) fn store_on(table: impl HttpConnector + 'static) -> DynamoStore {
    let connector = SharedHttpConnector::new(table);
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("eu-central-1"))
        .credentials_provider(Credentials::new("key", "secret", None, None, "test"))
        .retry_config(RetryConfig::disabled())
        .http_client(http_client_fn(move |_, _| connector.clone()));
    let store = DynamoStore::new(Client::from_conf(config.build()), "t".into());
    DynamoStore { sleep: |_| futures::future::ready(()).boxed(), ..store }
}

/// Creates a store on a table that leaves requests, and records its waits.
fn leaving(times: u32) -> (DynamoStore, Leaving) {
    let table = Leaving { times: Arc::new(Mutex::new(times)), calls: Arc::default() };
    let mut store = store_on(table.clone());
    store.sleep = |time| {
        WAITED.with_borrow_mut(|waited| waited.push(time));
        futures::future::ready(()).boxed()
    };
    WAITED.take();
    (store, table)
}

fn job() -> Job {
    Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(1_000))
}

async fn create(store: &DynamoStore) -> PortResult<Created<JobId>> {
    store.create_job(&job(), &Definition::new(json!({})), None).await
}

#[tokio::test]
async fn a_conflicting_transaction_is_repeated_under_the_same_token() {
    let (store, table) = store(9);
    assert_eq!(create(&store).await.unwrap(), Created::New);
    let calls = table.calls.lock().unwrap().clone();
    assert_eq!(calls.len(), 10);
    assert!(calls.iter().all(|call| *call == calls[0] && call.1.is_string()), "{calls:?}");
}

#[tokio::test]
async fn a_write_that_always_conflicts_ends_as_busy() {
    let (store, table) = store(usize::MAX);
    let error = create(&store).await.unwrap_err();
    assert!(error.is_busy(), "{error:?}");
    let calls = table.calls.lock().unwrap().len();
    assert!(calls > 6 && calls < 20, "{calls}");
}

#[tokio::test]
async fn single_writes_that_conflict_with_a_transaction_are_repeated() {
    let (updates, table) = store(9);
    // The response is not a readable item; only the calls matter.
    drop(updates.delete(JobId::generate(), Timestamp(1)).await);
    assert_eq!(table.calls.lock().unwrap().len(), 10);
    let (deletes, table) = store(9);
    assert_eq!(
        deletes.release_upload(JobId::generate(), FileGuid::generate()).await.unwrap(),
        UploadRelease::RemoveFile
    );
    assert_eq!(table.calls.lock().unwrap().len(), 11, "the use of the upload, and the upload");
}

#[tokio::test]
async fn a_throttled_store_call_is_distinguished_from_a_failed_one() {
    for (code, is_busy) in THROTTLED.into_iter().map(|code| (code, true)).chain([("AccessDeniedException", false)]) {
        let (store, id) = (store_on(Refusing(code)), job().job_id);
        let read = store.job(id).await.unwrap_err();
        let query = store.progress(id).await.unwrap_err();
        let written = store.begin(id, 0, Timestamp(0)).await.unwrap_err();
        assert_eq!([read, query, written].map(|error| error.is_busy()), [is_busy; 3], "{code}");
    }
}

#[test]
fn a_transaction_is_repeated_only_if_every_reason_is_transient() {
    for (codes, expected) in [
        (&["None", "TransactionConflict"][..], true),
        (&["ThrottlingError", "None"], true),
        (&["ConditionalCheckFailed", "TransactionConflict"], false),
        (&["None", "ConditionalCheckFailed"], false),
        (&["ValidationError"], false),
        (&[], false),
    ] {
        let reasons: Vec<_> = codes.iter().map(|c| CancellationReason::builder().code(*c).build()).collect();
        assert_eq!(all_transient(&reasons), expected, "{codes:?}");
    }
}

fn keys(count: u32) -> Vec<Item> {
    (0..count).map(|n| [("PK".to_owned(), text("p")), ("SK".to_owned(), text(n.to_string()))].into()).collect()
}

#[tokio::test]
async fn unprocessed_items_of_a_batch_are_requested_again_after_a_wait() {
    let (store, table) = leaving(4);
    let groups = (0..9).map(|group| Key::group(JobId::generate(), group)).collect();
    assert_eq!(store.batch_get("progress", groups).await.unwrap().len(), 9);
    assert_eq!(*table.calls.lock().unwrap(), [9, 8, 7, 6, 5]);
    assert_eq!(WAITED.take().len(), 4);

    let (store, table) = leaving(4);
    store.delete_batch(&keys(9)).await.unwrap();
    assert_eq!(*table.calls.lock().unwrap(), [9, 8, 7, 6, 5]);
    assert_eq!(WAITED.take().len(), 4);
}

#[tokio::test]
async fn a_batch_that_stays_unprocessed_is_an_error() {
    let (store, table) = leaving(u32::MAX);
    let groups = (0..99).map(|group| Key::group(JobId::generate(), group)).collect();
    assert!(store.batch_get("progress", groups).await.is_err());
    assert_eq!(table.calls.lock().unwrap().len(), WAITED.take().len() + 1);

    let (store, table) = leaving(u32::MAX);
    assert!(store.delete_batch(&keys(25)).await.is_err());
    assert_eq!(table.calls.lock().unwrap().len(), WAITED.take().len() + 1);
}
