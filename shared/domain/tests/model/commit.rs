//! The commit: the domain's own or a flawed one, and the worker's next step after its outcome.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::{Commit, CommitOutcome, Group};
use longshore_domain::ids::ChunkId;

use crate::protocol::{Flaw, Protocol};
use crate::step::{Attempt, Step};
use crate::world::World;

/// Commits the processed items. Returns the next step; `None` if the message is acknowledged.
pub(crate) fn commit(protocol: &Protocol, world: &mut World, chunk: ChunkId, attempt: &Attempt) -> Option<Step> {
    let (from, to) = (attempt.from.clone(), attempt.to.clone());
    let commit =
        Commit { chunk: chunk.chunk, from, to, counts: attempt.counts, usage: Default::default(), at: world.now() };
    let group = &mut world.groups[chunk.group as usize];
    let outcome = outcome(protocol.flaw, group, commit);
    if matches!(outcome, CommitOutcome::Committed(_)) {
        world.record.outputs.extend(attempt.outputs.iter().cloned());
    }
    next_step(attempt, outcome)
}

fn outcome(flaw: Flaw, group: &mut Group, commit: Commit) -> CommitOutcome {
    let current = group.cursors.get(&commit.chunk).cloned();
    match flaw {
        Flaw::CursorUnchecked if !group.open => CommitOutcome::Closed,
        Flaw::UnconditionalAdd | Flaw::CursorUnchecked => {
            group.counts += commit.counts;
            group.cursors.insert(commit.chunk, commit.to);
            CommitOutcome::Committed(Box::new(group.clone()))
        }
        Flaw::CommitsAfterClose => {
            let open = std::mem::replace(&mut group.open, true);
            let outcome = group.commit(&commit);
            group.open = open;
            outcome
        }
        Flaw::CursorsRepeat if value(current.as_ref()) == value(commit.from.as_ref()) => {
            group.commit(&Commit { from: current, ..commit })
        }
        Flaw::CursorsRepeat if value(current.as_ref()) == value(Some(&commit.to)) => {
            CommitOutcome::Committed(Box::new(group.clone()))
        }
        _ => group.commit(&commit),
    }
}

/// Returns the part of a cursor that does not name its attempt.
fn value(cursor: Option<&Cursor>) -> Option<(u32, u32, bool)> {
    cursor.map(|c| (c.round, c.position, c.finished))
}

fn next_step(attempt: &Attempt, outcome: CommitOutcome) -> Option<Step> {
    match outcome {
        CommitOutcome::Committed(group) if attempt.to.finished => group.is_done().then_some(Step::RollUp),
        CommitOutcome::Committed(_) if attempt.to.round > attempt.from.as_ref().map_or(0, |c| c.round) => {
            Some(Step::OpenRound)
        }
        CommitOutcome::Committed(_) => Some(Step::Continue(attempt.to.clone())),
        CommitOutcome::Lost => Some(Step::Lost),
        CommitOutcome::Closed | CommitOutcome::Absent => None,
    }
}
