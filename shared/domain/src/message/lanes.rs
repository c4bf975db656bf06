//! Message groups: the lanes of a tenant in the queues of splits, completions and files to be prepared.

use crate::ids::JobId;
use crate::tenant::TenantId;

/// Number of lanes of one tenant in the queue of files to be prepared.
pub(super) const PREPARATION_LANES: u128 = 2;

/// Number of lanes of one tenant in the create queue, and in the complete queue: a fifth of the concurrency.
pub const SPLIT_LANES: u128 = 4;

/// Maximum characters of a tenant's name in a message group, which has up to 128
/// (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>). Two tenants
/// whose longer names begin alike share their lanes.
const MAX_LANE_NAME_BYTES: usize = 120;

/// Returns the tenant's name, shortened to fit into a message group. A name is ASCII.
pub(super) fn lane_name(tenant: &TenantId) -> &str {
    let name = tenant.as_str();
    &name[..name.len().min(MAX_LANE_NAME_BYTES)]
}

/// Returns true if the failing message blocks other jobs of its message group and is not a copy itself.
pub(super) fn needs_copy(tenant: Option<&TenantId>, failures_before: u32, failures: u32) -> bool {
    failures > 0 && failures_before == 0 && tenant.is_some()
}

/// Returns the suffix of a copy's deduplication id.
pub(super) fn copy_suffix(failures: u32) -> &'static str {
    if failures > 0 { ":f" } else { "" }
}

pub(super) fn group_id(tenant: Option<&TenantId>, job_id: JobId, resend: u32, failures: u32) -> String {
    let lane = job_id.0.as_u128() % SPLIT_LANES;
    match (tenant.map(lane_name), failures, resend) {
        (None, _, 0) => job_id.to_string(),
        (None, _, n) => format!("{job_id}:{n}"),
        (Some(name), 0, 0) => format!("{name}:{lane}"),
        (Some(name), 0, n) => format!("{name}:{lane}:{}", (n - 1) % 2),
        (Some(name), ..) => format!("{name}:{lane}:f"),
    }
}
