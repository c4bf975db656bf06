//! Keys of every item of the table.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use longshore_domain::concurrency::ParkedChunk;
use longshore_domain::cost::Month;
use longshore_domain::dataset::Dataset;
use longshore_domain::dead_letter::DeadLetterRecord;
use longshore_domain::event::EventPosition;
use longshore_domain::ids::{EndpointId, FileGuid, JobId, ScheduleId};
use longshore_domain::job::ChunkQueue;
use longshore_domain::pause::PauseScope;
use longshore_domain::ports::CallWindow;
use longshore_domain::preset::LearntFrom;
use longshore_domain::registration::TypeName;
use longshore_domain::schedule::{OccurrenceId, ScheduleKey};
use longshore_domain::tenant::TenantId;
use longshore_domain::webhook::DeliveryKey;

use super::events::moved_at;

/// Attribute of the partition key.
pub(super) const PK: &str = "PK";

/// Attribute of the sort key.
pub(super) const SK: &str = "SK";

/// Sort key of a job: after its groups, before its manifests.
pub(super) const JOB: &str = "JOB";

/// Prefix of the sort keys of groups.
pub(super) const GROUP: &str = "GROUP#";

/// Prefix of the sort keys of an upload's uses.
pub(super) const USE: &str = "JOB#";

/// Prefix of the sort keys of permits.
pub(super) const PERMIT: &str = "SLOT#";

/// Prefix of the sort keys of parked chunks.
pub(super) const WAIT: &str = "WAIT#";

/// Partition of all dead-letter records.
pub(super) const DEAD_LETTERS: &str = "DEADLETTERS";

/// Partition of all registered job types.
pub(super) const JOB_TYPES: &str = "JOBTYPES";

/// Partition of all pauses.
pub(super) const PAUSES: &str = "PAUSES";

/// Prefix of the sort keys of pauses of job types.
pub(super) const PAUSE_OF_TYPE: &str = "TYPE#";

/// Prefix of the sort keys of pauses of tenants.
pub(super) const PAUSE_OF_TENANT: &str = "TENANT#";

/// The primary key of one item.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct Key {
    pub(super) pk: String,
    pub(super) sk: String,
}

impl Key {
    fn of_job(id: JobId, sk: impl Into<String>) -> Self {
        Self { pk: job_pk(id), sk: sk.into() }
    }

    pub(super) fn job(id: JobId) -> Self {
        Self::of_job(id, JOB)
    }

    pub(super) fn definition(id: JobId) -> Self {
        Self::of_job(id, "DEFINITION")
    }

    pub(super) fn group(id: JobId, group: u32) -> Self {
        Self::of_job(id, format!("{GROUP}{group:05}"))
    }

    pub(super) fn manifest(id: JobId, group: u32) -> Self {
        Self::of_job(id, format!("MANIFEST#{group:05}"))
    }

    pub(super) fn upload(id: FileGuid) -> Self {
        Self { pk: upload_pk(id), sk: "UPLOAD".into() }
    }

    pub(super) fn upload_use(upload: FileGuid, job: JobId) -> Self {
        Self { pk: upload_pk(upload), sk: format!("{USE}{job}") }
    }

    pub(super) fn permit(job_type: &str, permit: u32) -> Self {
        Self { pk: concurrency_pk(job_type), sk: format!("{PERMIT}{permit:05}") }
    }

    pub(super) fn parked(job_type: &str, parked: &ParkedChunk) -> Self {
        Self { pk: concurrency_pk(job_type), sk: format!("{WAIT}{}", parked.name()) }
    }

    pub(super) fn handler_state(job_type: &str) -> Self {
        Self { pk: concurrency_pk(job_type), sk: "STATE".into() }
    }

    /// Key of an idempotency key. `made` is the kind of item created under it: keys of jobs and of uploads are
    /// separate. Tenants are never client input, so a `#` in a client's key cannot reach another tenant's keys.
    pub(super) fn idempotency(made: &str, tenant: &TenantId, key: &str) -> Self {
        Self { pk: format!("KEY#{made}#{tenant}#{key}"), sk: "KEY".into() }
    }

    pub(super) fn dead_letter(id: &str) -> Self {
        Self { pk: DEAD_LETTERS.into(), sk: id.into() }
    }

    /// Key of a dead letter's body: one of the items of its job, and removed with them.
    pub(super) fn dead_letter_body(dead_letter: &DeadLetterRecord) -> Self {
        let of_dead_letter = format!("LETTER#{}", dead_letter.id);
        match dead_letter.message.job_id() {
            Some(job) => Self::of_job(job, of_dead_letter),
            None => Self { pk: of_dead_letter, sk: "BODY".into() },
        }
    }

    pub(super) fn event(tenant: &TenantId, position: &EventPosition) -> Self {
        Self {
            pk: events_pk(tenant),
            sk: format!("{}#{:010}#{}", moved_at(position.moved_at), position.version, position.id),
        }
    }

    pub(super) fn endpoint(tenant: &TenantId, place: u8) -> Self {
        Self { pk: webhooks_pk(tenant), sk: format!("{place:02}") }
    }

    pub(super) fn schedule(key: &ScheduleKey) -> Self {
        Self { pk: schedules_pk(&key.tenant), sk: format!("{:02}", key.place) }
    }

    pub(super) fn occurrence(tenant: &TenantId, schedule: ScheduleId, id: &OccurrenceId) -> Self {
        Self { pk: occurrences_pk(tenant, schedule), sk: id.as_str().to_owned() }
    }

    pub(super) fn delivery(key: &DeliveryKey) -> Self {
        Self { pk: deliveries_pk(&key.tenant, key.endpoint_id), sk: key.id.as_str().to_owned() }
    }

    pub(super) fn preset(dataset: &Dataset, from: LearntFrom) -> Self {
        Self { pk: format!("PRESETS#{}", dataset.tenant), sk: format!("{}#{}", from.as_str(), dataset.name) }
    }

    pub(super) fn pause(scope: &PauseScope) -> Self {
        let sk = match scope {
            PauseScope::JobType(job_type) => format!("{PAUSE_OF_TYPE}{job_type}"),
            PauseScope::Tenant(tenant) => format!("{PAUSE_OF_TENANT}{tenant}"),
        };
        Self { pk: PAUSES.into(), sk }
    }

    pub(super) fn job_type(name: &TypeName) -> Self {
        Self { pk: JOB_TYPES.into(), sk: name.to_string() }
    }

    /// Key of the set of names, which is in another partition, so that lists do not read it.
    pub(super) fn job_type_names() -> Self {
        Self { pk: format!("{JOB_TYPES}#NAMES"), sk: "NAMES".into() }
    }

    pub(super) fn active_jobs(tenant: &TenantId) -> Self {
        Self { pk: tenant_pk(tenant), sk: "ACTIVE".into() }
    }

    pub(super) fn work_calls(tenant: &TenantId, window: CallWindow) -> Self {
        Self { pk: tenant_pk(tenant), sk: format!("CALLS#{}", window.number()) }
    }

    /// Key of the next time for a call of a tenant's endpoints.
    pub(super) fn next_call(tenant: &TenantId) -> Self {
        Self { pk: format!("ATTEMPTS#{tenant}"), sk: "NEXT".into() }
    }

    pub(super) fn deliveries(tenant: &TenantId, queue: ChunkQueue) -> Self {
        Self { pk: tenant_pk(tenant), sk: format!("DELIVERED#{}", queue.as_str()) }
    }

    pub(super) fn sweep_position() -> Self {
        Self { pk: "SWEEP".into(), sk: "POSITION".into() }
    }

    /// Key of a daily counter. `counter` is UPLOADS or JOBS, `day` its date.
    pub(super) fn daily_bytes(tenant: &TenantId, counter: &str, day: &str) -> Self {
        Self { pk: tenant_pk(tenant), sk: format!("{counter}#{day}") }
    }

    /// Key of a month's costs of a job type.
    pub(super) fn month_cost(tenant: &TenantId, month: &Month, job_type: &str) -> Self {
        Self { pk: costs_pk(month), sk: costs_sk(tenant) + job_type }
    }

    /// Returns the key in the form that the SDK takes.
    pub(super) fn attributes(self) -> HashMap<String, AttributeValue> {
        HashMap::from([(PK.into(), AttributeValue::S(self.pk)), (SK.into(), AttributeValue::S(self.sk))])
    }
}

/// Returns the partition of a tenant's counters.
fn tenant_pk(tenant: &TenantId) -> String {
    format!("TENANT#{tenant}")
}

/// Returns the partition of a month's costs.
pub(super) fn costs_pk(month: &Month) -> String {
    format!("COSTS#{month}")
}

/// Returns the prefix of the sort keys of a tenant's costs.
pub(super) fn costs_sk(tenant: &TenantId) -> String {
    format!("{tenant}#")
}

/// Returns the partition of a tenant's events.
pub(super) fn events_pk(tenant: &TenantId) -> String {
    format!("EVENTS#{tenant}")
}

/// Returns the partition of a tenant's endpoints.
pub(super) fn webhooks_pk(tenant: &TenantId) -> String {
    format!("WEBHOOKS#{tenant}")
}

/// Returns the partition of a tenant's schedules. The index of those that are due has it, and so the tenant.
pub(super) fn schedules_pk(tenant: &TenantId) -> String {
    format!("SCHEDULES#{tenant}")
}

/// Returns the partition of a schedule's occurrences.
pub(super) fn occurrences_pk(tenant: &TenantId, schedule: ScheduleId) -> String {
    format!("OCCURRENCES#{schedule}#{tenant}")
}

/// Returns the partition of an endpoint's deliveries. The index of those that are due has it, and so the tenant.
pub(super) fn deliveries_pk(tenant: &TenantId, endpoint: EndpointId) -> String {
    format!("DELIVERIES#{endpoint}#{tenant}")
}

/// Returns the partition of an upload's items.
pub(super) fn upload_pk(id: FileGuid) -> String {
    format!("UPLOAD#{id}")
}

/// Returns the partition of a job type's concurrency limit.
pub(super) fn concurrency_pk(job_type: &str) -> String {
    format!("GATE#{job_type}")
}

/// Returns the partition of a job's items.
pub(super) fn job_pk(id: JobId) -> String {
    format!("JOB#{id}")
}
