//! What an audit answers.

use longshore_domain::ids::JobId;
use longshore_domain::job::Status;
use serde::Serialize;
use utoipa::ToSchema;

/// A recount of a job from everything that is stored of it.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Audit)]
pub struct AuditDocument {
    /// The job.
    pub job_id: JobId,
    /// Where it stood when it was audited.
    pub status: Status,
    /// `true`: everything was checked and agrees. `false`: something differs. `null`: nothing differs, and `unchecked` says
    /// what could not be checked.
    #[schema(required = true)]
    pub equal: Option<bool>,
    /// What was held against what.
    pub checks: Vec<Check>,
    /// What differs, and where; the first 100.
    pub differences: Vec<Difference>,
    /// What could not be checked, and why.
    pub unchecked: Vec<Unchecked>,
}

/// One kind of comparison, made wherever it can be.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = AuditCheck)]
pub struct Check {
    /// Stable, in snake case.
    #[schema(examples("failed"))]
    pub name: String,
    /// What the one side says; the sum over all places. Of texts, how many there are.
    pub expected: u64,
    /// What the other side says; the sum over all places. Of texts, how many are as expected.
    pub found: u64,
    /// Both say the same in every place.
    pub equal: bool,
}

/// One place where two sides do not agree.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = AuditDifference)]
pub struct Difference {
    /// Name of the check.
    #[schema(examples("group_items"))]
    pub check: String,
    /// Where.
    #[schema(examples("group 3"))]
    pub place: String,
    /// What the one side says.
    pub expected: String,
    /// What the other side says.
    pub found: String,
}

/// Something that could not be checked.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = AuditUnchecked)]
pub struct Unchecked {
    /// What.
    #[schema(examples("report"))]
    pub name: String,
    /// Why.
    pub reason: String,
}
