//! The queues of splits and of chunks, and the functions that process their messages.

use std::collections::VecDeque;

use create_job::TURN_S as SPLIT_TURN_S;
use longshore::chunk::TURN_S as CHUNK_TURN_S;

use super::deployment::{Guard, SPLITTERS, WORKERS, World};

impl World {
    pub(super) fn group(&self, job: usize) -> String {
        let create = &self.jobs[job].create;
        if self.has(Guard::Lanes) { create.group_id() } else { create.job_id.to_string() }
    }

    pub(super) fn send(&mut self, job: usize) {
        self.sent += 1;
        let (group, sent) = (self.group(job), self.sent);
        let queue = self.groups.entry(group.clone()).or_default();
        queue.push_back((sent, job));
        self.queued.insert(sent);
        let in_flight = self.splitting.iter().any(|(_, other, _)| self.group(*other) == group);
        if self.groups[&group].len() == 1 && !in_flight {
            self.heads.insert((sent, group));
        }
    }

    pub(super) fn split(&mut self) {
        let (over, on): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.splitting).into_iter().partition(|(until, ..)| *until <= self.now);
        self.splitting = on;
        for (_, job, took) in over {
            self.end_turn(job, took);
        }
        while self.splitting.len() < SPLITTERS {
            let beyond =
                (self.queued.len() > self.scale.look_ahead).then(|| self.queued.iter().nth(self.scale.look_ahead));
            let seen = beyond.flatten().copied().unwrap_or(u64::MAX);
            let Some((sent, group)) = self.heads.first().filter(|(sent, _)| *sent < seen).cloned() else { return };
            self.heads.remove(&(sent, group.clone()));
            self.queued.remove(&sent);
            let Some((_, job)) = self.groups.get_mut(&group).and_then(VecDeque::pop_front) else { continue };
            self.begins(job, 0);
            let left = self.jobs[job].left(self.jobs[job].split_left);
            let turn = if self.has(Guard::SplitTurns) { left.min(SPLIT_TURN_S * 1_000) } else { left };
            self.splitting.push((self.now + turn, job, turn));
        }
    }

    /// Sends the chunks of a turn, and a continuation. Then the message is deleted, and the next one of its group can
    /// be delivered.
    pub(super) fn end_turn(&mut self, job: usize, took: i64) {
        let state = &mut self.jobs[job];
        if state.is_deleted {
            (state.chunks_left, state.split_left) = (0, took);
        }
        let sent = (state.chunks_left as i64 * took / state.split_left.max(1)) as u64;
        state.split_left -= took;
        state.chunks_left -= sent;
        let (tenant, chunk_ms, left) = (state.tenant, state.chunk_ms, state.split_left);
        for _ in 0..sent {
            self.sent += 1;
            self.chunks.entry(tenant).or_default().push_back((self.sent, job, chunk_ms));
        }
        self.depth += sent;
        let group = self.group(job);
        if left > 0 {
            self.sent += 1;
            self.groups.entry(group.clone()).or_default().push_back((self.sent, job));
            self.queued.insert(self.sent);
        }
        match self.groups.get(&group).and_then(VecDeque::front) {
            Some((sent, _)) => {
                self.heads.insert((*sent, group));
            }
            None => {
                self.groups.remove(&group);
            }
        }
    }

    pub(super) fn work(&mut self) {
        let (over, on): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.working).into_iter().partition(|(until, ..)| *until <= self.now);
        self.working = on;
        for (_, job, left) in over {
            self.end_delivery(job, left);
        }
        while self.working.len() < WORKERS {
            let Some(tenant) = self.next_tenant() else { return };
            let Some((_, job, left)) = self.chunks.get_mut(&tenant).and_then(VecDeque::pop_front) else { return };
            let left = self.jobs[job].left(left);
            let turn = if self.has(Guard::ChunkTurns) { left.min(CHUNK_TURN_S * 1_000) } else { left };
            self.in_flight[tenant] += 1;
            self.working.push((self.now + turn, job, left - turn));
            self.begins(job, 1);
        }
    }

    pub(super) fn end_delivery(&mut self, job: usize, left: i64) {
        let tenant = self.jobs[job].tenant;
        self.in_flight[tenant] -= 1;
        if left > 0 {
            self.sent += 1;
            self.chunks.entry(tenant).or_default().push_back((self.sent, job, left));
            return;
        }
        self.depth -= 1;
        let state = &mut self.jobs[job];
        state.open -= 1;
        // A deleted job counts until the sweeper has removed it.
        if state.open == 0 && !state.is_deleted {
            self.active[tenant] -= 1;
            self.abuser.live.retain(|live| *live != job);
        }
    }

    /// The tenant whose oldest message is delivered next. Noisy neighbors are last.
    pub(super) fn next_tenant(&self) -> Option<usize> {
        let total = self.working.len();
        let is_noisy = |tenant: usize| self.in_flight[tenant] * 10 > total;
        let heads =
            self.chunks.iter().filter_map(|(tenant, queue)| Some((is_noisy(*tenant), queue.front()?.0, *tenant)));
        heads.min().map(|(_, _, tenant)| tenant)
    }
}
