//! `GET /api/operations/pauses`: the pauses that are in force.

use std::sync::Arc;

use axum::extract::State;
use longshore::http::{Answer, Viewer, no_store};
use longshore::openapi::CacheNoStore;
use longshore::refusals;
use longshore_domain::ids::PauseId;
use longshore_domain::pause::{Pause, PauseScope};
use longshore_domain::ports::Pauses;
use serde::Serialize;
use utoipa::ToSchema;

use crate::example_job;
use crate::function::{Backend, Operations};

/// A pause of a job type or of a tenant.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Pause)]
pub struct PauseDocument {
    /// Id of the pause.
    pub pause_id: PauseId,
    /// Job type that is paused; `null` for a tenant.
    #[serde(rename = "type")]
    #[schema(required = true)]
    pub job_type: Option<String>,
    /// Tenant that is paused; `null` for a job type.
    #[schema(required = true)]
    pub tenant: Option<String>,
    /// Start, in RFC 3339.
    #[schema(format = DateTime)]
    pub since: String,
    /// End, in RFC 3339.
    #[schema(format = DateTime)]
    pub until: String,
    /// The operator: the token's claim `sub`.
    pub by: String,
    /// Only in the answer to a call that pauses: `false` if an earlier pause is in force, which stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_new: Option<bool>,
}

impl From<Pause> for PauseDocument {
    fn from(Pause { id, scope, since, until, by }: Pause) -> Self {
        let (job_type, tenant) = match scope {
            PauseScope::JobType(job_type) => (Some(job_type), None),
            PauseScope::Tenant(tenant) => (None, Some(tenant.to_string())),
        };
        let (since, until) = (since.to_rfc3339(), until.to_rfc3339());
        Self { pause_id: id, job_type, tenant, since, until, by, is_new: None }
    }
}

/// The pauses that are in force.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Pauses)]
pub struct PausesDocument {
    /// The pauses, the latest first.
    pub pauses: Vec<PauseDocument>,
}

refusals!(
    /// Refusals of `GET /api/operations/pauses`.
    operator PausesRefusals:
);

/// Returns the pauses.
#[utoipa::path(
    get,
    path = "/api/operations/pauses",
    operation_id = "listPauses",
    tag = "operations",
    summary = "List the pauses of job types and tenants.",
    description = include_str!("list.md").trim_ascii_end(),
    responses(
        (
            status = 200,
            description = "The pauses.",
            body = PausesDocument,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(pauses_example()),
        ),
        PausesRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(State(function): State<Arc<Operations<B>>>, _: Viewer) -> Answer {
    let (now, mut pauses) = ((function.clock)(), function.ports.store.pauses().await?);
    pauses.retain(|pause| pause.is_in_force(now));
    pauses.sort_by_key(|pause| std::cmp::Reverse(pause.since));
    let pauses = pauses.into_iter().map(PauseDocument::from).collect();
    Ok(no_store(PausesDocument { pauses }))
}

/// Example: one pause.
fn pauses_example() -> PausesDocument {
    PausesDocument { pauses: vec![pause_example()] }
}

/// Example: a job type whose handler is being repaired.
pub(crate) fn pause_example() -> PauseDocument {
    PauseDocument {
        pause_id: PauseId(example_job().0),
        job_type: Some("invite".to_owned()),
        tenant: None,
        since: "2026-07-01T09:00:00Z".to_owned(),
        until: "2026-07-01T12:00:00Z".to_owned(),
        by: "3f1b6c2e".to_owned(),
        is_new: None,
    }
}
