//! Response document of an audit.

use longshore_domain::ids::JobId;
use longshore_domain::job::Status;
use serde::Serialize;
use utoipa::ToSchema;

/// Result of an audit: a recount of a job from all of its stored data.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Audit)]
pub struct AuditDocument {
    /// Id of the job.
    pub job_id: JobId,
    /// Status of the job at the time of the audit.
    pub status: Status,
    /// `true`: everything was checked and agrees. `false`: something differs. `null`: nothing differs, but not
    /// everything could be checked; see `unchecked`.
    #[schema(required = true)]
    pub equal: Option<bool>,
    /// Comparisons that were made.
    pub checks: Vec<Check>,
    /// Differences with their places; the first 100.
    pub differences: Vec<Difference>,
    /// Parts that could not be checked, with the reasons.
    pub unchecked: Vec<Unchecked>,
}

/// One kind of comparison, summed over all places.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = AuditCheck)]
pub struct Check {
    /// Stable name in snake case.
    #[schema(examples("failed"))]
    pub name: String,
    /// Expected value, summed over all places. For texts: their number.
    pub expected: u64,
    /// Value found, summed over all places. For texts: the number of matching ones.
    pub found: u64,
    /// `true` if both sides agree in every place.
    pub equal: bool,
}

/// A place where two sides disagree.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = AuditDifference)]
pub struct Difference {
    /// Name of the check.
    #[schema(examples("group_items"))]
    pub check: String,
    /// Place of the difference.
    #[schema(examples("group 3"))]
    pub place: String,
    /// Expected value.
    pub expected: String,
    /// Value found.
    pub found: String,
}

/// A part that could not be checked.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = AuditUnchecked)]
pub struct Unchecked {
    /// Name of the part.
    #[schema(examples("report"))]
    pub name: String,
    /// Reason.
    pub reason: String,
}
