//! The queries of AWS, or of an emulator. All of them only read. One that fails is skipped, and named in the report.
//!
//! | file | queries |
//! | --- | --- |
//! | `observer` | all of them, and the version of the API |
//! | `monitoring` | alarms, ages of messages, throttled requests, schedules |
//! | `queues` | attributes of the queues |
//! | `functions` | functions, mappings, the account's quota |
//! | `storage` | tables, and the bucket's rules for uploads from pages |
//! | `jobs` | open circuit breakers, unfinished jobs |
//! | `webhooks` | webhooks that accept no events |

mod functions;
mod jobs;
mod monitoring;
mod observer;
mod queues;
mod storage;
mod webhooks;

pub(super) use observer::observe;
