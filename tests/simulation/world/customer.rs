//! A job of a world, with its client and its expected state.

use std::collections::BTreeSet;

use longshore_domain::group::Group;
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::progress::Progress;

use crate::kinds::Kind;
use crate::plan::ActionRates;
use crate::rows::Dialect;

/// A job, and its client.
pub(super) struct Customer {
    pub(super) id: JobId,
    pub(super) tenant: &'static str,
    pub(super) kind: Kind,
    pub(super) dialect: Dialect,
    pub(super) action_rates: ActionRates,
    pub(super) seen: Seen,
    /// Set once the job begins to expire. The inner value is the last function that had begun when the job itself was
    /// removed.
    pub(super) expired: Option<Option<u64>>,
    pub(super) expires: bool,
    /// Actions that each row may have by now, one bit per action. Corrected files add actions.
    pub(super) possible: Vec<u8>,
    /// Uploads of corrected files that retries have named.
    pub(super) corrected: BTreeSet<String>,
}

/// Earlier observations of the job.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) job: Option<Job>,
    pub(super) groups: Vec<Group>,
    pub(super) progress: (u64, u8),
    /// Progress that the client received after the job's end.
    pub(super) ended: Option<Progress>,
    pub(super) left_out: LeftOut,
}

/// Rows that a generation must not run: those that failed on their own before dead letters were replayed.
#[derive(Default)]
pub(super) struct LeftOut {
    pub(super) generation: u32,
    /// Number of the last function that began before the generation.
    pub(super) behind: u64,
    pub(super) failed: Vec<usize>,
}
