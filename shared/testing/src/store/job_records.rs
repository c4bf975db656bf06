//! Records of one job, and the commit of a group.

use std::collections::BTreeMap;

use longshore::store::dynamo::items;
use longshore::store::own_write::{self, CommittedGroup};
use longshore_domain::group::{Group, GroupPlan};
use longshore_domain::job::{Job, Transition};
use longshore_domain::ports::{Definition, PortResult};
use longshore_domain::timestamp::Timestamp;

/// The first half of a group's commit.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct GroupWrite {
    /// Time of the write.
    pub at: Timestamp,
    /// True if the write was applied.
    pub applied: bool,
}

/// All records of one job.
#[derive(Debug)]
pub(super) struct JobRecords {
    pub(super) job: Job,
    /// `None` if it has expired.
    pub(super) definition: Option<Definition>,
    pub(super) groups: BTreeMap<u32, Group>,
    pub(super) manifests: BTreeMap<u32, CommittedGroup>,
}

impl JobRecords {
    /// Writes group, manifest and split cursor; returns true if the write was applied.
    pub(super) fn write_group(&mut self, plan: &GroupPlan, now: Timestamp) -> PortResult<bool> {
        let mut job = self.job.clone();
        if job.commit_group(plan, now) == Transition::Refused {
            return Ok(false);
        }
        let (number, group) = (plan.manifest.group, Group::from_plan(plan, now));
        let committed = CommittedGroup { manifest: plan.manifest.clone(), at: now };
        items::check_group(&job, &group, &committed)?;
        self.job = job;
        self.groups.insert(number, group);
        self.manifests.insert(number, committed);
        Ok(true)
    }

    /// Returns the job after a write that was applied or not, as [`JobTransitions::commit_group`] returns it.
    ///
    /// [`JobTransitions::commit_group`]: longshore_domain::ports::JobTransitions::commit_group
    pub(super) fn written_group(&self, plan: &GroupPlan, write: GroupWrite) -> Transition {
        let own = CommittedGroup { manifest: plan.manifest.clone(), at: write.at };
        let stored = if write.applied { Some(&own) } else { self.manifests.get(&plan.manifest.group) };
        let ours = own_write::committed(&self.job, plan.generation, stored, &own);
        if ours { Transition::Made(Box::new(self.job.clone())) } else { Transition::Refused }
    }
}
