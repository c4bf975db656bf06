//! `GET /api/costs`: the costs of a tenant's jobs in a month; for operators, also read-only ones, those of any tenant,
//! or of all.

use std::sync::Arc;

use axum::extract::State;
use longshore::field_error::FieldError;
use longshore::http::{Answer, Caller, QueryText, Tenant, no_store};
use longshore::openapi::CacheNoStore;
use longshore::problem::{Kind, Problem};
use longshore_domain::cost::Month;
use longshore_domain::ports::TenantCounts;
use longshore_domain::tenant::TenantId;

use super::MonthCostsDocument;
use crate::backend::{Api, Backend};
use crate::openapi::parameters::CostsQuery;
use crate::openapi::refusals::CostsRefusals;

/// Word for all tenants. No tenant has this name.
const ALL: &str = "*";

/// Returns the costs of the jobs that ended in the month of the query, or in the present one.
#[utoipa::path(
    get,
    path = "/api/costs",
    operation_id = "getCosts",
    tag = "jobs",
    summary = "Read the costs of a month by job type.",
    description = include_str!("month.md").trim_ascii_end(),
    params(CostsQuery),
    responses(
        (
            status = 200,
            description = "The costs.",
            body = MonthCostsDocument,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(super::examples::month()),
        ),
        CostsRefusals,
    ),
)]
pub(crate) async fn get<B: Backend>(State(api): State<Arc<Api<B>>>, caller: Caller, query: QueryText) -> Answer {
    let month = match query.get("month") {
        Some(month) => Month::parse(month).ok_or_else(invalid_month)?,
        None => Month::from_time((api.clock)()),
    };
    let own = caller.tenant.map(|Tenant(own)| Tenants::One(own));
    let tenants = match query.get("tenant") {
        Some(name) => Tenants::parse(name)?,
        None => own.clone()?,
    };
    if caller.viewer.is_none() && own.as_ref() != Ok(&tenants) {
        return Err(not_permitted().into());
    }
    let costs = api.ports.store.month_costs(&month, tenants.one()).await?;
    Ok(no_store(MonthCostsDocument::new(&month, tenants.one(), &costs)))
}

/// The tenants whose costs are read.
#[derive(Clone, Eq, PartialEq, Debug)]
enum Tenants {
    One(TenantId),
    All,
}

impl Tenants {
    fn parse(name: &str) -> Result<Self, Problem> {
        if name == ALL {
            return Ok(Self::All);
        }
        TenantId::parse(name).map(Self::One).ok_or_else(invalid_tenant)
    }

    /// Returns the tenant; `None` for all.
    fn one(&self) -> Option<&TenantId> {
        match self {
            Self::One(tenant) => Some(tenant),
            Self::All => None,
        }
    }
}

fn not_permitted() -> Problem {
    let detail = "only operators and read-only operators can read the costs of other tenants; leave out tenant to read those \
                  of your own";
    Problem::new(Kind::NotAnOperator, detail)
}

fn invalid_tenant() -> Problem {
    let detail = "tenant must be the name of a tenant, or * for all tenants";
    Problem::invalid(vec![FieldError::new("/tenant", "invalid_tenant", detail)])
}

fn invalid_month() -> Problem {
    let detail = "month must be a year and a month, such as 2026-11";
    Problem::invalid(vec![FieldError::new("/month", "invalid_month", detail)])
}
