//! `GET /api/operations/log`: what operators have done, newest first.

use std::sync::Arc;

use axum::extract::State;
use longshore::http::{Answer, QueryText, Viewer, paging};
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore::problem::Problem;
use longshore::refusals;
use longshore_domain::ids::JobId;
use longshore_domain::operator_log::{ActionScope, LogEntry, LoggedAction, OperatorAction};
use longshore_domain::ports::OperatorLog;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::example_job;
use crate::function::{Backend, Operations};

const DEFAULT_LIMIT: usize = 20;

/// Maximum page size. An entry has up to some kilobytes, and DynamoDB reads a megabyte at once.
const MAX_LIMIT: usize = 50;

/// An action of an operator.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorLogEntry)]
pub struct LogEntryDocument {
    /// Id of the entry. Ids sort by time.
    pub entry_id: String,
    /// Time before the action, in RFC 3339.
    #[schema(format = DateTime)]
    pub at: String,
    /// The operator: the token's claim `sub`.
    pub operator: String,
    /// Name of the operator, if the token has one. It is not unique, and its bearer may be able to choose it.
    #[schema(required = true)]
    pub operator_name: Option<String>,
    /// The action.
    pub action: OperatorAction,
    /// Subject of the action.
    pub scope: ActionScope,
    /// The operator's reason; `null` for an action that takes none.
    #[schema(required = true)]
    pub reason: Option<String>,
    /// The result; `null` if the end of the action is unknown.
    #[schema(required = true)]
    pub result: Option<LogResultDocument>,
}

/// The result of an action.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorLogResult)]
pub struct LogResultDocument {
    /// Time after the action, in RFC 3339.
    #[schema(format = DateTime)]
    pub at: String,
    /// HTTP status of the answer.
    pub status: u16,
    /// What was done, or the kind of problem for which nothing was done.
    pub detail: String,
    /// Jobs that were started again.
    pub started: Vec<JobId>,
}

impl From<LoggedAction> for LogEntryDocument {
    fn from(LoggedAction { entry, result }: LoggedAction) -> Self {
        Self {
            entry_id: entry.id,
            at: entry.at.to_rfc3339(),
            operator: entry.operator,
            operator_name: entry.operator_name,
            action: entry.action,
            scope: entry.scope,
            reason: entry.reason,
            result: result.map(|result| LogResultDocument {
                at: result.at.to_rfc3339(),
                status: result.status,
                detail: result.detail,
                started: result.started,
            }),
        }
    }
}

/// A page of the log.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorLog)]
pub struct LogDocument {
    /// Actions, newest first.
    pub entries: Vec<LogEntryDocument>,
    /// Cursor of the next page; `null` on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// Query parameters of `GET /api/operations/log`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "for the schema only")]
pub(crate) struct LogQuery {
    /// Maximum number of actions on the page.
    #[param(required = false, minimum = 1, maximum = 50, default = 20)]
    limit: usize,
}

refusals!(
    /// Refusals of `GET /api/operations/log`.
    operator LogRefusals: MalformedQuery, InvalidRequest
);

/// Returns a page of the log.
#[utoipa::path(
    get,
    path = "/api/operations/log",
    operation_id = "listOperatorLog",
    tag = "operations",
    summary = "List what operators have done, newest first.",
    description = include_str!("list.md").trim_ascii_end(),
    params(LogQuery, PageCursor),
    responses(
        (
            status = 200,
            description = "A page.",
            body = LogDocument,
            headers(
                ("Link" = inline(NextPage), description = "The next page, `rel=\"next\"` (RFC 8288); absent on the last one."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(log_example()),
        ),
        LogRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(
    State(function): State<Arc<Operations<B>>>,
    _: Viewer,
    query: QueryText,
) -> Answer {
    let mut errors = Vec::new();
    let limit = paging::limit(&query, 1..=MAX_LIMIT, DEFAULT_LIMIT, &mut errors);
    let after = paging::cursor(&query, &mut errors, |cursor| {
        paging::decode_cursor(cursor).filter(|id| (1..=LogEntry::ID_BYTES).contains(&id.len()))
    });
    Problem::check(errors)?;
    let page = function.log.logged_actions(after.as_deref(), limit).await?;
    let next_cursor = page.next.as_deref().map(paging::encode_cursor);
    let link = next_cursor
        .as_ref()
        .map(|cursor| paging::next_link("/api/operations/log", &[("limit", &limit.to_string()), ("cursor", cursor)]));
    let entries = page.items.into_iter().map(LogEntryDocument::from).collect();
    Ok(paging::answer(LogDocument { entries, next_cursor }, link))
}

/// Example: a retry of two jobs.
fn log_example() -> LogDocument {
    let entry = LogEntryDocument {
        entry_id: "001782896400120-8f1d2c3b-5a49-4c1e-9f70-6d2b8e1a0c57".to_owned(),
        at: "2026-07-01T09:00:00.12Z".to_owned(),
        operator: "3f1b6c2e".to_owned(),
        operator_name: Some("olga@example.com".to_owned()),
        action: OperatorAction::RetryFailures,
        scope: ActionScope {
            job_type: Some("invite".to_owned()),
            code: Some("handler_unavailable".to_owned()),
            job_ids: vec![example_job()],
            ..ActionScope::default()
        },
        reason: Some("The mail server is back.".to_owned()),
        result: Some(LogResultDocument {
            at: "2026-07-01T09:00:01.4Z".to_owned(),
            status: 200,
            detail: "1 of 1 jobs started".to_owned(),
            started: vec![example_job()],
        }),
    };
    LogDocument { entries: vec![entry], next_cursor: None }
}
