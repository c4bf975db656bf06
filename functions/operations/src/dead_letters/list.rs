//! `GET /api/dead-letters`: the open dead letters of all tenants, newest first, without the data of any row.

use std::sync::Arc;

use axum::extract::State;
use futures::{StreamExt, TryStreamExt, stream};
use longshore::field_error::FieldError;
use longshore::http::{Answer, QueryText, Viewer, paging};
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore::problem::Problem;
use longshore_domain::dead_letter::{DeadLetterRecord, Queue};
use longshore_domain::ids::JobId;
use longshore_domain::ports::{DeadLetterRecords, PortResult, Store};
use longshore_domain::timestamp::Timestamp;

use super::document::{DeadLetterDocument, DeadLettersDocument};
use super::find::{ID_BYTES, is_kept};
use super::openapi::{DeadLettersQuery, ListRefusals, dead_letters_example};
use super::replay_plan::replay_plan;
use crate::function::{Backend, Operations};

/// Default page size.
const DEFAULT_LIMIT: usize = 20;

/// Maximum page size: the job of each dead letter is read.
const MAX_LIMIT: usize = 100;

/// Number of dead-letter records per read.
const RECORDS_PER_READ: usize = 100;

/// Maximum number of reads per page: bounds the time of the call if few records match the filter.
const MAX_READS: usize = 20;

/// Number of jobs that are read concurrently.
pub(crate) const CONCURRENT_READS: usize = 8;

/// Parameters of a list of dead letters.
struct ListRequest {
    queue: Option<Queue>,
    job: Option<JobId>,
    limit: usize,
    after: Option<String>,
}

/// Returns a page of the open dead letters.
#[utoipa::path(
    get,
    path = "/api/dead-letters",
    operation_id = "listDeadLetters",
    tag = "dead letters",
    summary = "List dead letters, newest first.",
    description = include_str!("list.md").trim_ascii_end(),
    params(DeadLettersQuery, PageCursor),
    responses(
        (
            status = 200,
            description = "A page.",
            body = DeadLettersDocument,
            headers(
                ("Link" = inline(NextPage), description = "The next page, `rel=\"next\"` (RFC 8288); absent on the last one."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(dead_letters_example()),
        ),
        ListRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(
    State(function): State<Arc<Operations<B>>>,
    viewer: Viewer,
    query: QueryText,
) -> Answer {
    let request = ListRequest::read(&query)?;
    let (store, now) = (&function.ports.store, (function.clock)());
    let (dead_letters, next) = open_dead_letters(store, &request, now).await?;
    let documents = stream::iter(dead_letters)
        .map(|dead_letter| Box::pin(document(store, dead_letter, (&viewer, now))))
        .buffered(CONCURRENT_READS);
    let dead_letters = documents.try_collect().await?;
    let next_cursor = next.as_deref().map(paging::encode_cursor);
    let link = next_cursor.as_ref().map(|cursor| request.next_link(cursor));
    Ok(paging::answer(DeadLettersDocument { dead_letters, next_cursor }, link))
}

async fn document(
    store: &impl Store,
    dead_letter: DeadLetterRecord,
    (viewer, now): (&Viewer, Timestamp),
) -> PortResult<DeadLetterDocument> {
    let plan = replay_plan(store, &dead_letter, now).await?;
    Ok(DeadLetterDocument::new(&dead_letter, &plan).for_viewer(viewer))
}

/// Reads a page of open dead letters, and the position after which the next page begins.
async fn open_dead_letters(
    store: &impl DeadLetterRecords,
    request: &ListRequest,
    now: Timestamp,
) -> PortResult<(Vec<DeadLetterRecord>, Option<String>)> {
    let (mut dead_letters, mut after) = (Vec::new(), request.after.clone());
    for _ in 0..MAX_READS {
        let page = store.dead_letters(after.as_deref(), RECORDS_PER_READ).await?;
        for dead_letter in page.items {
            if !request.includes(&dead_letter) || !is_kept(&dead_letter, now) {
                continue;
            }
            if dead_letters.len() == request.limit {
                let last = dead_letters.last().map(|dead_letter: &DeadLetterRecord| dead_letter.id.clone());
                return Ok((dead_letters, last));
            }
            dead_letters.push(dead_letter);
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok((dead_letters, after))
}

/// Returns the newest open dead letters of a job, up to `limit`.
pub(crate) async fn dead_letters_of_job(
    store: &impl DeadLetterRecords,
    job: JobId,
    limit: usize,
    now: Timestamp,
) -> PortResult<Vec<DeadLetterRecord>> {
    let mut request = ListRequest { queue: None, job: Some(job), limit, after: None };
    let mut dead_letters = Vec::new();
    loop {
        let (page, next) = open_dead_letters(store, &request, now).await?;
        dead_letters.extend(page);
        (request.limit, request.after) = (limit - dead_letters.len(), next);
        if request.limit == 0 || request.after.is_none() {
            return Ok(dead_letters);
        }
    }
}

impl ListRequest {
    /// Reads the parameters; ignores unknown ones.
    ///
    /// # Errors
    /// 422 with every bad parameter.
    fn read(query: &QueryText) -> Result<Self, Problem> {
        let mut errors = Vec::new();
        let queue = query.get("queue").and_then(|word| {
            let queue = Queue::parse(word);
            errors.extend(queue.is_none().then(unknown_queue));
            queue
        });
        let job = query.get("jobId").and_then(|text| {
            let job = JobId::parse(text);
            errors.extend(job.is_none().then(bad_job));
            job
        });
        let limit = paging::limit(query, 1..=MAX_LIMIT, DEFAULT_LIMIT, &mut errors);
        let after = paging::cursor(query, &mut errors, |cursor| {
            paging::decode_cursor(cursor).filter(|id| (1..=ID_BYTES).contains(&id.len()))
        });
        Problem::check(errors)?;
        Ok(Self { queue, job, limit, after })
    }

    fn includes(&self, dead_letter: &DeadLetterRecord) -> bool {
        let of_queue = self.queue.is_none_or(|queue| dead_letter.queue == queue);
        let of_job = self.job.is_none_or(|job| dead_letter.message.job_id() == Some(job));
        dead_letter.is_open() && of_queue && of_job
    }

    fn next_link(&self, cursor: &str) -> String {
        let (limit, job) = (self.limit.to_string(), self.job.map(|job| job.to_string()));
        let filters = [("queue", self.queue.map(Queue::as_str)), ("jobId", job.as_deref())];
        let mut parameters: Vec<_> = filters.iter().filter_map(|(name, value)| Some((*name, (*value)?))).collect();
        parameters.extend([("limit", limit.as_str()), ("cursor", cursor)]);
        paging::next_link("/api/dead-letters", &parameters)
    }
}

fn unknown_queue() -> FieldError {
    FieldError::new("/queue", "unknown_queue", "queue must be create, chunk or complete")
}

fn bad_job() -> FieldError {
    FieldError::new("/jobId", "invalid_job_id", "jobId must be the id of a job")
}
