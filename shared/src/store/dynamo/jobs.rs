//! Reads and creates uploads and jobs, and lists the unfinished ones.

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Job, MarkUndone, SourceFile};
use longshore_domain::ports::{
    ByAge, Created, Definition, IdempotencyKey, JobPosition, JobStore, JobsPage, JobsQuery, PortResult, QuotaExceeded,
    Started, UndoCreated, Upload,
};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde::de::DeserializeOwned;

use super::active_jobs::ATTEMPTS;
use super::due::{DueKind, Reading, oldest};
use super::idempotency::{KeyOf, Keyed};
use super::item::{Item, ItemError, nested, number, optional_nested, read_text, text};
use super::job_item::{CREATED_AT, UNFINISHED, parse_job_id, position_of};
use super::keys::Key;
use super::retry::unanswered;
use super::transaction::Transacted;
use super::{DynamoStore, failed, job_item, upload_item};
use crate::store::own_write;

impl JobStore for DynamoStore {
    /// TransactWriteItems: puts the upload if absent, counts its bytes if the day has room, and puts the key if
    /// absent or expired.
    async fn create_upload(&self, upload: &Upload, key: Option<&IdempotencyKey>) -> PortResult<Created<FileGuid>> {
        const OPERATION: &str = "create_upload";
        let of = key.map(|key| KeyOf { tenant: &upload.tenant, key, own: upload.file_guid, operation: OPERATION });
        let mut writes = vec![self.put_if_absent(upload_item::to_item(upload).map_err(failed(OPERATION))?)?];
        writes.extend(of.map(|of| self.put_key(of)).transpose()?);
        let daily = self.bytes_of_upload(upload);
        let outcome = self.transact_within(OPERATION, writes, Some(&daily)).await?;
        Ok(match self.created(&outcome, of).await? {
            Some(outcome) => outcome,
            None => Created::OverQuota(QuotaExceeded::DailyBytes(self.counted_bytes(&daily).await?)),
        })
    }

    /// Consistent GetItem of `UPLOAD#id` / `UPLOAD`.
    async fn upload(&self, id: FileGuid) -> PortResult<Option<Upload>> {
        let item = self.get("upload", Key::upload(id)).await?;
        item.map(|item| upload_item::from_item(id, item)).transpose().map_err(failed("upload"))
    }

    /// TransactWriteItems: puts job and definition if absent, counts the job as active if there is room, puts the
    /// idempotency key if absent or expired, and the use of the upload (`UPLOAD#upload` / `JOB#id`) without a
    /// condition, because its content is always the same. After a refusal, reads the key to find the conflicting
    /// write; if the limit is reached, makes room and tries again.
    async fn create_job(
        &self,
        job: &Job,
        definition: &Definition,
        key: Option<&IdempotencyKey>,
    ) -> PortResult<Created<JobId>> {
        const OPERATION: &str = "create_job";
        let of = key.map(|key| KeyOf { tenant: &job.tenant, key, own: job.job_id, operation: OPERATION });
        for _ in 0..ATTEMPTS {
            let mut writes = self.puts_of(job, definition)?;
            writes.extend(of.map(|of| self.put_key(of)).transpose()?);
            let (bytes, daily) = (writes.len(), self.bytes_of_job(job, job.times.created_at));
            let outcome = self.transact_within(OPERATION, writes, daily.as_ref()).await?;
            if let Some(outcome) = self.created(&outcome, of).await? {
                return Ok(outcome);
            }
            if let Some(daily) = daily.filter(|_| outcome.refused_at(bytes)) {
                return Ok(Created::OverQuota(QuotaExceeded::DailyBytes(self.counted_bytes(&daily).await?)));
            }
            let active = self.remove_ended(&job.tenant).await?;
            if active >= self.limits.active_jobs {
                return Ok(Created::OverQuota(QuotaExceeded::ActiveJobs(active)));
            }
        }
        Ok(Created::OverQuota(QuotaExceeded::ActiveJobs(self.limits.active_jobs)))
    }

    /// Consistent GetItem of the key.
    async fn upload_created_before(
        &self,
        tenant: &TenantId,
        key: &IdempotencyKey,
    ) -> PortResult<Option<Created<FileGuid>>> {
        let taken = self.taken("upload_created_before", tenant, key).await?;
        Ok(taken.map(|(hash, stored)| own_write::key_used(key, &hash, stored)))
    }

    /// Consistent GetItem of the key.
    async fn job_created_before(&self, tenant: &TenantId, key: &IdempotencyKey) -> PortResult<Option<Created<JobId>>> {
        let taken = self.taken("job_created_before", tenant, key).await?;
        Ok(taken.map(|(hash, stored)| own_write::key_used(key, &hash, stored)))
    }

    /// See `DynamoStore::start`.
    async fn start_job(&self, job: &Job, definition: &Definition) -> PortResult<Started> {
        self.start(job, definition).await
    }

    async fn create_undo(&self, undo: &Job, definition: &Definition, mark: &MarkUndone) -> PortResult<UndoCreated> {
        self.undo(undo, definition, mark).await
    }

    /// Consistent GetItem of `JOB#id` / `JOB`.
    async fn job(&self, id: JobId) -> PortResult<Option<Job>> {
        let item = self.get("job", Key::job(id)).await?;
        item.map(job_item::from_item).transpose().map_err(failed("job"))
    }

    /// Consistent GetItem of `JOB#id` / `DEFINITION`.
    async fn definition(&self, id: JobId) -> PortResult<Option<Definition>> {
        let item = self.get("definition", Key::definition(id)).await?;
        item.map(|item| definition_from_item(&item)).transpose().map_err(failed("definition"))
    }

    /// See `DynamoStore::list_jobs`.
    async fn jobs(&self, request: &JobsQuery<'_>) -> PortResult<JobsPage> {
        self.list_jobs(request).await
    }

    /// Query of each partition of the index `due`.
    async fn due_jobs(&self, before: Timestamp, limit: usize) -> PortResult<Vec<JobId>> {
        let reading = Reading::Oldest { items: limit };
        let of = ("due_jobs", DueKind::Jobs);
        let due = self.due(of, before, reading, parse_job_id, |due| oldest(due, limit)).await?;
        Ok(due.into_iter().map(|(_, id)| id).collect())
    }

    /// Query of the index `unfinished`, by creation time.
    async fn unfinished(&self, after: Option<JobPosition>, order: ByAge) -> PortResult<Vec<JobPosition>> {
        let page = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(UNFINISHED)
            .key_condition_expression("#unfinished = :one")
            .expression_attribute_names("#unfinished", UNFINISHED)
            .expression_attribute_values(":one", text("1"))
            .scan_index_forward(order == ByAge::OldestFirst)
            .set_exclusive_start_key(after.map(start_of_unfinished))
            .limit(UNFINISHED_PAGE)
            .send()
            .await
            .map_err(unanswered("unfinished"))?;
        let positions: Result<_, _> = page.items().iter().map(position_of).collect();
        positions.map_err(failed("unfinished"))
    }
}

/// Maximum number of jobs in one page of the index: a few kilobytes, and quickly processed.
const UNFINISHED_PAGE: i32 = 100;

impl DynamoStore {
    /// Consistent GetItem.
    pub(super) async fn get(&self, operation: &'static str, key: Key) -> PortResult<Option<Item>> {
        let get = self.client.get_item().table_name(&self.table).consistent_read(true);
        let answer = get.set_key(Some(key.attributes())).send().await;
        Ok(answer.map_err(unanswered(operation))?.item)
    }

    /// Returns the puts of every new job: the job and its definition if absent, its entry among the active jobs if
    /// there is room, and the use of its upload.
    pub(super) fn puts_of(&self, job: &Job, definition: &Definition) -> PortResult<Vec<TransactWriteItem>> {
        let item = job_item::to_item(job).map_err(failed("create_job"))?;
        let definition = definition_item(job, definition).map_err(failed("create_job"))?;
        let mut puts = vec![self.put_if_absent(item)?, self.put_if_absent(definition)?, self.count_active(job)?];
        let upload = job.file().and_then(SourceFile::upload);
        puts.extend(upload.map(|upload| self.put_use(job, upload)).transpose()?);
        Ok(puts)
    }

    /// Returns the result of a create, or `None` if the limit was reached. A refusal need not name every condition
    /// that did not hold, so the key is checked first: a repeated call gets the result of the first one, even if
    /// there is no room. Otherwise, if the item itself already existed, this same call wrote it: ids are unique.
    async fn created<Id: Keyed>(
        &self,
        outcome: &Transacted,
        of: Option<KeyOf<'_, Id>>,
    ) -> PortResult<Option<Created<Id>>> {
        if matches!(outcome, Transacted::Applied) {
            return Ok(Some(Created::New));
        }
        if let Some(of) = of
            && let Some(outcome) = self.earlier_create(of).await?
        {
            return Ok(Some(outcome));
        }
        Ok(outcome.refused_at(0).then_some(Created::New))
    }

    /// A put of `UPLOAD#upload` / `JOB#id`, without a condition: its content is always the same.
    pub(super) fn put_use(&self, job: &Job, upload: FileGuid) -> PortResult<TransactWriteItem> {
        let mut item = Key::upload_use(upload, job.job_id).attributes();
        item.insert("expiresAt".into(), number(job.times.expires_at));
        let put = Put::builder().table_name(&self.table).set_item(Some(item)).build();
        Ok(TransactWriteItem::builder().put(put.map_err(failed("create_job"))?).build())
    }
}

pub(super) fn definition_item(job: &Job, definition: &Definition) -> Result<Item, ItemError> {
    let mut item = Key::definition(job.job_id).attributes();
    item.insert("options".into(), text(serde_json::to_string(&definition.options)?));
    item.insert("expiresAt".into(), number(job.times.expires_at));
    if let Some(columns) = &definition.columns {
        item.insert("columns".into(), nested(columns)?);
    }
    if let Some(sheet) = &definition.sheet {
        item.insert("sheet".into(), nested(sheet)?);
    }
    if !definition.given_reading.is_empty() {
        item.insert("givenReading".into(), nested(&definition.given_reading)?);
    }
    if let Some(reading) = &definition.reading {
        item.insert("reading".into(), nested(reading)?);
    }
    if let Some(detected) = &definition.detected {
        item.insert("detected".into(), text(detected.to_string()));
    }
    if let Some(results) = &definition.results {
        item.insert("results".into(), text(serde_json::to_string(results)?));
    }
    if let Some(registration) = &definition.registration {
        item.insert("registration".into(), text(serde_json::to_string(registration)?));
    }
    Ok(item)
}

fn optional_json<T: DeserializeOwned>(item: &Item, name: &'static str) -> Result<Option<T>, ItemError> {
    let json = item.contains_key(name).then(|| read_text(item, name)).transpose()?;
    Ok(json.map(serde_json::from_str).transpose()?)
}

pub(super) fn definition_from_item(item: &Item) -> Result<Definition, ItemError> {
    let (columns, reading) = (optional_nested(item, "columns")?, optional_nested(item, "reading")?);
    let given_reading = optional_nested(item, "givenReading")?.unwrap_or_default();
    let (results, registration) = (optional_json(item, "results")?, optional_json(item, "registration")?);
    let detected = optional_json(item, "detected")?;
    let options = serde_json::from_str(read_text(item, "options")?)?;
    let sheet = optional_nested(item, "sheet")?;
    Ok(Definition { options, columns, given_reading, sheet, reading, detected, results, registration })
}

fn start_of_unfinished(after: JobPosition) -> Item {
    let mut key = Key::job(after.job_id).attributes();
    key.insert(UNFINISHED.into(), text("1"));
    key.insert(CREATED_AT.into(), text(job_item::created_at(after.created_at)));
    key
}
