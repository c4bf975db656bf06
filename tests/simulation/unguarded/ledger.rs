//! The ledger without conditions.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::{Commit, CommitOutcome, Group, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Transition};
use longshore_domain::ports::{ChunkState, Ledger, PortResult};
use longshore_domain::time_stamp::Timestamp;
use longshore_testing::MemoryStore;

use super::{NONCE, Unguarded, as_is, without};

impl Ledger for Unguarded<MemoryStore> {
    as_is! {
        async fn manifest(&self, id: JobId, group: u32) -> PortResult<Option<Manifest>>;
        async fn chunk_woken(&self, id: JobId, group: u32, now: Timestamp) -> PortResult<()>;
    }

    async fn chunk_state(&self, id: JobId, group: u32) -> PortResult<Option<ChunkState>> {
        let state = self.0.chunk_state(id, group).await?;
        Ok(state.map(|state| ChunkState { job: self.shown(state.job), ..state }))
    }

    async fn progress(&self, id: JobId) -> PortResult<Option<(Vec<Group>, Job)>> {
        Ok(self.0.progress(id).await?.map(|(groups, job)| (groups, self.shown(job))))
    }

    async fn commit(&self, id: JobId, group: u32, commit: &Commit) -> PortResult<CommitOutcome> {
        let mut commit = commit.clone();
        if without("unique-cursors") {
            commit.from.iter_mut().for_each(unnamed);
            unnamed(&mut commit.to);
        }
        let written = self.0.amend(id, |_, groups| {
            let group = groups.get_mut(&group)?;
            if without("unique-cursors") {
                group.cursors.get_mut(&commit.chunk).into_iter().for_each(unnamed);
            }
            let before = group.open;
            if without("cursor-condition") {
                commit.from = group.cursors.get(&commit.chunk).cloned();
            }
            group.open |= without("open-group");
            let outcome = group.commit(&commit);
            group.open = before;
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
        Ok(self.shown_in(self.0.group_done(id, group, now).await?))
    }

    async fn close(&self, id: JobId, group: u32) -> PortResult<Option<Group>> {
        if without("closed-before-status") {
            return Ok(self.0.amend(id, |_, groups| groups.get(&group).cloned()).flatten());
        }
        self.0.close(id, group).await
    }

    async fn count_group_resend(&self, id: JobId, group: u32, seen: u32, now: Timestamp) -> PortResult<bool> {
        let stored = self.0.amend(id, |_, groups| groups.get(&group).map(|group| group.resends)).flatten();
        let seen = stored.filter(|_| without("pushes-counted-once")).unwrap_or(seen);
        self.0.count_group_resend(id, group, seen, now).await
    }
}

/// Removes the attempt from a cursor: only the number of its token remains.
fn unnamed(cursor: &mut Cursor) {
    if cursor.token.len() > NONCE {
        cursor.token.drain(..NONCE);
    }
}
