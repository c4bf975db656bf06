//! Transactions over several items: all or nothing, and the conditions that did not hold.

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{Delete, Put, TransactWriteItem, Update as UpdateOfOne};
use longshore_domain::ports::PortResult;
use uuid::Uuid;

use super::item::Item;
use super::job_type_item::Condition;
use super::keys::{Key, PK};
use super::retry::unwritten;
use super::update::Update;
use super::update::names;
use super::{DynamoStore, failed};

/// Result of a transaction.
#[derive(Debug)]
pub(super) enum Transacted {
    /// Every write was applied.
    Applied,
    /// None was applied. For each write, in order, true if its condition is known not to have held.
    Refused(Vec<bool>),
}

impl Transacted {
    /// Returns true if the condition of the write at this index did not hold.
    pub(super) fn refused_at(&self, index: usize) -> bool {
        matches!(self, Self::Refused(refused) if refused.get(index).is_some_and(|refused| *refused))
    }
}

impl DynamoStore {
    /// TransactWriteItems. All its attempts have one client request token: a canceled one wrote nothing, and an
    /// applied one whose response was lost returns the same response for ten minutes
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html>). A
    /// retry that the token does not cover is refused because of this same call's earlier write, and the caller
    /// compares.
    pub(super) async fn transact(
        &self,
        operation: &'static str,
        writes: Vec<TransactWriteItem>,
    ) -> PortResult<Transacted> {
        let call = self.client.transact_write_items().set_transact_items(Some(writes));
        let call = call.client_request_token(Uuid::new_v4().to_string());
        match self.write(|| call.clone().send()).await {
            Ok(_) => Ok(Transacted::Applied),
            Err(error) => match refused(&error) {
                Some(refused) => Ok(Transacted::Refused(refused)),
                None => Err(unwritten(operation, error)),
            },
        }
    }

    /// Returns a put that never overwrites.
    pub(super) fn put_if_absent(&self, item: Item) -> PortResult<TransactWriteItem> {
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression("attribute_not_exists(#PK)")
            .expression_attribute_names("#PK", PK)
            .build()
            .map_err(failed("put"))?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    /// Returns a conditional delete as one of a transaction's writes.
    pub(super) fn delete_of(&self, key: Key, (condition, values): Condition) -> PortResult<TransactWriteItem> {
        let values: Item = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let delete = Delete::builder()
            .table_name(&self.table)
            .set_key(Some(key.attributes()))
            .set_expression_attribute_names(Some(names(&[&condition])))
            .set_expression_attribute_values(Some(values).filter(|values| !values.is_empty()))
            .condition_expression(condition)
            .build()
            .map_err(failed("delete"))?;
        Ok(TransactWriteItem::builder().delete(delete).build())
    }

    /// Returns a conditional update as one of a transaction's writes.
    pub(super) fn update_of(&self, update: Update) -> PortResult<TransactWriteItem> {
        let values = update.values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let update = UpdateOfOne::builder()
            .table_name(&self.table)
            .set_key(Some(update.key.attributes()))
            .set_expression_attribute_names(Some(names(&[&update.update, &update.condition])))
            .set_expression_attribute_values(Some(values))
            .update_expression(update.update)
            .set_condition_expression(Some(update.condition).filter(|condition| !condition.is_empty()))
            .build()
            .map_err(failed(update.operation))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }
}

/// Returns the conditions that did not hold, if they were the cause, alone or with others. DynamoDB lists a reason
/// for each write, in order:
/// <https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html>. Other cancellations
/// have already been retried, and are errors now.
fn refused(error: &SdkError<TransactWriteItemsError>) -> Option<Vec<bool>> {
    let Some(TransactWriteItemsError::TransactionCanceledException(canceled)) = error.as_service_error() else {
        return None;
    };
    let reasons = canceled.cancellation_reasons().iter();
    let refused: Vec<_> = reasons.map(|reason| reason.code() == Some("ConditionalCheckFailed")).collect();
    refused.contains(&true).then_some(refused)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use aws_sdk_dynamodb::config::retry::RetryConfig;
    use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
    use aws_smithy_runtime_api::client::http::{
        HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn,
    };
    use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
    use aws_smithy_runtime_api::client::result::ConnectorError;
    use longshore_domain::cost::Charge;
    use longshore_domain::group::{GroupPlan, Manifest};
    use longshore_domain::ids::{FileGuid, JobId};
    use longshore_domain::job::{Finish, Job, Reopen, Selection, Status, Validation};
    use longshore_domain::outcome::Counts;
    use longshore_domain::ports::{Created, Definition, JobStore, JobTransitions, Reopened, Started, Upload};
    use longshore_domain::tenant::TenantId;
    use longshore_domain::timestamp::Timestamp;
    use serde_json::{Value, json};

    use super::DynamoStore;

    /// Tokens of the received transactions, each with the number of the call.
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
                    return HttpConnectorFuture::ready(Err(ConnectorError::io("the response is lost".into())));
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

    fn charged_end(job: &Job, at: Timestamp) -> Finish {
        let charge = Some(Charge::new(job, &[]));
        Finish { charge, ..Finish::new(Status::Failed, Counts::default(), at) }
    }

    #[tokio::test]
    async fn a_transaction_whose_response_is_lost_is_repeated_under_the_same_token() {
        const AT: Timestamp = Timestamp(1_000);
        let (store, table) = store();
        let definition = Definition::new(json!({}));
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", AT);
        assert_eq!(store.create_job(&job, &definition, None).await.unwrap(), Created::New);
        let started = Job {
            validation: Validation { started_from: Some(job.job_id), ..Validation::default() },
            ..Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", AT)
        };
        assert_eq!(store.start_job(&started, &definition).await.unwrap(), Started::New);
        let ended = Job { status: Status::Failed, ..job.clone() };
        let reopen = Reopen { generation: 0, at: AT, deadline_at: AT, selection: Selection::All, registration: None };
        assert!(matches!(store.reopen(&ended, &reopen).await.unwrap(), Reopened::Made(_)));
        let upload = Upload {
            file_guid: FileGuid::generate(),
            tenant: TenantId::from_static("t"),
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
        let plan = GroupPlan::from_file(0, Manifest { group: 0, chunks: Vec::new() }, 0..0);
        // The job that is read afterwards does not exist: only the token matters.
        store.commit_group(&job, &plan, AT).await.unwrap();
        store.finish(job.job_id, &charged_end(&job, AT)).await.unwrap();

        let tokens = table.0.lock().unwrap().clone();
        assert_eq!(tokens.len(), 12, "{tokens:?}");
        assert!(tokens.chunks(2).all(|pair| pair[0] == pair[1] && !pair[0].is_empty()), "{tokens:?}");
        assert_eq!(
            tokens.iter().collect::<BTreeSet<_>>().len(),
            6,
            "another transaction has another token: {tokens:?}"
        );
    }
}
