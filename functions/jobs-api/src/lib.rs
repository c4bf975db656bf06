//! HTTP API of jobs: creation, progress and results; and of registered job types.
//!
//! - **Trigger:** every call of the HTTP API except those about uploads, of the page, and below `/api/operations` and
//!   `/api/dead-letters`. Costs of other tenants are read here, by operators. Also responds to calls of unknown routes.
//! - **Reads and writes:** a create or a start writes the items of the request, if any, to the bucket. Then a create
//!   writes the job, its definition, its idempotency key and its entry among the tenant's active jobs in one
//!   transaction, then sends the create message. An undo is stored like a create, and the same transaction marks its
//!   import. A retry reopens a job in one transaction. A cancel stops the job; a delete hides and stops it: one
//!   conditional write each, then the complete message. `DELETE` of a record deletes it; `DELETE` of a dataset creates a
//!   job. A PUT of a job type stores a candidate in one conditional write, or in a transaction if the type is new, then
//!   asks for its ping; a DELETE removes it in one transaction. The other calls only read, strongly consistently, groups before the job. Lists use an index that may lag by a
//!   moment. An audit reads all records of a job, its input, its work files and outputs, and the files of its report.
//! - **Called twice:** with an `Idempotency-Key`, the second create returns the job of the first one; without a key, it
//!   creates another job. A second cancel finds the job stopping, a second delete finds no job, and a second start
//!   returns the job of the first one. While an undo is active, a second undo returns it; a second preview is another
//!   job. A second PUT of a job type with the same content only asks for the ping again. Reads change nothing.
//! - **If it fails:** a job whose message could not be sent is stored and waiting, and the sweeper sends the message.
//!   The same holds for a job that was stopped or reopened. A job type whose ping could not be asked for stays pending
//!   until its PUT is repeated.
//! - **Public:** only the documents about the API.
//! - **Never:** returns counts that do not add up, an internal cause, or a link that is valid for more than 15 minutes.

mod admission;
mod audit;
mod backend;
mod costs;
mod documents;
mod etag;
mod events;
mod failures;
mod job_types;
mod jobs;
mod openapi;
mod output;
mod queue_depths;
mod records;
mod resource;
mod results;
mod routes;
mod schedules;
mod unreadable;
mod webhooks;

pub use audit::{AuditDocument, Check, Difference, Unchecked, audit};
pub use backend::{Api, Backend, Deployed, Limits};
pub use costs::{
    CostDocument, CostParts, CostPrices, EstimateDocument, MonthCostsDocument, TenantCostDocument, TypeCostDocument,
};
pub use events::document::EventsDocument;
pub use failures::{FailureDocument, FailuresDocument};
pub use job_types::{
    CandidateDocument, JobTypeDocument, JobTypesDocument, Registrations, SecretDocument, TargetDocument,
};
pub use jobs::{JobCounts, JobDocument, JobSource, JobsDocument, Links, Undoes};
pub use output::{FileLink, FileLinks, OutputDocument, ReceiptLink};
pub use queue_depths::QueueDepths;
pub use records::{DatasetDocument, DatasetLinks, DatasetsDocument, RecordDocument, RecordsDocument};
pub use results::ResultsDocument;
pub use routes::{PUBLIC_ROUTES, ROUTES, openapi, router, serve};
pub use schedules::{OccurrencesDocument, ScheduleDocument, SchedulesDocument};
pub use webhooks::{
    CreatedWebhookDocument, DeliveriesDocument, DeliveryDocument, WebhookDocument, WebhookSecretDocument,
    WebhooksDocument,
};
