//! `GET /api/dead-letters`: the open dead letters of all tenants, newest first, without the data of any row.

use std::sync::Arc;

use axum::extract::State;
use futures::{StreamExt, TryStreamExt, stream};
use longshore::http::{Answer, Operator, QueryText, paging};
use longshore::openapi::{CacheNoStore, NextPage, PageCursor};
use longshore::problem::{FieldError, Problem};
use longshore_domain::dead_letter::{DeadLetterRecord, Queue};
use longshore_domain::ids::JobId;
use longshore_domain::ports::{DeadLetterRecords, PortResult, Queues, RedriveToSource, Store};

use crate::function::ID_BYTES;
use crate::openapi::{DeadLettersQuery, ListRefusals, dead_letters_example};
use crate::{DeadLetterDocument, DeadLetters, DeadLettersDocument};

/// Default page size.
const DEFAULT_LIMIT: usize = 20;

/// Maximum page size: the job of each dead letter is read.
const MAX_LIMIT: usize = 100;

/// Dead-letter records per read.
const READ: usize = 100;

/// Maximum reads per page, so that the answer is in time if few records match the filter.
const READS: usize = 20;

/// Jobs that are read concurrently.
pub(crate) const AT_ONCE: usize = 8;

/// Parameters of a list of dead letters.
struct Wanted {
    queue: Option<Queue>,
    job: Option<JobId>,
    limit: usize,
    behind: Option<String>,
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
pub(crate) async fn list<S, Q>(State(function): State<Arc<DeadLetters<S, Q>>>, _: Operator, query: QueryText) -> Answer
where
    S: Store + DeadLetterRecords,
    Q: Queues + RedriveToSource,
{
    let wanted = Wanted::read(&query)?;
    let (dead_letters, next) = function.open_dead_letters(&wanted).await?;
    let documents =
        stream::iter(dead_letters).map(|dead_letter| Box::pin(function.document(dead_letter))).buffered(AT_ONCE);
    let dead_letters = documents.try_collect().await?;
    let next_cursor = next.as_deref().map(paging::opaque);
    let link = next_cursor.as_ref().map(|cursor| wanted.next_link(cursor));
    Ok(paging::answer(DeadLettersDocument { dead_letters, next_cursor }, link))
}

impl<S: Store + DeadLetterRecords, Q: Queues + RedriveToSource> DeadLetters<S, Q> {
    async fn document(&self, dead_letter: DeadLetterRecord) -> PortResult<DeadLetterDocument> {
        Ok(DeadLetterDocument::new(&dead_letter, &self.replay_plan(&dead_letter).await?))
    }

    /// Reads a page of open dead letters, and the position after which the next page begins.
    async fn open_dead_letters(&self, wanted: &Wanted) -> PortResult<(Vec<DeadLetterRecord>, Option<String>)> {
        let (mut dead_letters, mut behind) = (Vec::new(), wanted.behind.clone());
        for _ in 0..READS {
            let page = self.ports.store.dead_letters(behind.as_deref(), READ).await?;
            for dead_letter in page.items {
                if !wanted.includes(&dead_letter) || !self.is_kept(&dead_letter) {
                    continue;
                }
                if dead_letters.len() == wanted.limit {
                    let last = dead_letters.last().map(|dead_letter: &DeadLetterRecord| dead_letter.id.clone());
                    return Ok((dead_letters, last));
                }
                dead_letters.push(dead_letter);
            }
            behind = page.next;
            if behind.is_none() {
                break;
            }
        }
        Ok((dead_letters, behind))
    }

    /// Returns the newest open dead letters of a job, up to `limit`.
    pub(crate) async fn dead_letters_of_job(&self, job: JobId, limit: usize) -> PortResult<Vec<DeadLetterRecord>> {
        let mut wanted = Wanted { queue: None, job: Some(job), limit, behind: None };
        let mut all = Vec::new();
        loop {
            let (dead_letters, next) = self.open_dead_letters(&wanted).await?;
            all.extend(dead_letters);
            (wanted.limit, wanted.behind) = (limit - all.len(), next);
            if wanted.limit == 0 || wanted.behind.is_none() {
                return Ok(all);
            }
        }
    }
}

impl Wanted {
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
        let behind = query.get("cursor").and_then(|cursor| {
            let place = paging::place(cursor).filter(|place| (1..=ID_BYTES).contains(&place.len()));
            errors.extend(place.is_none().then(paging::bad_cursor));
            place
        });
        if errors.is_empty() { Ok(Self { queue, job, limit, behind }) } else { Err(Problem::invalid(errors)) }
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
    FieldError::new("/queue", "unknown_queue", "queue is one of create, chunk, complete")
}

fn bad_job() -> FieldError {
    FieldError::new("/jobId", "invalid_job_id", "jobId is the id of a job")
}
