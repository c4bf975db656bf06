//! Checks of items before they are stored in memory, under DynamoDB's limits.

use longshore_domain::dead_letter::DeadLetterRecord;
use longshore_domain::event::Event;
use longshore_domain::group::Group;
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::{Definition, IdempotencyKey, PortResult, Upload};
use longshore_domain::registration::{StoredRegistration, TypeName};
use longshore_domain::schedule::{Occurrence, Schedule};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{Delivery, Endpoint};

use super::item::{Item, ItemError, nested, number, text};
use super::jobs::definition_item;
use super::keys::Key;
use super::{events, failed, group_item, job_item, job_type_item, schedules, upload_item, webhooks};
use crate::aws_limits::Refusal;
use crate::aws_limits::dynamodb::{check_item, check_key, check_transaction_bytes, item_bytes};
use crate::store::own_write::CommittedGroup;

/// The reason why an item is not stored.
#[derive(Debug, thiserror::Error)]
enum Unstored {
    #[error(transparent)]
    Item(#[from] ItemError),
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// Checks a job after an update.
pub fn check_job(operation: &'static str, job: &Job) -> PortResult<()> {
    check(job_item::to_item(job)).map_err(failed(operation))
}

/// Checks the items of a job's events that enter the list, and of their deliveries.
pub fn check_events(job: &Job, events: &[Event], deliveries: &[Delivery], now: Timestamp) -> PortResult<()> {
    let items = events.iter().map(|event| events::to_item(&job.tenant, event, now, job.times.expires_at));
    let items = items.chain(deliveries.iter().map(webhooks::to_item));
    check_all(items.chain([job_item::to_item(job)])).map_err(failed("move_events"))
}

/// Checks the items of an endpoint that is disabled, of its event and of deliveries of the event.
pub fn check_disabled(disabled: &Endpoint, event: &Event, deliveries: &[Delivery], now: Timestamp) -> PortResult<()> {
    let listed = [webhooks::endpoint_item(disabled), events::to_item(&disabled.tenant, event, now, i64::MAX)];
    check_all(listed.into_iter().chain(deliveries.iter().map(webhooks::to_item))).map_err(failed("disable_endpoint"))
}

/// Checks a schedule.
pub fn check_schedule(schedule: &Schedule) -> PortResult<()> {
    check(schedules::schedule_item(schedule)).map_err(failed("put_schedule"))
}

/// Checks an occurrence.
pub fn check_occurrence(schedule: &Schedule, occurrence: &Occurrence) -> PortResult<()> {
    check(schedules::occurrence_item(schedule, occurrence)).map_err(failed("fire"))
}

/// Checks a definition with its columns.
pub fn check_definition(job: &Job, definition: &Definition) -> PortResult<()> {
    check(definition_item(job, definition)).map_err(failed("put_columns"))
}

/// Checks the items that a new job puts.
pub fn check_new_job(job: &Job, definition: &Definition, key: Option<&IdempotencyKey>) -> PortResult<()> {
    let items = [job_item::to_item(job), definition_item(job, definition)];
    check_all(items).map_err(failed("create_job"))?;
    check_idempotency("create_job", "JOB", &job.tenant, key)
}

/// Checks the items that a new upload puts.
pub fn check_upload(upload: &Upload, key: Option<&IdempotencyKey>) -> PortResult<()> {
    check(upload_item::to_item(upload)).map_err(failed("create_upload"))?;
    check_idempotency("create_upload", "UPLOAD", &upload.tenant, key)
}

/// Checks the items that the commit of a group writes: job, group and manifest.
pub fn check_group(job: &Job, group: &Group, committed: &CommittedGroup) -> PortResult<()> {
    let group = Ok(group_item::to_item(job.job_id, group, job.times.expires_at));
    let manifest = group_item::manifest_item(job.job_id, committed, job.times.expires_at);
    check_all([job_item::to_item(job), group, manifest]).map_err(failed("commit_group"))
}

/// Checks a group after an update.
pub fn check_progress(id: JobId, group: &Group) -> PortResult<()> {
    check(Ok(group_item::to_item(id, group, 0))).map_err(failed("commit"))
}

/// Checks a job type after a write.
pub fn check_job_type(operation: &'static str, name: &TypeName, stored: &StoredRegistration) -> PortResult<()> {
    check(job_type_item::full_item(name, stored)).map_err(failed(operation))
}

/// Checks an endpoint after a write.
pub fn check_endpoint(endpoint: &Endpoint) -> PortResult<()> {
    check(webhooks::endpoint_item(endpoint)).map_err(failed("put_endpoint"))
}

/// Checks a delivery after a write.
pub fn check_delivery(delivery: &Delivery) -> PortResult<()> {
    check(webhooks::to_item(delivery)).map_err(failed("put_delivery"))
}

/// Checks a dead-letter record and its body.
pub fn check_dead_letter(dead_letter: &DeadLetterRecord, body: Option<&str>) -> PortResult<()> {
    let record = nested(dead_letter).map(|value| {
        let mut item = Key::dead_letter(&dead_letter.id).attributes();
        item.extend([("letter".to_owned(), value), ("expiresAt".to_owned(), number(dead_letter.expires_at))]);
        item
    });
    check(record).map_err(failed("record"))?;
    let mut item = Key::dead_letter_body(dead_letter).attributes();
    item.extend(body.map(|body| ("body".to_owned(), text(body))));
    check(Ok(item)).map_err(failed("record"))
}

fn check_idempotency(
    operation: &'static str,
    kind: &str,
    tenant: &TenantId,
    key: Option<&IdempotencyKey>,
) -> PortResult<()> {
    let Some(key) = key else { return Ok(()) };
    check_key(&Key::idempotency(kind, tenant, &key.key).attributes()).map_err(failed(operation))
}

fn check(item: Result<Item, ItemError>) -> Result<(), Unstored> {
    Ok(check_item(&item?)?)
}

fn check_all(items: impl IntoIterator<Item = Result<Item, ItemError>>) -> Result<(), Unstored> {
    let mut bytes = 0;
    for item in items {
        let item = item?;
        check_item(&item)?;
        bytes += item_bytes(&item);
    }
    Ok(check_transaction_bytes(bytes)?)
}
