//! A job of a world, with its client and earlier observations.

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
    /// Set when the job begins to expire. The inner value is set when the job's own item is removed: the last function
    /// that had begun.
    pub(super) expired: Option<Option<u64>>,
    pub(super) expires: bool,
    /// Possible actions of each row, one bit per action. Corrected files add actions.
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
    /// Progress that the client received after the end of the job.
    pub(super) ended: Option<Progress>,
    pub(super) left_out: LeftOut,
}

/// Rows that a replay of dead letters must not run: those that failed without a dead letter.
#[derive(Default)]
pub(super) struct LeftOut {
    pub(super) generation: u32,
    /// Number of the last function that began before the generation.
    pub(super) last_function: u64,
    pub(super) failed: Vec<usize>,
}
