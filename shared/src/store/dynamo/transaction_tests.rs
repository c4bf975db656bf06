//! A table whose first reply to each transaction is lost, and the tokens under which transactions come.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use longshore_domain::group::{GroupPlan, Manifest};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Job, Reopen, Status, Validation};
use longshore_domain::ports::{Created, Definition, JobStore, JobTransitions, Reopened, Started, Upload};
use longshore_domain::time_stamp::Timestamp;
use serde_json::{Value, json};

use super::DynamoStore;

/// Tokens of the transactions that came, each with the number of the call.
#[derive(Clone, Debug, Default)]
struct Lossy(Arc<Mutex<Vec<String>>>);

impl HttpConnector for Lossy {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let body: Value = serde_json::from_slice(request.body().bytes().unwrap_or_default()).unwrap_or_default();
        if request.headers().get("x-amz-target").is_some_and(|target| target.ends_with("TransactWriteItems")) {
            let token = body["ClientRequestToken"].as_str().unwrap_or_default().to_owned();
            let mut tokens = self.0.lock().unwrap();
            let first = !tokens.contains(&token);
            tokens.push(token);
            if first {
                return HttpConnectorFuture::ready(Err(ConnectorError::io("the reply is lost".into())));
            }
        }
        HttpConnectorFuture::ready(Ok(HttpResponse::new(200_u16.try_into().unwrap(), json!({}).to_string().into())))
    }
}

fn store() -> (DynamoStore, Lossy) {
    let table = Lossy::default();
    let connector = SharedHttpConnector::new(table.clone());
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("eu-central-1"))
        .credentials_provider(Credentials::new("key", "secret", None, None, "test"))
        .retry_config(RetryConfig::standard().with_initial_backoff(Duration::from_millis(1)))
        .http_client(http_client_fn(move |_, _| connector.clone()));
    (DynamoStore::new(aws_sdk_dynamodb::Client::from_conf(config.build()), "t".into()), table)
}

#[tokio::test]
async fn a_transaction_whose_reply_is_lost_comes_again_under_its_own_token() {
    const AT: Timestamp = Timestamp(1_000);
    let (store, table) = store();
    let definition = Definition { options: json!({}), columns: None };
    let job = Job::waiting(JobId::generate(), "t", "import", AT);
    assert_eq!(store.create_job(&job, &definition, None).await.unwrap(), Created::New);
    let started = Job {
        validation: Validation { started_from: Some(job.job_id), ..Validation::default() },
        ..Job::waiting(JobId::generate(), "t", "import", AT)
    };
    assert_eq!(store.start_job(&started, &definition).await.unwrap(), Started::New);
    let ended = Job { status: Status::Failed, ..job.clone() };
    let reopen = Reopen { generation: 0, at: AT, deadline_at: AT, corrected: None, selected_chunks: None };
    assert!(matches!(store.reopen(&ended, &reopen).await.unwrap(), Reopened::Made(_)));
    let upload = Upload {
        file_guid: FileGuid::generate(),
        tenant: "t".into(),
        key: "uploads/t/1".into(),
        file_name: "a.csv".into(),
        content_type: "text/csv".into(),
        size_bytes: 3,
        sha256: None,
        multipart: None,
        promised_at: AT,
        expires_at: 9,
    };
    assert_eq!(store.create_upload(&upload, None).await.unwrap(), Created::New);
    let plan = GroupPlan::of_file(0, Manifest { group: 0, chunks: Vec::new() }, 0..0);
    // The job that is read afterwards is none: only the token matters.
    store.commit_group(&job, &plan, AT).await.unwrap();

    let tokens = table.0.lock().unwrap().clone();
    assert_eq!(tokens.len(), 10, "{tokens:?}");
    assert!(tokens.chunks(2).all(|pair| pair[0] == pair[1] && !pair[0].is_empty()), "{tokens:?}");
    assert_eq!(tokens.iter().collect::<BTreeSet<_>>().len(), 5, "another transaction has another token: {tokens:?}");
}
