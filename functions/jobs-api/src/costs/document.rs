//! Costs in US dollars, as the API shows them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use longshore_domain::cost::{Cost, CostEstimate, Month, MonthCost, Prices};
use longshore_domain::tenant::TenantId;
use serde::Serialize;
use utoipa::ToSchema;

/// Maximum number of job types, and of tenants, in one document.
const MAX_ROWS: usize = 1_000;

/// A cost in US dollars at AWS's list prices. Included are the functions that split the source, process the chunks and
/// write the report, with their calls, messages and requests. Not included are calls of the API, the upload, storage,
/// traffic, logs, webhooks, handlers of registered job types, and what the stack costs without jobs.
#[derive(Copy, Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Cost)]
pub struct CostDocument {
    /// Sum of the parts.
    #[schema(minimum = 0, examples(0.000_242))]
    pub total: f64,
    /// Cost by what is billed.
    pub parts: CostParts,
}

/// The parts of a cost in US dollars.
#[derive(Copy, Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostParts {
    /// Time of Lambda functions.
    pub compute: f64,
    /// Invocations of Lambda functions.
    pub requests: f64,
    /// Reads and writes of DynamoDB tables.
    pub database: f64,
    /// Requests to the S3 bucket.
    pub storage: f64,
    /// Requests to SQS queues.
    pub queue: f64,
}

impl CostDocument {
    pub(crate) fn new(cost: Cost) -> Self {
        let Cost { compute, requests, database, storage, queue } = cost;
        let parts = CostParts {
            compute: compute.dollars(),
            requests: requests.dollars(),
            database: database.dollars(),
            storage: storage.dollars(),
            queue: queue.dollars(),
        };
        Self { total: cost.total().dollars(), parts }
    }
}

/// The estimated cost of one run of a job without failures, from the size of its source, and what is assumed for it.
#[derive(Copy, Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CostEstimate)]
pub struct EstimateDocument {
    /// Sum of the parts in US dollars.
    #[schema(minimum = 0)]
    pub total: f64,
    /// Cost by what is billed.
    pub parts: CostParts,
    /// Number of items: that of the request, of the validation or of the part of another job, or assumed from the size
    /// of the file.
    #[schema(minimum = 1)]
    pub items: u64,
    /// Assumed size of an item in bytes; absent if the sizes of the items are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed_item_bytes: Option<u64>,
    /// Assumed time for writing a record in microseconds; absent if the job writes no records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed_write_micros: Option<u64>,
}

impl EstimateDocument {
    pub(crate) fn new(estimate: &CostEstimate) -> Self {
        let CostEstimate { cost, items, assumed_item_bytes, assumed_write_micros } = *estimate;
        let CostDocument { total, parts } = CostDocument::new(cost);
        Self { total, parts, items, assumed_item_bytes, assumed_write_micros }
    }
}

/// The costs of jobs that ended in a month: of one tenant, or of all.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MonthCosts)]
pub struct MonthCostsDocument {
    /// The month in UTC.
    #[schema(examples("2026-11"))]
    pub month: String,
    /// True if the month has more entries than are read: `runs` and `cost` are too low, and rows are missing. An entry is
    /// a job type of a tenant; 10,000 of one tenant are read, and 100,000 of all.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub truncated: bool,
    /// Number of job types and tenants that are not listed; absent if there are none. `runs` and `cost` include them.
    #[serde(skip_serializing_if = "is_zero")]
    #[schema(required = false)]
    pub omitted_rows: usize,
    /// Number of runs that ended: each job, and each retry of it.
    pub runs: u64,
    /// Their cost.
    pub cost: CostDocument,
    /// Costs by job type, in the order of their names; up to the first 1,000.
    pub job_types: Vec<TypeCostDocument>,
    /// Costs by tenant, the highest first; up to the first 1,000. Only in the costs of all tenants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenants: Option<Vec<TenantCostDocument>>,
    /// Source of the prices.
    pub prices: CostPrices,
}

/// The costs of a job type in a month.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TypeCosts)]
pub struct TypeCostDocument {
    /// Name of the job type.
    pub job_type: String,
    /// Number of runs that ended.
    pub runs: u64,
    /// Their cost.
    pub cost: CostDocument,
}

/// The costs of a tenant in a month.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TenantCosts)]
pub struct TenantCostDocument {
    /// Name of the tenant.
    pub tenant: String,
    /// Number of runs that ended.
    pub runs: u64,
    /// Their cost.
    pub cost: CostDocument,
}

/// The list prices that a stack of this version uses.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostPrices {
    /// Date of the prices.
    #[schema(format = Date)]
    pub date: String,
    /// Region of the prices.
    #[schema(examples("us-east-1"))]
    pub region: String,
}

impl MonthCostsDocument {
    /// Creates the document of the costs of this tenant, or of all: then it lists them. There are more costs than the
    /// maximum if not all were read.
    pub(crate) fn new(month: &Month, tenant: Option<&TenantId>, costs: &[MonthCost]) -> Self {
        let Prices { date, region, .. } = Prices::current().clone();
        let all: Sum = costs.iter().collect();
        let mut job_types = by_type(costs);
        let mut tenants = if tenant.is_none() { Some(by_tenant(costs)) } else { None };
        let rows = |listed: usize| listed.saturating_sub(MAX_ROWS);
        let omitted_rows = rows(job_types.len()) + rows(tenants.as_ref().map_or(0, Vec::len));
        job_types.truncate(MAX_ROWS);
        tenants.iter_mut().for_each(|tenants| tenants.truncate(MAX_ROWS));
        Self {
            month: month.to_string(),
            truncated: costs.len() > MonthCost::max(tenant),
            omitted_rows,
            runs: all.runs,
            cost: CostDocument::new(all.cost),
            job_types,
            tenants,
            prices: CostPrices { date, region },
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Returns the costs of each job type, in the order of their names.
fn by_type(costs: &[MonthCost]) -> Vec<TypeCostDocument> {
    let document = |(name, Sum { runs, cost }): (&str, Sum)| TypeCostDocument {
        job_type: name.to_owned(),
        runs,
        cost: CostDocument::new(cost),
    };
    sums(costs, |cost| cost.job_type.as_str()).into_iter().map(document).collect()
}

/// Returns the costs of each tenant, the highest first.
fn by_tenant(costs: &[MonthCost]) -> Vec<TenantCostDocument> {
    let mut tenants: Vec<_> = sums(costs, |cost| cost.tenant.as_str()).into_iter().collect();
    tenants.sort_by_key(|(_, sum)| Reverse(sum.cost.total()));
    let document = |(name, Sum { runs, cost }): (&str, Sum)| TenantCostDocument {
        tenant: name.to_owned(),
        runs,
        cost: CostDocument::new(cost),
    };
    tenants.into_iter().map(document).collect()
}

/// The runs of several job types or tenants, and their cost.
#[derive(Copy, Clone, Default)]
struct Sum {
    runs: u64,
    cost: Cost,
}

impl<'a> FromIterator<&'a MonthCost> for Sum {
    fn from_iter<T: IntoIterator<Item = &'a MonthCost>>(costs: T) -> Self {
        costs.into_iter().fold(Self::default(), Self::with)
    }
}

impl Sum {
    fn with(self, cost: &MonthCost) -> Self {
        Self { runs: self.runs.saturating_add(cost.runs), cost: self.cost + cost.cost }
    }
}

/// Returns the sums by a name, in the order of the names.
fn sums(costs: &[MonthCost], name: fn(&MonthCost) -> &str) -> BTreeMap<&str, Sum> {
    let mut sums = BTreeMap::<&str, Sum>::new();
    for cost in costs {
        let sum = sums.entry(name(cost)).or_default();
        *sum = sum.with(cost);
    }
    sums
}

#[cfg(test)]
mod tests {
    use longshore_domain::timestamp::Timestamp;

    use super::*;

    /// The document of so many job types of one tenant, or of the tenants of all.
    fn document(types: usize, of_tenant: bool) -> MonthCostsDocument {
        let tenant = TenantId::from_static("acme");
        let cost =
            |n| MonthCost { tenant: tenant.clone(), job_type: format!("type-{n:06}"), runs: 1, cost: Cost::default() };
        let costs: Vec<_> = (0..types).map(cost).collect();
        MonthCostsDocument::new(&Month::from_time(Timestamp(0)), of_tenant.then_some(&tenant), &costs)
    }

    #[test]
    fn rows_that_are_not_listed_are_counted_and_in_the_sum() {
        let (all, more) = (document(1_000, true), document(1_003, true));
        assert_eq!((all.omitted_rows, more.omitted_rows, more.job_types.len()), (0, 3, 1_000));
        assert_eq!((more.runs, more.truncated), (1_003, false));
        let json = serde_json::to_value(&all).unwrap();
        assert!(json.get("omittedRows").is_none() && json.get("truncated").is_none(), "{json}");
    }

    #[test]
    fn a_month_with_more_entries_than_are_read_is_truncated() {
        for (max, of_tenant) in [(MonthCost::MAX_OF_TENANT, true), (MonthCost::MAX_OF_ALL, false)] {
            assert!(!document(max, of_tenant).truncated && document(max + 1, of_tenant).truncated, "{max}");
        }
    }
}
