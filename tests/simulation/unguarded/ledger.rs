//! The ledger with one of its conditions removed.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::{Commit, CommitOutcome, Group, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::job::Transition;
use longshore_domain::ports::{ChunkState, JobProgress, Ledger, PortResult, ResendCount};
use longshore_domain::timestamp::Timestamp;
use longshore_testing::MemoryStore;

use super::{NONCE, Unguarded, as_is, without};
use crate::pauses;

impl Ledger for Unguarded<MemoryStore> {
    as_is! {
        async fn manifest(&self, id: JobId, group: u32) -> PortResult<Option<Manifest>>;
        async fn chunk_woken(&self, id: JobId, group: u32, now: Timestamp) -> PortResult<()>;
        async fn reset_group_resends(&self, id: JobId, group: u32) -> PortResult<()>;
    }

    async fn chunk_state(&self, id: JobId, group: u32) -> PortResult<Option<ChunkState>> {
        let state = self.0.chunk_state(id, group).await?;
        Ok(state.map(|state| ChunkState { job: self.as_read(state.job), ..state }))
    }

    async fn progress(&self, id: JobId) -> PortResult<Option<JobProgress>> {
        Ok(self.0.progress(id).await?.map(|JobProgress { groups, job }| JobProgress { groups, job: self.as_read(job) }))
    }

    async fn commit(&self, id: JobId, group: u32, commit: &Commit) -> PortResult<CommitOutcome> {
        let mut commit = commit.clone();
        if without("unique-cursors") {
            commit.from.iter_mut().for_each(remove_attempt);
            remove_attempt(&mut commit.to);
        }
        let written = self.0.amend(id, |_, groups| {
            let group = groups.get_mut(&group)?;
            if without("unique-cursors") {
                group.cursors.get_mut(&commit.chunk).into_iter().for_each(remove_attempt);
            }
            let was_open = group.open;
            if without("cursor-condition") {
                commit.from = group.cursors.get(&commit.chunk).cloned();
            }
            group.open |= without("open-group");
            let outcome = group.commit(&commit);
            group.open = was_open;
            Some(outcome)
        });
        Ok(written.flatten().unwrap_or(CommitOutcome::Absent))
    }

    async fn group_done(&self, id: JobId, group: u32, now: Timestamp) -> PortResult<Transition> {
        if without("no-roll-up-after-the-end") {
            return Ok(self.force(id, |job| {
                job.split.done_groups.insert(group);
                job.times.updated_at = now;
            }));
        }
        Ok(self.transition_as_read(self.0.group_done(id, group, now).await?))
    }

    async fn close(&self, id: JobId, group: u32) -> PortResult<Option<Group>> {
        if without("closed-before-status") {
            return Ok(self.0.amend(id, |_, groups| groups.get(&group).cloned()).flatten());
        }
        self.0.close(id, group).await
    }

    async fn count_group_resend(
        &self,
        id: JobId,
        group: u32,
        expected_resends: u32,
        now: Timestamp,
    ) -> PortResult<ResendCount> {
        if let Some(job) = self.stored(id) {
            // The chunks have been sent before.
            pauses::check_push(&job.job_type, &job.tenant);
        }
        let stored = self.0.amend(id, |_, groups| groups.get(&group).map(|group| group.resends)).flatten();
        let expected = stored.filter(|_| without("pushes-counted-once")).unwrap_or(expected_resends);
        self.0.count_group_resend(id, group, expected, now).await
    }
}

/// Removes the attempt from a cursor's token, so that only its number remains.
fn remove_attempt(cursor: &mut Cursor) {
    if cursor.token.len() > NONCE {
        cursor.token.drain(..NONCE);
    }
}
