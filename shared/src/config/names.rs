//! Names of the environment variables of the stack and of its resources, as the template sets them.

/// Table of jobs, groups, uploads and idempotency keys.
pub const JOBS_TABLE: &str = "LONGSHORE_JOBS_TABLE";
/// Table of the records that imports write.
pub const RECORDS_TABLE: &str = "LONGSHORE_RECORDS_TABLE";
/// Table of the operators' log.
pub const OPERATOR_LOG_TABLE: &str = "LONGSHORE_OPERATOR_LOG_TABLE";
/// Bucket of uploads, work files and reports.
pub const BUCKET: &str = "LONGSHORE_BUCKET";
/// Queue of create-job messages (FIFO).
pub const CREATE_QUEUE: &str = "LONGSHORE_CREATE_JOB_QUEUE_URL";
/// Queue of jobs whose file must be prepared (FIFO).
pub const PREPARE_QUEUE: &str = "LONGSHORE_PREPARE_QUEUE_URL";
/// Queue of the chunks of jobs of high priority (standard).
pub const HIGH_CHUNK_QUEUE: &str = "LONGSHORE_HIGH_CHUNK_QUEUE_URL";
/// Queue of the chunks of jobs of normal priority (standard).
pub const CHUNK_QUEUE: &str = "LONGSHORE_CHUNK_QUEUE_URL";
/// Queue of the chunks of jobs of low priority (standard).
pub const LOW_CHUNK_QUEUE: &str = "LONGSHORE_LOW_CHUNK_QUEUE_URL";
/// Queue of the chunks of registered job types, and of the pings to their handlers (standard).
pub const HANDLER_CHUNK_QUEUE: &str = "LONGSHORE_HANDLER_CHUNK_QUEUE_URL";
/// Queue of complete-job messages (FIFO).
pub const COMPLETE_QUEUE: &str = "LONGSHORE_COMPLETE_JOB_QUEUE_URL";
/// Queue of messages about webhooks (standard).
pub const WEBHOOK_QUEUE: &str = "LONGSHORE_WEBHOOK_QUEUE_URL";
/// Dead-letter queue of create-job.
pub const CREATE_DLQ: &str = "LONGSHORE_CREATE_JOB_DLQ_URL";
/// Dead-letter queue of process-item.
pub const CHUNK_DLQ: &str = "LONGSHORE_CHUNK_DLQ_URL";
/// Dead-letter queue of complete-job.
pub const COMPLETE_DLQ: &str = "LONGSHORE_COMPLETE_JOB_DLQ_URL";
/// Dead-letter queue of deliver.
pub const WEBHOOK_DLQ: &str = "LONGSHORE_WEBHOOK_DLQ_URL";
/// Name of the stack, which pings tell a handler.
pub const STACK: &str = "LONGSHORE_STACK";
/// The template's `Environment`.
pub const ENVIRONMENT: &str = "LONGSHORE_ENVIRONMENT";
/// ARN of the root secret, from which the secrets of endpoints are derived.
pub const ROOT_SECRET_ARN: &str = "LONGSHORE_ROOT_SECRET_ARN";
/// Extra root certificates of endpoints, in a local stack: PEM, also with `\n` for line ends, or its base64.
pub const HANDLER_CA: &str = "LONGSHORE_HANDLER_CA";
