//! The costs of jobs, by month, tenant and job type.
//!
//! The counters (`COSTS#month` / `tenant#type`) change in the transaction that ends a run of a job. So each run
//! counts once, even if its call is repeated.

use aws_sdk_dynamodb::types::TransactWriteItem;
use longshore_domain::cost::{Charge, Cost, Month, MonthCost, NanoDollars};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Transition};
use longshore_domain::ports::{JobStore, PortResult};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use super::item::{Item, ItemError, number, read_number, read_text, text};
use super::keys::{Key, SK, costs_pk, costs_sk};
use super::retry::unanswered;
use super::transaction::Transacted;
use super::update::Update;
use super::{DynamoStore, failed};

const READ: &str = "month_costs";

impl DynamoStore {
    /// TransactWriteItems: the update of a job, and the [addition](Self::add_charge) of its charge. Then reads the job.
    /// A refused transaction counts as made if the job is as `own` expects: this same call was applied before.
    ///
    /// After an applied one, the job that is read may be in a later state, such as that of a retry. Callers must not
    /// take it for what they wrote. If it cannot be read, the call fails, although the end is made.
    pub(super) async fn transition_charged(
        &self,
        id: JobId,
        update: Update,
        charge: TransactWriteItem,
        own: impl Fn(&Job) -> bool,
    ) -> PortResult<Transition> {
        let operation = update.operation;
        let writes = vec![self.update_of(update)?, charge];
        let applied = matches!(self.transact(operation, writes).await?, Transacted::Applied);
        let made = self.job(id).await?.filter(|job| applied || own(job));
        Ok(made.map_or(Transition::Refused, |job| Transition::Made(Box::new(job))))
    }

    /// Returns the write that adds the charge of a run that ends at this time.
    pub(super) fn add_charge(&self, charge: &Charge, at: Timestamp) -> PortResult<TransactWriteItem> {
        let Cost { compute, requests, database, storage, queue } = charge.cost;
        self.update_of(Update {
            operation: "add_charge",
            key: Key::month_cost(&charge.tenant, &Month::from_time(at), &charge.job_type),
            update: "ADD #runs :one, #compute :compute, #requests :requests, #database :database, #storage :storage, \
                     #queue :queue SET #expiresAt = :expiry"
                .into(),
            condition: String::new(),
            values: vec![
                (":one", number(1)),
                (":compute", number(compute.0)),
                (":requests", number(requests.0)),
                (":database", number(database.0)),
                (":storage", number(storage.0)),
                (":queue", number(queue.0)),
                (":expiry", number(at.plus_days(MonthCost::RETENTION_DAYS).seconds())),
            ],
        })
    }

    /// Consistent Query of `COSTS#month` / `tenant#`, or of the whole partition for all tenants, page by page. Ends one
    /// item after the maximum.
    pub(super) async fn query_month(&self, month: &Month, tenant: Option<&TenantId>) -> PortResult<Vec<MonthCost>> {
        let (most, mut costs, mut from) = (MonthCost::max(tenant) + 1, Vec::new(), None);
        loop {
            let query = self.client.query().table_name(&self.table).consistent_read(true);
            let query = query.expression_attribute_values(":month", text(costs_pk(month)));
            let query = match tenant {
                Some(tenant) => query
                    .key_condition_expression("PK = :month AND begins_with(SK, :tenant)")
                    .expression_attribute_values(":tenant", text(costs_sk(tenant))),
                None => query.key_condition_expression("PK = :month"),
            };
            let query = query.set_limit(i32::try_from(most - costs.len()).ok()).set_exclusive_start_key(from);
            let page = query.send().await.map_err(unanswered(READ))?;
            for item in page.items() {
                costs.push(month_cost(item).map_err(failed(READ))?);
            }
            from = page.last_evaluated_key;
            if from.is_none() || costs.len() >= most {
                return Ok(costs);
            }
        }
    }
}

fn month_cost(item: &Item) -> Result<MonthCost, ItemError> {
    let (tenant, job_type) = read_text(item, SK)?.split_once('#').ok_or(ItemError::Attribute(SK))?;
    let part = |name| read_number(item, name).map(NanoDollars);
    Ok(MonthCost {
        tenant: TenantId::parse(tenant).ok_or(ItemError::Attribute(SK))?,
        job_type: job_type.to_owned(),
        runs: read_number(item, "runs")?,
        cost: Cost {
            compute: part("compute")?,
            requests: part("requests")?,
            database: part("database")?,
            storage: part("storage")?,
            queue: part("queue")?,
        },
    })
}

#[cfg(test)]
mod tests {
    use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture};
    use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
    use longshore_domain::ports::TenantCounts;
    use serde_json::{Value, json};

    use super::super::retry::tests::store_on;
    use super::*;

    /// A month with more items than any limit, in pages of up to 3,000.
    #[derive(Debug)]
    struct Endless;

    impl HttpConnector for Endless {
        fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
            let query: Value = serde_json::from_slice(request.body().bytes().unwrap_or_default()).unwrap_or_default();
            let number = json!({ "N": "1" });
            let item = json!({
                "SK": { "S": "acme#import" }, "runs": number, "compute": number, "requests": number,
                "database": number, "storage": number, "queue": number,
            });
            let items = vec![item; query["Limit"].as_u64().unwrap_or_default().min(3_000) as usize];
            let page = json!({ "Items": items, "LastEvaluatedKey": { "SK": { "S": "acme#import" } } });
            let response = HttpResponse::new(200_u16.try_into().unwrap(), page.to_string().into());
            HttpConnectorFuture::ready(Ok(response))
        }
    }

    #[tokio::test]
    async fn one_item_more_than_the_maximum_shows_that_there_are_more() {
        let (store, month) = (store_on(Endless), Month::from_time(Timestamp(0)));
        let tenant = TenantId::from_static("acme");
        let costs = store.month_costs(&month, Some(&tenant)).await.unwrap();
        assert_eq!(costs.len(), MonthCost::MAX_OF_TENANT + 1);
    }
}
