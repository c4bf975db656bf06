//! The ledger on DynamoDB: one table, one function per operation, with its key and its condition in its doc.
//!
//! | item | `PK` | `SK` | contents |
//! | --- | --- | --- | --- |
//! | job | `JOB#id` | `JOB` | [`Job`](longshore_domain::job::Job), flat; `doneGroups`, a number set; `pendingEvents`, a string set; `unfinished`; `createdOn` |
//! | definition | `JOB#id` | `DEFINITION` | options as JSON; the form of the results as JSON; the columns, once known |
//! | group | `JOB#id` | `GROUP#00042` | counts, `open`, and `cur`: chunk to cursor. Below 1,024 bytes: one write unit |
//! | manifest | `JOB#id` | `MANIFEST#00042` | the chunks as JSON; immutable |
//! | upload | `UPLOAD#id` | `UPLOAD` | the upload as promised to the client |
//! | use | `UPLOAD#id` | `JOB#id` | nothing: this job uses this upload |
//! | permit | `GATE#type` | `SLOT#00003` | if the type has a concurrency limit: `holder` and `until` while it is held |
//! | handler state | `GATE#type` | `STATE` | of a registered type: circuit breaker and lowered concurrency, as JSON; `writes`; `reserved` |
//! | parked chunk | `GATE#type` | `WAIT#turn#job#group-chunk` | its message; `calledAt` and `calledBy`, its last wake |
//! | key | `KEY#JOB#tenant#key`, `KEY#UPLOAD#tenant#key` | `KEY` | idempotency key: request hash, id of the created item |
//! | dead letter | `DEADLETTERS` | `1700000000000-messageId` | the dead-letter record; `settled`, its resolution |
//! | its body | `JOB#id`, or `LETTER#id` if it is unreadable | `LETTER#id`, `BODY` | `body` |
//! | event | `EVENTS#tenant` | `001700000000000#0000000001#id` | the [`Event`](longshore_domain::event::Event), flat |
//! | endpoint | `WEBHOOKS#tenant` | `07` | `endpoint` and `health` as JSON; `endpointId`; `revision` |
//! | delivery | `DELIVERIES#endpoint#tenant` | `001700000000000-eventId` | `delivery` as JSON; `revision`; `due` and `dueAt` while an attempt is left |
//! | schedule | `SCHEDULES#tenant` | `07` | `schedule` as JSON; `scheduleId`; `revision`; `due` and `dueAt` while it has a next time |
//! | occurrence | `OCCURRENCES#schedule#tenant` | `001700000000000-0000000001` | `occurrence` as JSON |
//! | preset | `PRESETS#tenant` | `IMPORT#dataset`, `EXPORT#dataset` | `preset` as JSON; `learntAt`, the creation time of its job |
//! | pause | `PAUSES` | `TYPE#name`, `TENANT#tenant` | `pauseId`, `since`, `until`, `by` |
//! | job type | `JOBTYPES` | `name` | `active` and `candidate` as JSON, each with its version; `activation`; `refusal` |
//! | names of job types | `JOBTYPES#NAMES` | `NAMES` | `names`, a string set: all job types |
//! | active jobs | `TENANT#tenant` | `ACTIVE` | `jobs`, a string set: all unfinished jobs, and some that have ended |
//! | calls | `TENANT#tenant` | `CALLS#178289640` | `calls` that created work in these ten seconds |
//! | attempts | `ATTEMPTS#tenant` | `178289640` | `calls` of the tenant's endpoints in these ten seconds |
//! | deliveries | `TENANT#tenant` | `DELIVERED#normal` | `s0` to `s39`: send time of the newest received message |
//! | sweeps | `SWEEP` | `POSITION` | `jobId`, `age`: where the next sweep continues |
//! | promised bytes | `TENANT#tenant` | `UPLOADS#2026-07-01` | `bytes` of the uploads promised on that day |
//! | bytes of jobs | `TENANT#tenant` | `JOBS#2026-07-01` | `bytes` of files of jobs created, started or retried that day |
//! | costs | `COSTS#2026-07` | `tenant#type` | `runs` that ended in that month, and the parts of their cost |
//!
//! The sweep's position, endpoints, schedules, job types and their names never expire. Every other item has `expiresAt`
//! (seconds): DynamoDB removes it some hours later. The indexes are sparse. `unfinished`: a job that has ended leaves
//! it with its last event, or, if it is deleted, when it is removed. `tenant`: only jobs have its two keys, `tenant`
//! and `createdAt`; it repeats `status` and `jobType`. `day`: the jobs of all tenants, by `createdOn`, the date in UTC,
//! and `createdAt`; it repeats `tenant`, `status` and `jobType`; jobs of earlier versions are not in it. `GROUP#` sorts before `JOB`, so that one query reads groups,
//! then the job. `due`: what the sweeper does at a time, by kind and partition (`due`) and time (`dueAt`).

mod active_jobs;
mod commit_group;
mod concurrency;
mod conditional;
mod costs;
mod daily_bytes;
mod dead_letters;
mod due;
mod events;
mod group_item;
mod handler_states;
mod idempotency;
mod item;
pub mod items;
mod job_item;
mod job_list;
mod job_type_item;
mod job_types;
mod jobs;
mod keys;
mod ledger;
mod operator_log;
mod pauses;
mod preparations;
mod presets;
mod removal;
mod reopen;
mod retry;
mod schedules;
#[cfg(test)]
pub(crate) mod shape_tests;
mod start;
mod stops;
mod store;
mod sweeps;
mod transaction;
mod transitions;
mod undo;
mod update;
mod upload_item;
mod webhooks;
mod work_calls;

pub use operator_log::DynamoOperatorLog;
pub(super) use retry::unanswered;
pub use store::DynamoStore;
use store::failed;
