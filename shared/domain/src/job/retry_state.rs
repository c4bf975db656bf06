//! The retry that a generation is, and what it carries over from earlier ones.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::selection::Selection;
use crate::cost::Cost;
use crate::ids::{ChunkId, FileGuid};
use crate::outcome::Counts;

/// The retry that the current generation is; all empty in generation 0.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryState {
    /// Counts and groups that are carried over from earlier generations.
    #[serde(default, rename = "base")]
    pub carried_over: CarriedOver,
    /// First chunk of the earlier generations whose remaining items are not yet replanned; a retry resumes here.
    #[serde(default, rename = "refiled")]
    pub replanned: ChunkId,
    /// The failed items that the current generation runs again.
    #[serde(flatten)]
    pub selection: Selection,
    /// The corrected files of earlier generations. They are no longer read, and are removed with the job.
    #[serde(default, rename = "spent", skip_serializing_if = "BTreeSet::is_empty")]
    pub used_corrections: BTreeSet<FileGuid>,
}

/// Counts and groups that are carried over from earlier generations.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CarriedOver {
    /// Items that ended for good: succeeded and skipped.
    pub counts: Counts,
    /// Number of groups of all earlier generations: the number of this generation's first group.
    pub groups: u32,
    /// True if the whole file was counted before.
    pub split_ended: bool,
    /// First chunk whose remaining items this generation replans.
    #[serde(default, rename = "refiled")]
    pub replanned: ChunkId,
    /// End of the retried groups: a later generation has retried all failed items of the groups below this number.
    #[serde(default, rename = "offered")]
    pub retried_groups: u32,
    /// Cost of all earlier generations.
    #[serde(default, skip_serializing_if = "Cost::is_zero")]
    pub cost: Cost,
}
