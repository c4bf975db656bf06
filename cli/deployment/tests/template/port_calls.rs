//! Ports, their methods, and the IAM actions that each method needs.
//!
//! The name of the action often differs from the name of the call: HeadObject needs `s3:GetObject`, a batch needs the
//! actions of its parts, and a transaction needs PutItem and UpdateItem. See the service authorization reference,
//! <https://docs.aws.amazon.com/service-authorization/latest/reference/>.

/// An action, its resource, and the prefix of the permitted partition key, if restricted.
pub(super) type Need = (&'static str, &'static str, Option<&'static str>);

const READ: Need = ("dynamodb:GetItem", "JobsTable", None);
const READ_JOB: Need = ("dynamodb:GetItem", "JobsTable", Some("JOB#"));
const READ_UPLOAD: Need = ("dynamodb:GetItem", "JobsTable", Some("UPLOAD#"));
const READ_TYPE: Need = ("dynamodb:GetItem", "JobsTable", Some("JOBTYPES"));
const READ_PRESET: Need = ("dynamodb:GetItem", "JobsTable", Some("PRESETS#"));
const FIND_COSTS: Need = ("dynamodb:Query", "JobsTable", Some("COSTS#"));
const COUNT_CALL: Need = ("dynamodb:UpdateItem", "JobsTable", Some("TENANT#"));
const FIND_PAUSES: Need = ("dynamodb:Query", "JobsTable", Some("PAUSES"));
const UPDATE_PAUSE: Need = ("dynamodb:UpdateItem", "JobsTable", Some("PAUSES"));
const DELETE_PAUSE: Need = ("dynamodb:DeleteItem", "JobsTable", Some("PAUSES"));
const READ_MANY: Need = ("dynamodb:BatchGetItem", "JobsTable", None);
const FIND: Need = ("dynamodb:Query", "JobsTable", None);
const UPDATE: Need = ("dynamodb:UpdateItem", "JobsTable", None);
const UPDATE_JOB: Need = ("dynamodb:UpdateItem", "JobsTable", Some("JOB#"));
const PUT: Need = ("dynamodb:PutItem", "JobsTable", None);
/// The record that a job uses an upload.
const PUT_USE: Need = ("dynamodb:PutItem", "JobsTable", Some("UPLOAD#"));
const DELETE: Need = ("dynamodb:DeleteItem", "JobsTable", None);
const DELETE_PARKED: Need = ("dynamodb:DeleteItem", "JobsTable", Some("GATE#"));
const DELETE_TYPE: Need = ("dynamodb:DeleteItem", "JobsTable", Some("JOBTYPES"));
const PUT_EVENT: Need = ("dynamodb:PutItem", "JobsTable", Some("EVENTS#"));
const PUT_DELIVERY: Need = ("dynamodb:PutItem", "JobsTable", Some("DELIVERIES#"));
const FIND_ENDPOINTS: Need = ("dynamodb:Query", "JobsTable", Some("WEBHOOKS#"));
const UPDATE_ENDPOINT: Need = ("dynamodb:UpdateItem", "JobsTable", Some("WEBHOOKS#"));
const DELETE_ENDPOINT: Need = ("dynamodb:DeleteItem", "JobsTable", Some("WEBHOOKS#"));
const READ_DELIVERY: Need = ("dynamodb:GetItem", "JobsTable", Some("DELIVERIES#"));
const FIND_DELIVERIES: Need = ("dynamodb:Query", "JobsTable", Some("DELIVERIES#"));
const UPDATE_DELIVERY: Need = ("dynamodb:UpdateItem", "JobsTable", Some("DELIVERIES#"));
const RESERVE_CALL: Need = ("dynamodb:UpdateItem", "JobsTable", Some("ATTEMPTS#"));
const FIND_SCHEDULES: Need = ("dynamodb:Query", "JobsTable", Some("SCHEDULES#"));
const READ_SCHEDULE: Need = ("dynamodb:GetItem", "JobsTable", Some("SCHEDULES#"));
const UPDATE_SCHEDULE: Need = ("dynamodb:UpdateItem", "JobsTable", Some("SCHEDULES#"));
const DELETE_SCHEDULE: Need = ("dynamodb:DeleteItem", "JobsTable", Some("SCHEDULES#"));
const PUT_OCCURRENCE: Need = ("dynamodb:PutItem", "JobsTable", Some("OCCURRENCES#"));
const FIND_OCCURRENCES: Need = ("dynamodb:Query", "JobsTable", Some("OCCURRENCES#"));
const PUT_JOB: Need = ("dynamodb:PutItem", "JobsTable", Some("JOB#"));
const FIND_DUE: Need = ("dynamodb:Query", "JobsTable/index/due", None);
const DELETE_MANY: Need = ("dynamodb:BatchWriteItem", "JobsTable", None);
const FIND_UNFINISHED: Need = ("dynamodb:Query", "JobsTable/index/unfinished", None);
const FIND_OF_TENANT: Need = ("dynamodb:Query", "JobsTable/index/tenant", None);
/// Only lists for operators read this index.
pub(super) const FIND_OF_DAY: Need = ("dynamodb:Query", "JobsTable/index/day", None);
const PUT_ENTRY: Need = ("dynamodb:PutItem", "OperatorLogTable", None);
const FIND_ENTRIES: Need = ("dynamodb:Query", "OperatorLogTable", None);
const FIND_RECORDS: Need = ("dynamodb:Query", "RecordsTable", None);
const FIND_DATASET: Need = ("dynamodb:GetItem", "RecordsTable", Some("DATASETS#"));
const READ_RECORD: Need = ("dynamodb:GetItem", "RecordsTable", None);
const READ_RECORDS: Need = ("dynamodb:BatchGetItem", "RecordsTable", None);
const INSERT_RECORD: Need = ("dynamodb:PartiQLInsert", "RecordsTable", None);
const UPDATE_RECORD: Need = ("dynamodb:PartiQLUpdate", "RecordsTable", None);
const DELETE_BY_STATEMENT: Need = ("dynamodb:PartiQLDelete", "RecordsTable", None);
const DELETE_RECORD: Need = ("dynamodb:DeleteItem", "RecordsTable", Some("DATASET#"));
const PUT_DATASET: Need = ("dynamodb:PutItem", "RecordsTable", Some("DATASETS#"));
/// Any object of the bucket. The flow tests, which enforce policies, check the folders.
const GET: Need = ("s3:GetObject", "Bucket/*", None);
/// Without this permission, S3 returns 403 for a missing key.
const LIST: Need = ("s3:ListBucket", "Bucket", None);
const STORE: Need = ("s3:PutObject", "Bucket/*", None);
const ABORT: Need = ("s3:AbortMultipartUpload", "Bucket/*", None);
const PARTS: Need = ("s3:ListMultipartUploadParts", "Bucket/*", None);
const ERASE: Need = ("s3:DeleteObject", "Bucket/*", None);
const SEND_CREATE: Need = ("sqs:SendMessage", "CreateJobQueue", None);
const SEND_PREPARE: Need = ("sqs:SendMessage", "PrepareQueue", None);
const SEND_HIGH: Need = ("sqs:SendMessage", "HighChunkQueue", None);
const SEND_CHUNK: Need = ("sqs:SendMessage", "ChunkQueue", None);
const SEND_LOW: Need = ("sqs:SendMessage", "LowChunkQueue", None);
/// Chunks of registered types, and pings.
pub(super) const SEND_HANDLER: Need = ("sqs:SendMessage", "HandlerChunkQueue", None);
const SEND_COMPLETE: Need = ("sqs:SendMessage", "CompleteJobQueue", None);
const SEND_WEBHOOK: Need = ("sqs:SendMessage", "WebhookQueue", None);
const DEPTH: Need = ("sqs:GetQueueAttributes", "ChunkQueue", None);
const DEPTH_HIGH: Need = ("sqs:GetQueueAttributes", "HighChunkQueue", None);
const DEPTH_LOW: Need = ("sqs:GetQueueAttributes", "LowChunkQueue", None);
const DEPTH_HANDLER: Need = ("sqs:GetQueueAttributes", "HandlerChunkQueue", None);
const DEPTH_WEBHOOKS: Need = ("sqs:GetQueueAttributes", "WebhookQueue", None);

/// The numbers of messages of all queues.
const COUNTS: &[Need] = &[
    ("sqs:GetQueueAttributes", "CreateJobQueue", None),
    ("sqs:GetQueueAttributes", "PrepareQueue", None),
    DEPTH_HIGH,
    DEPTH,
    DEPTH_LOW,
    DEPTH_HANDLER,
    ("sqs:GetQueueAttributes", "CompleteJobQueue", None),
    DEPTH_WEBHOOKS,
    ("sqs:GetQueueAttributes", "CreateJobDeadLetters", None),
    ("sqs:GetQueueAttributes", "ChunkDeadLetters", None),
    ("sqs:GetQueueAttributes", "CompleteJobDeadLetters", None),
    ("sqs:GetQueueAttributes", "WebhookDeadLetters", None),
];

/// The receivers in the code (`store.job(…)`), the method, and the actions that it needs.
pub(super) const CALLS: &[(&[&str], &str, &[Need])] = &[
    (STORES, "create_upload", &[PUT, UPDATE, READ]),
    (STORES, "upload", &[READ_UPLOAD]),
    (STORES, "create_job", &[PUT, UPDATE, READ, READ_MANY]),
    (STORES, "start_job", &[PUT, UPDATE, READ, READ_MANY]),
    (STORES, "create_undo", &[PUT, UPDATE, READ, READ_MANY]),
    (STORES, "upload_created_before", &[READ]),
    (STORES, "job_created_before", &[READ]),
    (STORES, "job", &[READ_JOB]),
    (STORES, "definition", &[READ_JOB]),
    (STORES, "jobs", &[FIND_OF_TENANT, FIND_OF_DAY, READ_MANY]),
    (STORES, "unfinished", &[FIND_UNFINISHED]),
    (STORES, "due_jobs", &[FIND_DUE]),
    (STORES, "enqueue", &[UPDATE]),
    (STORES, "count_call", &[COUNT_CALL]),
    (STORES, "active_jobs", &[READ, READ_MANY, UPDATE]),
    (STORES, "month_costs", &[FIND_COSTS]),
    (STORES, "begin", &[UPDATE]),
    (STORES, "record_outage", &[UPDATE]),
    (STORES, "put_columns", &[UPDATE]),
    (STORES, "commit_group", &[PUT, UPDATE, READ]),
    (STORES, "record_preparation", &[UPDATE_JOB]),
    (STORES, "end_preparation", &[UPDATE_JOB]),
    (STORES, "end_split", &[UPDATE]),
    (STORES, "reset_split_resends", &[UPDATE_JOB]),
    (STORES, "stop", &[UPDATE_JOB]),
    (STORES, "stop_if_unchanged", &[UPDATE]),
    (STORES, "delete", &[UPDATE]),
    (STORES, "delete_if_unchanged", &[UPDATE]),
    (STORES, "checkpoint", &[UPDATE]),
    (STORES, "finish", &[UPDATE, READ_JOB]),
    (STORES, "reopen", &[UPDATE, PUT_USE, READ, READ_MANY]),
    (STORES, "count_resend", &[UPDATE]),
    (STORES, "move_events", &[PUT_EVENT, PUT_DELIVERY, UPDATE]),
    (STORES, "endpoints", &[FIND_ENDPOINTS]),
    (STORES, "put_endpoint", &[UPDATE_ENDPOINT]),
    (STORES, "disable_endpoint", &[UPDATE_ENDPOINT, PUT_EVENT, PUT_DELIVERY]),
    (STORES, "delete_endpoint", &[DELETE_ENDPOINT]),
    (STORES, "reserve_call", &[RESERVE_CALL]),
    (STORES, "delivery", &[READ_DELIVERY]),
    (STORES, "deliveries_of", &[FIND_DELIVERIES]),
    (STORES, "put_delivery", &[UPDATE_DELIVERY]),
    (STORES, "due_deliveries", &[FIND_DUE]),
    (STORES, "schedules", &[FIND_SCHEDULES]),
    (STORES, "schedule", &[READ_SCHEDULE]),
    (STORES, "put_schedule", &[UPDATE_SCHEDULE]),
    (STORES, "delete_schedule", &[DELETE_SCHEDULE]),
    (STORES, "fire", &[UPDATE_SCHEDULE, PUT_OCCURRENCE, PUT_JOB, UPDATE, READ, READ_MANY]),
    (STORES, "occurrences", &[FIND_OCCURRENCES]),
    (STORES, "due_schedules", &[FIND_DUE]),
    (STORES, "events", &[FIND]),
    (STORES, "chunk_state", &[READ_MANY]),
    (STORES, "commit", &[UPDATE]),
    (STORES, "group_done", &[UPDATE_JOB]),
    (STORES, "progress", &[FIND]),
    (STORES, "progress_from", &[FIND]),
    (STORES, "manifest", &[READ]),
    (STORES, "close", &[UPDATE]),
    (STORES, "chunk_woken", &[UPDATE]),
    (STORES, "reset_group_resends", &[UPDATE_JOB]),
    (STORES, "count_group_resend", &[UPDATE]),
    (STORES, "release_upload", &[DELETE, FIND]),
    (STORES, "remove", &[FIND, DELETE, DELETE_MANY]),
    (STORES, "permits", &[FIND]),
    (STORES, "acquire", &[UPDATE]),
    (STORES, "release", &[UPDATE]),
    (STORES, "parked", &[FIND]),
    (STORES, "park", &[UPDATE]),
    (STORES, "mark_woken", &[UPDATE]),
    (STORES, "unpark", &[DELETE_PARKED]),
    (STORES, "handler_state", &[READ]),
    (STORES, "replace_handler_state", &[UPDATE]),
    (STORES, "reserve_items", &[UPDATE]),
    (STORES, "put_preset", &[UPDATE]),
    (STORES, "presets", &[READ_PRESET]),
    (STORES, "pauses", &[FIND_PAUSES]),
    (STORES, "recent_pauses", &[FIND_PAUSES]),
    (STORES, "put_pause", &[UPDATE_PAUSE]),
    (STORES, "end_pause", &[DELETE_PAUSE]),
    (STORES, "job_type", &[READ_TYPE]),
    (STORES, "job_types", &[FIND]),
    (STORES, "put_candidate", &[PUT, UPDATE, READ]),
    (STORES, "delete_job_type", &[DELETE_TYPE, UPDATE, READ]),
    (STORES, "activate", &[UPDATE]),
    (STORES, "refuse", &[UPDATE]),
    (STORES, "record", &[UPDATE]),
    (STORES, "sweep_position", &[READ]),
    (STORES, "set_sweep_position", &[UPDATE]),
    (STORES, "record_delivery", &[UPDATE]),
    (STORES, "deliveries", &[READ]),
    (STORES, "dead_letter", &[READ]),
    (STORES, "body", &[READ]),
    (STORES, "dead_letters", &[FIND]),
    (STORES, "resolve", &[UPDATE]),
    (&["log"], "append", &[PUT_ENTRY]),
    (&["log"], "append_result", &[PUT_ENTRY]),
    (&["log"], "logged_actions", &[FIND_ENTRIES]),
    (&["records"], "put", &[INSERT_RECORD, UPDATE_RECORD, DELETE_BY_STATEMENT, PUT_DATASET]),
    (&["records"], "list", &[FIND_RECORDS]),
    (&["records"], "delete", &[DELETE_RECORD]),
    (&["records"], "datasets", &[FIND_RECORDS]),
    (&["records"], "find_dataset", &[FIND_DATASET]),
    (&["records"], "insert_new", &[INSERT_RECORD, PUT_DATASET]),
    (&["records"], "read_versions", &[READ_RECORDS]),
    (&["records"], "overwrite", &[UPDATE_RECORD]),
    (&["records"], "revert", &[UPDATE_RECORD, DELETE_BY_STATEMENT]),
    (&["reader"], "walk_keys", &[FIND_RECORDS]),
    (&["reader"], "read_records", &[FIND_RECORDS, READ_RECORD]),
    (QUEUES, "send_create", &[SEND_CREATE]),
    (QUEUES, "send_prepare", &[SEND_PREPARE]),
    (QUEUES, "send_chunks", &[SEND_HIGH, SEND_CHUNK, SEND_LOW, SEND_HANDLER]),
    (QUEUES, "send_complete", &[SEND_COMPLETE]),
    (QUEUES, "send_webhooks", &[SEND_WEBHOOK]),
    (QUEUES, "chunks", &[DEPTH, DEPTH_HIGH, DEPTH_LOW, DEPTH_HANDLER]),
    (QUEUES, "webhooks", &[DEPTH_WEBHOOKS]),
    (QUEUES, "redrive_to_source", &[SEND_CREATE, SEND_HIGH, SEND_CHUNK, SEND_LOW, SEND_HANDLER, SEND_COMPLETE]),
    (&["pings"], "send_ping", &[SEND_HANDLER]),
    (&["statistics"], "message_counts", COUNTS),
    (&["statistics"], "oldest_ages", &[("cloudwatch:GetMetricData", "*", None)]),
    (QUEUES, "creates", &[("sqs:ReceiveMessage", "CreateJobDeadLetters", None)]),
    (QUEUES, "receive", &[("sqs:ReceiveMessage", "ChunkDeadLetters", None)]),
    (QUEUES, "make_visible", &[("sqs:ChangeMessageVisibility", "ChunkDeadLetters", None)]),
    (QUEUES, "delete", &[("sqs:DeleteMessage", "ChunkDeadLetters", None)]),
    (FILES, "info", &[GET, LIST]),
    (FILES, "open", &[GET, LIST]),
    (FILES, "read", &[GET, LIST]),
    (FILES, "write", &[STORE]),
    (FILES, "create_multipart", &[STORE]),
    (FILES, "upload_part", &[STORE]),
    (FILES, "copy_part", &[GET, STORE]),
    (FILES, "complete_multipart", &[STORE]),
    (FILES, "abort_multipart", &[ABORT]),
    (FILES, "remove", &[ERASE]),
    (FILES, "remove_some", &[ERASE, LIST]),
    (FILES, "download_url", &[GET]),
    (STORAGE, "upload_url", &[STORE]),
    (STORAGE, "is_received", &[GET, LIST]),
    (STORAGE, "begin", &[STORE]),
    (STORAGE, "part_url", &[STORE]),
    (STORAGE, "received_parts", &[PARTS]),
    (STORAGE, "complete", &[STORE]),
    (STORAGE, "abort", &[ABORT]),
];

/// Receivers of port calls in the functions' code.
pub(super) const STORES: &[&str] = &["store", "limiters", "uploads"];
const QUEUES: &[&str] = &["queues", "dead_letters"];
const FILES: &[&str] = &["files"];
const STORAGE: &[&str] = &["storage"];
