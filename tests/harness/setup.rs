//! Preparation of tests: resources that are created directly, and the folder and parameters of a deployment.
//!
//! Table, queues and bucket are created as the template declares them, without CloudFormation, in milliseconds. The
//! flow tests check the template itself. The folder to deploy from has the template and a package of every function, or
//! is a package of a release.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use aws_sdk_dynamodb::config::{Credentials, Region};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection, ProjectionType,
    ScalarAttributeType,
};
use aws_sdk_sqs::types::QueueAttributeName;
use local_cloud::cloud::package;
use longshore::config::Aws;
use longshore::queues::{QueueUrls, SqsDeadLetters, SqsQueues};
use longshore_domain::dead_letter::Queue;
use longshore_domain::job::{ChunkQueue, Priority};

/// Clients for this endpoint with arbitrary credentials.
pub fn aws(endpoint: &str) -> Aws {
    let credentials = Credentials::new("test", "test", None, None, "tests");
    Aws::new(Region::from_static("us-east-1"), credentials, Some(endpoint.to_owned()))
}

/// Creates the jobs table with this name.
///
/// # Errors
/// If the emulator refuses it.
pub async fn create_jobs_table(aws: &Aws, name: &str) -> Result<()> {
    let keys_only = Projection::builder().projection_type(ProjectionType::KeysOnly).build();
    let include = Projection::builder().projection_type(ProjectionType::Include);
    let include = include.non_key_attributes("status").non_key_attributes("jobType");
    let of_day = include.clone().non_key_attributes("tenant").build();
    let mut table = aws.dynamodb().create_table().table_name(name).billing_mode(BillingMode::PayPerRequest);
    let texts = ["PK", "SK", "unfinished", "tenant", "createdAt", "createdOn", "due"];
    let texts = texts.map(|name| (name, ScalarAttributeType::S));
    for (name, kind) in texts.into_iter().chain([("dueAt", ScalarAttributeType::N)]) {
        let attribute = AttributeDefinition::builder().attribute_name(name);
        table = table.attribute_definitions(attribute.attribute_type(kind).build()?);
    }
    let table = table.key_schema(key("PK", KeyType::Hash)?).key_schema(key("SK", KeyType::Range)?);
    let table = table.global_secondary_indexes(index("unfinished", ["unfinished", "createdAt"], keys_only.clone())?);
    let table = table.global_secondary_indexes(index("due", ["due", "dueAt"], keys_only)?);
    table
        .global_secondary_indexes(index("tenant", ["tenant", "createdAt"], include.build())?)
        .global_secondary_indexes(index("day", ["createdOn", "createdAt"], of_day)?)
        .send()
        .await
        .context("cannot create the table")?;
    Ok(())
}

fn key(name: &str, kind: KeyType) -> Result<KeySchemaElement> {
    Ok(KeySchemaElement::builder().attribute_name(name).key_type(kind).build()?)
}

fn index(name: &str, [hash, range]: [&str; 2], projection: Projection) -> Result<GlobalSecondaryIndex> {
    let index = GlobalSecondaryIndex::builder().index_name(name).projection(projection);
    Ok(index.key_schema(key(hash, KeyType::Hash)?).key_schema(key(range, KeyType::Range)?).build()?)
}

/// Creates a bucket with this name.
///
/// # Errors
/// If the emulator refuses it.
pub async fn create_bucket(aws: &Aws, name: &str) -> Result<()> {
    aws.s3().create_bucket().bucket(name).send().await.context("cannot create the bucket")?;
    Ok(())
}

/// The queues and their dead-letter queues, with their URLs.
#[derive(Clone, Debug)]
pub struct CreatedQueues {
    /// URLs of the queues.
    pub urls: QueueUrls,
    /// URLs of the dead-letter queues: create, chunks, complete.
    pub dead: [String; 3],
}

impl CreatedQueues {
    /// Creates the queues. Their names begin with `prefix`.
    ///
    /// # Errors
    /// If the emulator refuses one.
    pub async fn create(aws: &Aws, prefix: &str) -> Result<Self> {
        let create = async |name: &str| create_queue(aws, &format!("{prefix}-{name}")).await;
        let urls = QueueUrls {
            create: Some(create("create-job.fifo").await?),
            prepare: Some(create("prepare.fifo").await?),
            chunks: [
                (ChunkQueue::Priority(Priority::High), create("chunks-high").await?),
                (ChunkQueue::Priority(Priority::Normal), create("chunks").await?),
                (ChunkQueue::Priority(Priority::Low), create("chunks-low").await?),
                (ChunkQueue::Handler, create("chunks-handler").await?),
            ]
            .into(),
            complete: Some(create("complete-job.fifo").await?),
            webhooks: Some(create("webhooks").await?),
        };
        let dead =
            [create("create-job-dlq.fifo").await?, create("chunks-dlq").await?, create("complete-job-dlq.fifo").await?];
        Ok(Self { urls, dead })
    }

    /// The adapter for the queues.
    pub fn queues(&self, aws: &Aws) -> SqsQueues {
        SqsQueues::new(aws.sqs(), self.urls.clone())
    }

    /// The adapter for the dead letters.
    pub fn dead_letters(&self, aws: &Aws) -> SqsDeadLetters {
        SqsDeadLetters::new(aws.sqs(), Queue::ALL.into_iter().zip(self.dead.clone()).collect())
    }
}

async fn create_queue(aws: &Aws, name: &str) -> Result<String> {
    let mut call = aws.sqs().create_queue().queue_name(name);
    if name.ends_with(".fifo") {
        call = call
            .attributes(QueueAttributeName::FifoQueue, "true")
            .attributes(QueueAttributeName::DeduplicationScope, "messageGroup")
            .attributes(QueueAttributeName::FifoThroughputLimit, "perMessageGroupId");
    }
    let queue = call.send().await.with_context(|| format!("cannot create the queue {name}"))?;
    queue.queue_url.with_context(|| format!("the emulator returned no URL of the queue {name}"))
}

/// Parameters with short intervals, so that tests are quick. A worker has five seconds, and its message is redelivered
/// after thirty.
const PARAMETERS: [(&str, &str); 13] = [
    ("Environment", "local"),
    ("Architecture", if cfg!(target_arch = "aarch64") { "arm64" } else { "x86_64" }),
    ("RequireTls", "false"),
    ("AllowedOrigins", "*"),
    ("WorkerTimeoutSeconds", "5"),
    ("MaxReceiveCount", "2"),
    ("ScheduleState", "DISABLED"),
    ("RetryBaseSeconds", "1"),
    ("ReadOnlyOperatorGroup", "auditors"),
    ("StopGraceSeconds", "1"),
    // Most stories use one tenant.
    ("TenantWorkCalls", "100000"),
    ("TenantCallsPerSecond", "1000"),
    ("TenantCallsAtOnce", "100000"),
];

/// Differences from the default stack.
#[derive(Clone, Debug, Default)]
pub struct StackOptions {
    /// Use the probe's binary for the functions that run job types.
    pub probe: bool,
    /// Put the fault proxy between the functions and AWS. The test itself bypasses it.
    pub faults: bool,
    /// Save the emulator's state when it is stopped, so that the stack can be restarted.
    pub persists: bool,
    /// Additional parameters, which override the default ones.
    pub parameters: Vec<(&'static str, &'static str)>,
    /// Folder of a package of a release, which is deployed as it is, in place of the checkout's template and binaries.
    pub package: Option<PathBuf>,
}

impl StackOptions {
    /// The parameters of the deployment, in the form of `sam deploy`.
    pub(super) fn parameters(&self) -> String {
        let mut parameters: BTreeMap<&str, &str> = PARAMETERS.into_iter().collect();
        parameters.extend(self.parameters.iter().copied());
        let parameters: Vec<_> = parameters.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        parameters.join(" ")
    }

    /// Fills the folder to deploy from.
    ///
    /// # Errors
    /// If a binary or a file of the package is missing.
    pub(super) fn stage(&self, folder: &Path) -> Result<()> {
        match &self.package {
            Some(package) => copy(package, folder),
            None => stage(folder, if self.probe { JobTypes::Probe } else { JobTypes::Product }),
        }
    }
}

/// Copies the files of a package.
fn copy(package: &Path, folder: &Path) -> Result<()> {
    for entry in fs::read_dir(package).with_context(|| format!("cannot read {}", package.display()))? {
        let entry = entry?;
        fs::copy(entry.path(), folder.join(entry.file_name()))?;
    }
    Ok(())
}

/// Job types of the deployed functions.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum JobTypes {
    /// Those of the product.
    Product,
    /// Those of the product and of the probe: the probe's binary replaces each function that runs job types.
    Probe,
}

/// The functions, each with a flag: true if it runs job types.
const FUNCTIONS: [(&str, bool); 13] = [
    ("upload", false),
    ("inspect", true),
    ("jobs-api", true),
    ("operations", false),
    ("create-job", true),
    ("prepare", false),
    ("process-item", true),
    ("call-handler", false),
    ("deliver", false),
    ("image-handler", false),
    ("complete-job", false),
    ("sweep", false),
    ("web", false),
];

/// Ids in the template of the functions, each with its name.
pub(super) fn functions() -> impl Iterator<Item = (String, &'static str)> {
    let id = |name: &str| name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
    FUNCTIONS.into_iter().map(move |(name, _)| (id(name), name))
}

/// Fills `folder` with the template and the packages of the functions. SAM uploads a package as it is, but needs
/// eight seconds of processor time to compress the binaries itself, for each stack.
///
/// # Errors
/// If a binary is missing. Binaries are built beforehand, by `cargo xtask test` or `cargo build --workspace --bins`.
fn stage(folder: &Path, job_types: JobTypes) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |name: &str| fs::read_to_string(root.join(name)).with_context(|| format!("cannot read {name}"));
    fs::write(folder.join("samconfig.toml"), read("samconfig.toml")?)?;
    let mut template = read("template.yaml")?;
    for (function, runs_job_types) in FUNCTIONS {
        let is_probe = runs_job_types && job_types == JobTypes::Probe;
        let binary = match std::env::var_os(measurements::PROBE).filter(|_| is_probe) {
            Some(path) => path.into(),
            None => binary_path(if is_probe { "probe" } else { function })?,
        };
        let binary = fs::read(&binary).with_context(|| {
            format!("{} is missing: build it with `cargo build --workspace --bins`", binary.display())
        })?;
        let (code, file) = (format!("CodeUri: target/lambda/{function}/"), format!("{function}.zip"));
        ensure!(template.contains(&code), "the template has no {code}");
        template = template.replace(&code, &format!("CodeUri: {file}"));
        fs::write(folder.join(file), package(&binary)?)?;
    }
    Ok(fs::write(folder.join("template.yaml"), template)?)
}

/// Path of a binary that cargo has built in this profile. Tests are in the folder `deps` beside the binaries.
pub(super) fn binary_path(name: &str) -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let deps = test.parent().context("the path of this test has no folder")?;
    Ok(deps.parent().unwrap_or(deps).join(name))
}
