//! `POST /api/operations/pauses`: pauses a job type or a tenant.

use std::sync::Arc;

use axum::extract::State;
use longshore::http::{Answer, Bad, Checked, Fields, JsonFields, Operator, no_store};
use longshore::openapi::CacheNoStore;
use longshore::problem::{Kind, Problem};
use longshore::refusals;
use longshore_domain::ids::PauseId;
use longshore_domain::operator_log::{ActionScope, OperatorAction};
use longshore_domain::pause::{DEFAULT_HOURS, MAX_DAYS, MAX_PAUSES, Pause, PauseScope, has_room};
use longshore_domain::ports::{PauseOutcome, PauseRecords, Pauses};
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;
use utoipa::ToSchema;

use super::list::{PauseDocument, pause_example};
use crate::function::{Backend, Operations};
use crate::log::audited::{ActionSummary, AuditedAction};
use crate::log::reason::reason;
use crate::names;

/// Maximum body size: a name, a time and a reason, with room for white space.
const BODY_BYTES: usize = 8 * 1024;

// For the schema only: the body is parsed field by field, so that every bad field is reported.
/// A pause: of exactly one of `type` and `tenant`.
#[allow(dead_code, reason = "for the schema only")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PauseRequest {
    /// Job type to pause.
    #[serde(rename = "type")]
    #[schema(min_length = 1, max_length = 100)]
    job_type: Option<String>,
    /// Tenant to pause.
    #[schema(min_length = 1, max_length = 128)]
    tenant: Option<String>,
    /// End, in RFC 3339: at most 7 days from now; by default, 24 hours from now.
    #[schema(format = DateTime)]
    until: Option<String>,
    /// Reason, for the operators' log.
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
}

refusals!(
    /// Refusals of `POST /api/operations/pauses`.
    operator PauseRefusals: MalformedJson, TooManyPauses, BodyTooLarge, UnsupportedMediaType, InvalidRequest
);

impl ActionSummary for PauseDocument {
    const STATUS: u16 = 200;

    fn detail(&self) -> String {
        let Self { pause_id, until, by, .. } = self;
        match self.is_new {
            Some(false) => format!("nothing was done: {by} has paused it until {until}, as {pause_id}"),
            _ => format!("paused until {until}"),
        }
    }
}

/// Pauses a job type or a tenant. Returns 200 with the pause that is in force.
#[utoipa::path(
    post,
    path = "/api/operations/pauses",
    operation_id = "pause",
    tag = "operations",
    summary = "Pause a job type or a tenant.",
    description = include_str!("create.md").trim_ascii_end(),
    request_body(
        content = PauseRequest,
        description = "Up to 8 KiB.",
        example = json!({
            "type": "invite",
            "until": "2026-07-01T12:00:00Z",
            "reason": "The mail server is being repaired.",
        }),
    ),
    responses(
        (
            status = 200,
            description = "The pause that is in force: this one, or an earlier one.",
            body = PauseDocument,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(PauseDocument { is_new: Some(true), ..pause_example() }),
        ),
        PauseRefusals,
    ),
)]
pub(crate) async fn create<B: Backend>(
    State(function): State<Arc<Operations<B>>>,
    operator: Operator,
    JsonFields(fields): JsonFields<BODY_BYTES>,
) -> Answer {
    let now = (function.clock)();
    let Request { scope, until, reason } = Request::read(fields, now)?;
    let pause = Pause { id: PauseId::generate(), scope, since: now, until, by: operator.id.clone() };
    let action = AuditedAction { action: OperatorAction::Pause, scope: logged_scope(&pause), reason: Some(reason) };
    let store = &function.ports.store;
    let put = async {
        if !has_room(&store.pauses().await?, &pause.scope, now) {
            return Err(too_many().into());
        }
        Ok(match store.put_pause(&pause).await? {
            PauseOutcome::Made => PauseDocument { is_new: Some(true), ..pause.clone().into() },
            PauseOutcome::InForce(earlier) => PauseDocument { is_new: Some(false), ..earlier.into() },
        })
    };
    let document = action.run(&*function, &operator, put).await?;
    Ok(no_store(document))
}

fn too_many() -> Problem {
    let detail = format!("the deployment already has {MAX_PAUSES} pauses; end one that is not needed");
    Problem::new(Kind::TooManyPauses, detail)
}

/// Returns a pause as the operators' log names it.
pub(crate) fn logged_scope(Pause { id, scope, .. }: &Pause) -> ActionScope {
    let named = ActionScope { pause_id: Some(*id), ..ActionScope::default() };
    match scope {
        PauseScope::JobType(job_type) => ActionScope { job_type: Some(job_type.clone()), ..named },
        PauseScope::Tenant(tenant) => ActionScope { tenant: Some(tenant.clone()), ..named },
    }
}

/// A request, once it is read.
struct Request {
    scope: PauseScope,
    until: Timestamp,
    reason: String,
}

impl Request {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every bad field.
    fn read(mut fields: Fields, now: Timestamp) -> Result<Self, Problem> {
        let job_type = fields.optional("type", names::job_type_in_body);
        let tenant = fields.optional("tenant", names::tenant_in_body);
        let until = fields.optional("until", |value| end(value, now));
        let reason = fields.required("reason", reason);
        let scope = match (job_type, tenant) {
            (Some(job_type), None) => Some(PauseScope::JobType(job_type)),
            (None, Some(tenant)) => Some(PauseScope::Tenant(tenant)),
            _ => None,
        };
        if scope.is_none() && fields.is_valid() {
            fields.refuse("type", &Bad::new("invalid_pause_scope", "name exactly one of type and tenant"));
        }
        match (scope, reason) {
            (Some(scope), Some(reason)) if fields.is_valid() => {
                let until = until.unwrap_or_else(|| now.plus_seconds(DEFAULT_HOURS * 3_600));
                Ok(Self { scope, until, reason })
            }
            _ => Err(fields.into_problem()),
        }
    }
}

fn end(value: &Value, now: Timestamp) -> Checked<Timestamp> {
    let until = value.as_str().and_then(Timestamp::parse_rfc3339);
    let bad = || {
        let detail = format!("until must be a time in RFC 3339 in the future, at most {MAX_DAYS} days from now");
        Bad::new("invalid_until", detail)
    };
    until.filter(|until| *until > now && *until <= now.plus_days(MAX_DAYS)).ok_or_else(bad)
}
