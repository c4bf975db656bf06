//! Direct access to the resources behind a stack's API (table, bucket, queues with their messages, the sweeper's
//! schedule), and jobs in states that a crash leaves behind.
//!
//! Such a state is written to the real store: a job whose create message was never sent, a job whose
//! chunk messages were lost, and a job whose items have ended without a request for completion. A crash at exactly that
//! point is hard to produce; its result is easy to write.

use anyhow::{Context, Result, bail};
use aws_sdk_dynamodb::config::{Credentials, Region};
use longshore::config::Aws;
use longshore::files::S3Files;
use longshore::queues::{QueueUrls, SqsQueues};
use longshore::store::dynamo::DynamoStore;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{Commit, CommitOutcome, GroupPlan, Manifest};
use longshore_domain::ids::{ChunkId, FileGuid, JobId};
use longshore_domain::job::{ChunkQueue, Job, JobTimes, Priority, SourceFile, Transition};
use longshore_domain::message::ChunkMessage;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{Definition, Files, JobStore, JobTransitions, Ledger};
use longshore_domain::random::nonce;
use longshore_domain::records::{Format, records};
use longshore_domain::split::{ChunkLimits, Chunker};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use super::stack::{NAME, Stack};

impl Stack {
    /// The jobs table.
    ///
    /// # Errors
    /// If the stack has no such output.
    pub fn store(&self) -> Result<DynamoStore> {
        Ok(DynamoStore::new(self.aws.dynamodb(), self.output("JobsTableName")?.to_owned()))
    }

    /// The bucket.
    ///
    /// # Errors
    /// If the stack has no such output.
    pub fn files(&self) -> Result<S3Files> {
        Ok(S3Files::new(self.aws.s3(), self.output("BucketName")?.to_owned()))
    }

    /// The queues.
    ///
    /// # Errors
    /// If the stack has no such outputs.
    pub fn queues(&self) -> Result<SqsQueues> {
        let urls = QueueUrls {
            create: Some(self.output("CreateJobQueueUrl")?.to_owned()),
            prepare: Some(self.output("PrepareQueueUrl")?.to_owned()),
            chunks: [
                (ChunkQueue::Priority(Priority::High), self.output("HighChunkQueueUrl")?.to_owned()),
                (ChunkQueue::Priority(Priority::Normal), self.output("ChunkQueueUrl")?.to_owned()),
                (ChunkQueue::Priority(Priority::Low), self.output("LowChunkQueueUrl")?.to_owned()),
                (ChunkQueue::Handler, self.output("HandlerChunkQueueUrl")?.to_owned()),
            ]
            .into(),
            complete: Some(self.output("CompleteJobQueueUrl")?.to_owned()),
            webhooks: Some(self.output("WebhookQueueUrl")?.to_owned()),
        };
        Ok(SqsQueues::new(self.aws.sqs(), urls))
    }

    /// Bodies of the messages in the queue of this output, without receiving them.
    ///
    /// # Errors
    /// If the emulator does not answer.
    pub fn peek(&self, queue_output: &str) -> Result<Vec<String>> {
        let queue = self.output(queue_output)?;
        let answer = self.client.get(&format!("{}/_ministack/sqs/messages?QueueUrl={queue}", self.endpoint))?;
        let (answer, mut bodies) = (answer.expect(200)?, Vec::new());
        collect_bodies(&answer["messages"], &mut bodies);
        Ok(bodies)
    }

    /// Clients of a user without any permission.
    ///
    /// # Errors
    /// If the emulator does not create the user.
    pub fn powerless_aws(&self) -> Result<Aws> {
        let (key, secret) = self.cloud.powerless_key()?;
        let credentials = Credentials::new(key, secret, None, None, "powerless");
        Ok(Aws::new(Region::from_static("us-east-1"), credentials, Some(self.endpoint.clone())))
    }
}

/// Collects message bodies. The emulator nests them by account, region and queue.
fn collect_bodies(answer: &Value, bodies: &mut Vec<String>) {
    match answer {
        Value::Array(messages) => bodies.extend(messages.iter().filter_map(|m| Some(m["Body"].as_str()?.to_owned()))),
        Value::Object(parts) => parts.values().for_each(|part| collect_bodies(part, bodies)),
        _ => {}
    }
}

/// Keys of the objects with this prefix.
///
/// # Errors
/// If the emulator refuses it.
pub fn objects(stack: &Stack, prefix: &str) -> Result<Vec<String>> {
    let list = stack.aws.s3().list_objects_v2().bucket(stack.output("BucketName")?).prefix(prefix);
    let page = stack.run(list.send()).context("cannot list the bucket")?;
    Ok(page.contents().iter().filter_map(|object| object.key().map(str::to_owned)).collect())
}

/// Sort keys of the items in a partition of the jobs table.
///
/// # Errors
/// If the emulator refuses it.
pub fn items(stack: &Stack, partition: &str) -> Result<Vec<String>> {
    let value = aws_sdk_dynamodb::types::AttributeValue::S(partition.to_owned());
    let query = stack.aws.dynamodb().query().table_name(stack.output("JobsTableName")?).consistent_read(true);
    let query = query.key_condition_expression("PK = :partition").expression_attribute_values(":partition", value);
    let page = stack.run(query.send()).context("cannot query the table")?;
    let keys = page.items().iter().filter_map(|item| item.get("SK")?.as_s().ok().cloned());
    Ok(keys.collect())
}

impl Stack {
    /// Starts the schedule: the sweeper runs every minute, counted from the deployment.
    ///
    /// # Errors
    /// If the stack has no schedule.
    pub fn start_schedule(&self) -> Result<()> {
        self.rule("EnableRule").map(drop)
    }

    /// Stops the schedule.
    ///
    /// # Errors
    /// If the stack has no schedule.
    pub fn stop_schedule(&self) -> Result<()> {
        self.rule("DisableRule").map(drop)
    }

    /// Returns true if the schedule is not stopped.
    ///
    /// # Errors
    /// If the stack has no schedule.
    pub fn is_scheduled(&self) -> Result<bool> {
        Ok(self.rule("DescribeRule")?["State"] == "ENABLED")
    }

    fn rule(&self, action: &str) -> Result<Value> {
        let rule = json!({ "Name": self.cloud.physical_id(NAME, RULE)? });
        self.cloud.json("events", &format!("AWSEvents.{action}"), &rule)
    }
}

/// Logical id that SAM gives the rule of the function `Sweep` with the event `EveryMinute`.
const RULE: &str = "SweepEveryMinute";

/// Creates a job over an uploaded CSV file, as the API stores it, without sending its create message.
///
/// # Errors
/// If the stack refuses a call.
pub fn unsent_job(stack: &Stack, job_type: &str, csv: &[u8], options: &Value) -> Result<Job> {
    unsent_job_of(stack, job_type, csv, options, Timestamp::now())
}

/// Creates a job as [`unsent_job`] does, which was accepted at this time.
///
/// # Errors
/// If the stack refuses a call.
pub fn unsent_job_of(
    stack: &Stack,
    job_type: &str,
    csv: &[u8],
    options: &Value,
    accepted_at: Timestamp,
) -> Result<Job> {
    let file = stack.client.upload("crafted.csv", csv)?;
    let file = FileGuid::parse(&file).context("a fileGuid is a UUID")?;
    let upload = stack.run(stack.store()?.upload(file))?.context("the upload has no record")?;
    let info = stack.run(stack.files()?.info(&upload.key))?.context("the file is not in the bucket")?;
    let now = Timestamp::now();
    let job = Job {
        source: Some(SourceFile::new(upload.key, info, Format::Csv, upload.file_name).into()),
        times: JobTimes {
            timeout_s: 3_600,
            deadline_at: now.plus_seconds(3_600),
            expires_at: now.seconds() + 86_400,
            ..JobTimes::accepted(accepted_at)
        },
        ..Job::waiting(
            JobId::generate(),
            TenantId::parse(&stack.tenant).context("the user has no tenant")?,
            job_type,
            accepted_at,
        )
    };
    let definition = Definition::new(options.clone());
    stack.run(stack.store()?.create_job(&job, &definition, None))?;
    Ok(job)
}

/// Creates a job as [`unsent_job`] does, and splits it into chunks of `chunk_items` items. Returns the messages of the
/// chunks, without sending them.
///
/// # Errors
/// If the stack refuses a call.
pub fn unsent_chunks(
    stack: &Stack,
    job_type: &str,
    csv: &[u8],
    options: &Value,
    chunk_items: u32,
) -> Result<(Job, Vec<ChunkMessage>)> {
    let mut job = unsent_job(stack, job_type, csv, options)?;
    let (store, id, now) = (stack.store()?, job.job_id, Timestamp::now());
    job = job_after(stack.run(store.begin(id, 0, now))?)?;
    let mut rows = records(Format::Csv, csv);
    let header = rows.next().context("the file has no header")?;
    let names = &csv[header.start as usize..header.content_end as usize];
    let columns: Vec<_> = String::from_utf8_lossy(names).split(',').map(str::to_owned).collect();
    stack.run(store.put_columns(id, &columns, None, None))?;
    let mut chunker = Chunker::new(ChunkLimits { items: chunk_items, bytes: 1 << 20, item_bytes: 1 << 20 }, 1);
    let mut plans = Vec::new();
    rows.for_each(|row| chunker.push(row, &mut |plan| plans.push(plan)));
    plans.extend(chunker.finish());
    let mut messages = Vec::new();
    for (group, chunks) in (0..).zip(plans.chunks(2)) {
        let manifest = Manifest { group, chunks: chunks.to_vec() };
        let end = chunks.last().map_or(0, |plan| plan.end);
        job = job_after(stack.run(store.commit_group(
            &job,
            &GroupPlan::from_file(0, manifest, job.split.offset..end),
            now,
        ))?)?;
        messages.extend((0..).zip(chunks).map(|(chunk, plan)| message(&job, group, chunk, plan)));
    }
    let job = job_after(stack.run(store.end_split(&job, job.split.groups, &[], now))?)?;
    Ok((job, messages))
}

/// The messages of all chunks of a job, as its splitter sends them.
///
/// # Errors
/// If the job does not exist.
pub fn chunk_messages(stack: &Stack, job: &str) -> Result<Vec<ChunkMessage>> {
    let (store, id) = (stack.store()?, JobId::parse(job).context("a job's id is a UUID")?);
    let job = stack.run(store.job(id))?.context("the job does not exist")?;
    let mut messages = Vec::new();
    for group in 0..job.split.groups {
        let manifest = stack.run(store.manifest(id, group))?.context("a manifest is missing")?;
        messages.extend((0..).zip(&manifest.chunks).map(|(chunk, plan)| message(&job, group, chunk, plan)));
    }
    Ok(messages)
}

/// Commits every item of these chunks as succeeded, and rolls up every group, without requesting completion.
///
/// # Errors
/// If the store refuses a call.
pub fn finish_chunks(stack: &Stack, messages: &[ChunkMessage]) -> Result<()> {
    let store = stack.store()?;
    for message in messages {
        let counts = Counts { succeeded: message.plan.items.into(), ..Counts::default() };
        let token = Cursor::token(&nonce(), 1);
        let to = Cursor {
            round: 0,
            position: 0,
            token,
            file: None,
            deferred: 0,
            due: None,
            finished: true,
            by_sweeper: false,
        };
        let commit =
            Commit { chunk: message.chunk, from: None, to, counts, usage: Default::default(), at: Timestamp::now() };
        match stack.run(store.commit(message.job_id, message.group, &commit))? {
            CommitOutcome::Committed(group) if group.is_done() => {
                stack.run(store.group_done(message.job_id, message.group, Timestamp::now()))?;
            }
            CommitOutcome::Committed(_) => {}
            other => bail!("a crafted commit was refused: {other:?}"),
        }
    }
    Ok(())
}

fn message(job: &Job, group: u32, chunk: u32, plan: &longshore_domain::group::ChunkPlan) -> ChunkMessage {
    ChunkMessage::new(job, ChunkId::new(group, chunk), plan)
}

/// The job after a transition.
fn job_after(transition: Transition) -> Result<Job> {
    match transition {
        Transition::Made(job) => Ok(*job),
        Transition::Refused => bail!("a crafted transition was refused"),
    }
}
