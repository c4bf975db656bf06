//! A contended table, and the results of its writers.

use std::sync::{Arc, Mutex};

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

use super::*;

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

/// Creates a store on such a table, without waits.
fn store(refusals: usize) -> (DynamoStore, Contended) {
    let table = Contended { refusals, calls: Arc::default() };
    (store_on(table.clone()), table)
}

fn store_on(table: impl HttpConnector + 'static) -> DynamoStore {
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

fn job() -> Job {
    Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(1_000))
}

async fn create(store: &DynamoStore) -> PortResult<Created<JobId>> {
    store.create_job(&job(), &Definition { options: json!({}), columns: None }, None).await
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
        let written = store.begin(id, Timestamp(0)).await.unwrap_err();
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
