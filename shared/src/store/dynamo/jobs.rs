//! Uploads and jobs as a whole.

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::ports::{
    Created, Definition, IdempotencyKey, JobStore, JobsPage, JobsWanted, Page, PortResult, Started, Upload,
};

use super::commit_group::is_refusal;
use super::idempotency::KeyOf;
use super::item::{Item, ItemError, nested, number, read_text, text};
use super::job_item::{CREATED_AT, UNFINISHED};
use super::keys::{JOB, Key, PK, SK};
use super::{DynamoStore, failed, job_item, upload_item};

impl JobStore for DynamoStore {
    /// PutItem of `UPLOAD#id` / `UPLOAD`, without a condition: the id is new and random, so a retry writes the same.
    /// With a key TransactWriteItems: puts the upload if absent, and the key if absent or expired.
    async fn create_upload(&self, upload: &Upload, key: Option<&IdempotencyKey>) -> PortResult<Created<FileGuid>> {
        const OPERATION: &str = "create_upload";
        let item = upload_item::to_item(upload);
        let Some(key) = key else {
            let put = self.client.put_item().table_name(&self.table).set_item(Some(item));
            return put.send().await.map(|_| Created::New).map_err(failed(OPERATION));
        };
        let of = KeyOf { tenant: &upload.tenant, key, own: upload.file_guid, operation: OPERATION };
        let writes = self.client.transact_write_items();
        let writes = writes.transact_items(self.put_if_absent(item)?).transact_items(self.put_key(of)?);
        match writes.send().await {
            Ok(_) => Ok(Created::New),
            Err(error) if is_refusal(&error) => self.who_was_first(of).await,
            Err(error) => Err(failed(OPERATION)(error)),
        }
    }

    /// Consistent GetItem of `UPLOAD#id` / `UPLOAD`.
    async fn upload(&self, id: FileGuid) -> PortResult<Option<Upload>> {
        let item = self.get("upload", Key::upload(id)).await?;
        item.map(|item| upload_item::from_item(id, &item)).transpose().map_err(failed("upload"))
    }

    /// TransactWriteItems: puts job and definition if absent, the idempotency key if absent or expired, and the use of
    /// the upload (`UPLOAD#upload` / `JOB#id`) without a condition: it says the same each time. After a refusal, reads
    /// the key, to see whose write is in the way.
    async fn create_job(
        &self,
        job: &Job,
        definition: &Definition,
        key: Option<&IdempotencyKey>,
    ) -> PortResult<Created<JobId>> {
        let mut writes = self.client.transact_write_items().set_transact_items(Some(self.puts_of(job, definition)?));
        let of = key.map(|key| KeyOf { tenant: &job.tenant, key, own: job.job_id, operation: "create_job" });
        if let Some(of) = of {
            writes = writes.transact_items(self.put_key(of)?);
        }
        match writes.send().await {
            Ok(_) => Ok(Created::New),
            Err(error) if is_refusal(&error) => match of {
                Some(of) => self.who_was_first(of).await,
                // Ids are unique: a job that is there already is this one.
                None => Ok(Created::New),
            },
            Err(error) => Err(failed("create_job")(error)),
        }
    }

    /// See `start`.
    async fn start_job(&self, job: &Job, definition: &Definition) -> PortResult<Started> {
        self.start(job, definition).await
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

    /// See `list_jobs`.
    async fn jobs(&self, wanted: &JobsWanted<'_>) -> PortResult<JobsPage> {
        self.list_jobs(wanted).await
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

    /// What every new job puts: itself and its definition if absent, and the use of its upload.
    pub(super) fn puts_of(&self, job: &Job, definition: &Definition) -> PortResult<Vec<TransactWriteItem>> {
        let item = job_item::to_item(job).map_err(failed("create_job"))?;
        let definition = definition_item(job, definition).map_err(failed("create_job"))?;
        let mut puts = vec![self.put_if_absent(item)?, self.put_if_absent(definition)?];
        if let Some(upload) = job.source.as_ref().and_then(SourceFile::upload) {
            puts.push(self.put_use(job, upload)?);
        }
        Ok(puts)
    }

    /// A put of `UPLOAD#upload` / `JOB#id`, without a condition: it says the same each time.
    pub(super) fn put_use(&self, job: &Job, upload: FileGuid) -> PortResult<TransactWriteItem> {
        let mut item = Key::upload_use(upload, job.job_id).attributes();
        item.insert("expiresAt".into(), number(job.expires_at));
        let put = Put::builder().table_name(&self.table).set_item(Some(item)).build();
        Ok(TransactWriteItem::builder().put(put.map_err(failed("create_job"))?).build())
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

/// The job of an item or of an index entry.
pub(super) fn id_of(item: &Item) -> Result<JobId, ItemError> {
    let id = read_text(item, PK)?.strip_prefix("JOB#").and_then(JobId::parse);
    id.ok_or(ItemError::Attribute(PK))
}

fn position_of(last: &Item) -> Result<String, ItemError> {
    Ok(format!("{}.{}", read_text(last, CREATED_AT)?, id_of(last)?))
}
