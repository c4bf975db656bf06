//! Uploads and jobs as a whole.

use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::ports::{Created, Definition, IdempotencyKey, JobStore, Page, PortResult, Upload};

use super::commit_group::is_refusal;
use super::item::{Item, ItemError, nested, number, read_number, read_text, text};
use super::job_item::{CREATED_AT, UNFINISHED};
use super::keys::{JOB, Key, PK, SK};
use super::{DynamoStore, failed, job_item};
use crate::store::replay;

impl JobStore for DynamoStore {
    /// PutItem of `UPLOAD#id` / `UPLOAD`, without a condition: the id is new and random, so a retry writes the same.
    async fn create_upload(&self, upload: &Upload) -> PortResult<()> {
        let put = self.client.put_item().table_name(&self.table).set_item(Some(upload_item(upload)));
        put.send().await.map(|_| ()).map_err(failed("create_upload"))
    }

    /// Consistent GetItem of `UPLOAD#id` / `UPLOAD`.
    async fn upload(&self, id: FileGuid) -> PortResult<Option<Upload>> {
        let item = self.get("upload", Key::upload(id)).await?;
        item.map(|item| upload_from_item(id, &item)).transpose().map_err(failed("upload"))
    }

    /// TransactWriteItems: puts job and definition if absent, the idempotency key if absent or expired, and the use of
    /// the upload (`UPLOAD#upload` / `JOB#id`) without a condition: it says the same each time. After a refusal, reads the key, or without one the job, to see whose write is in the way.
    async fn create_job(
        &self,
        job: &Job,
        definition: &Definition,
        key: Option<&IdempotencyKey>,
    ) -> PortResult<Created> {
        let item = job_item::to_item(job).map_err(failed("create_job"))?;
        let definition = definition_item(job, definition).map_err(failed("create_job"))?;
        let mut writes = self.client.transact_write_items();
        writes = writes.transact_items(self.put_if_absent(item)?).transact_items(self.put_if_absent(definition)?);
        if let Some(key) = key {
            writes = writes.transact_items(self.put_key(job, key)?);
        }
        if let Some(upload) = job.source.as_ref().and_then(SourceFile::upload) {
            writes = writes.transact_items(self.put_use(job, upload)?);
        }
        match writes.send().await {
            Ok(_) => Ok(Created::New),
            Err(error) if is_refusal(&error) => self.who_was_first(job, key).await,
            Err(error) => Err(failed("create_job")(error)),
        }
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

    /// Query of the index `unfinished`, oldest first. The position is a job's creation time and id.
    async fn unfinished(&self, after: Option<String>) -> PortResult<Page<JobId>> {
        let start = after.as_deref().and_then(|position| position.split_once('.')).map(|(created_at, id)| {
            let names = [PK, SK, UNFINISHED, CREATED_AT].map(str::to_owned);
            let values = [format!("JOB#{id}"), JOB.to_owned(), "1".to_owned(), created_at.to_owned()].map(text);
            names.into_iter().zip(values).collect::<Item>()
        });
        let page = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(UNFINISHED)
            .key_condition_expression("#unfinished = :one")
            .expression_attribute_names("#unfinished", UNFINISHED)
            .expression_attribute_values(":one", text("1"))
            .set_exclusive_start_key(start)
            .limit(UNFINISHED_PAGE)
            .send()
            .await
            .map_err(failed("unfinished"))?;
        let ids: Result<_, _> = page.items().iter().map(id_of).collect();
        let next = page.last_evaluated_key().map(position_of).transpose().map_err(failed("unfinished"))?;
        Ok(Page { items: ids.map_err(failed("unfinished"))?, next })
    }
}

/// Jobs in one page of the index: some kilobytes, and soon worked through.
const UNFINISHED_PAGE: i32 = 100;

impl DynamoStore {
    /// Consistent GetItem.
    pub(super) async fn get(&self, operation: &'static str, key: Key) -> PortResult<Option<Item>> {
        let get = self.client.get_item().table_name(&self.table).consistent_read(true);
        let answer = get.set_key(Some(key.attributes())).send().await;
        Ok(answer.map_err(failed(operation))?.item)
    }

    /// A put of `KEY#tenant#key`, if absent or expired: DynamoDB removes what has expired up to days later.
    fn put_key(&self, job: &Job, key: &IdempotencyKey) -> PortResult<aws_sdk_dynamodb::types::TransactWriteItem> {
        let mut item = Key::idempotency(&job.tenant, &key.key).attributes();
        item.insert("requestHash".into(), text(&key.request_hash));
        item.insert("jobId".into(), text(job.job_id.to_string()));
        item.insert("expiresAt".into(), number(job.expires_at));
        let put = aws_sdk_dynamodb::types::Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression("attribute_not_exists(#PK) OR #expiresAt < :now")
            .expression_attribute_names("#PK", PK)
            .expression_attribute_names("#expiresAt", "expiresAt")
            .expression_attribute_values(":now", number(job.created_at.seconds()))
            .build()
            .map_err(failed("create_job"))?;
        Ok(aws_sdk_dynamodb::types::TransactWriteItem::builder().put(put).build())
    }

    fn put_use(&self, job: &Job, upload: FileGuid) -> PortResult<aws_sdk_dynamodb::types::TransactWriteItem> {
        let mut item = Key::upload_use(upload, job.job_id).attributes();
        item.insert("expiresAt".into(), number(job.expires_at));
        let put = aws_sdk_dynamodb::types::Put::builder().table_name(&self.table).set_item(Some(item)).build();
        Ok(aws_sdk_dynamodb::types::TransactWriteItem::builder().put(put.map_err(failed("create_job"))?).build())
    }

    async fn who_was_first(&self, job: &Job, key: Option<&IdempotencyKey>) -> PortResult<Created> {
        let Some(key) = key else {
            // Ids are unique: a job that is there already is this one.
            return Ok(Created::New);
        };
        let item = self.get("create_job", Key::idempotency(&job.tenant, &key.key)).await?;
        let Some(item) = item else { return Ok(Created::New) };
        let stored_job = read_text(&item, "jobId").map_err(failed("create_job"))?;
        let stored_job = JobId::parse(stored_job).ok_or(ItemError::Attribute("jobId")).map_err(failed("create_job"))?;
        let hash = read_text(&item, "requestHash").map_err(failed("create_job"))?;
        Ok(replay::key_taken(key, job, hash, stored_job))
    }
}

fn definition_item(job: &Job, definition: &Definition) -> Result<Item, ItemError> {
    let mut item = Key::definition(job.job_id).attributes();
    item.insert("options".into(), text(serde_json::to_string(&definition.options)?));
    item.insert("expiresAt".into(), number(job.expires_at));
    if let Some(columns) = &definition.columns {
        item.insert("columns".into(), nested(columns)?);
    }
    Ok(item)
}

fn definition_from_item(item: &Item) -> Result<Definition, ItemError> {
    let columns = item.get("columns").cloned().map(serde_dynamo::from_attribute_value).transpose()?;
    Ok(Definition { options: serde_json::from_str(read_text(item, "options")?)?, columns })
}

fn upload_item(upload: &Upload) -> Item {
    let mut item = Key::upload(upload.file_guid).attributes();
    item.insert("tenant".into(), text(&upload.tenant));
    item.insert("key".into(), text(&upload.key));
    item.insert("fileName".into(), text(&upload.file_name));
    item.insert("contentType".into(), text(&upload.content_type));
    item.insert("sizeBytes".into(), number(upload.size_bytes));
    item.insert("expiresAt".into(), number(upload.expires_at));
    item
}

fn upload_from_item(id: FileGuid, item: &Item) -> Result<Upload, ItemError> {
    Ok(Upload {
        file_guid: id,
        tenant: read_text(item, "tenant")?.into(),
        key: read_text(item, "key")?.into(),
        file_name: read_text(item, "fileName")?.into(),
        content_type: read_text(item, "contentType")?.into(),
        size_bytes: read_number(item, "sizeBytes")?,
        expires_at: read_number(item, "expiresAt")?,
    })
}

fn id_of(item: &Item) -> Result<JobId, ItemError> {
    let id = read_text(item, PK)?.strip_prefix("JOB#").and_then(JobId::parse);
    id.ok_or(ItemError::Attribute(PK))
}

fn position_of(last: &Item) -> Result<String, ItemError> {
    Ok(format!("{}.{}", read_text(last, CREATED_AT)?, id_of(last)?))
}
