//! The worker: read the cursor, process a run of items, file what did not succeed, commit, roll up.
//!
//! Reading, processing and filing touch nothing that others can see (a file means nothing until a commit names
//! it), so they are one step. The steps that count are the writes and the sends.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::{Commit, CommitOutcome};
use longshore_domain::job::Transition;
use longshore_domain::outcome::Counts;

use crate::bounds::Flaw;
use crate::protocol::Protocol;
use crate::report::{chain, items_of_round};
use crate::world::{Attempt, File, Mark, Message, Step, World};

/// Group and chunk.
type Chunk = (u32, u32);

/// In how many ways the first run of this message can come out.
pub(crate) fn first_choices(protocol: &Protocol, world: &World, message: Message) -> usize {
    let Message::Chunk(group, chunk) = message else { return 1 };
    let Some(stored) = world.groups.get(group as usize).filter(|_| world.job.is_live()) else { return 1 };
    choices(protocol, world, (group, chunk), stored.cursors.get(&chunk))
}

/// In how many ways a run from this cursor can come out.
pub(crate) fn choices(protocol: &Protocol, world: &World, chunk: Chunk, from: Option<&Cursor>) -> usize {
    let (run, _) = run_from(protocol, world, chunk, from);
    let round = from.map_or(0, |c| c.round);
    run.iter().filter_map(|i| protocol.nature(*i)).map(|n| n.marks(round).len()).product()
}

/// Reads the job and the group. `None` if there is nothing to do.
pub(crate) fn start(protocol: &Protocol, world: &mut World, chunk: Chunk, choice: usize) -> Option<Step> {
    let group = world.groups.get(chunk.0 as usize)?;
    if !world.job.is_live() {
        return None;
    }
    match group.cursors.get(&chunk.1).cloned() {
        Some(cursor) if cursor.finished => {
            (group.is_done() && protocol.flaw != Flaw::RollUpOnce).then_some(Step::RollUp)
        }
        from => Some(process(protocol, world, chunk, from, choice)),
    }
}

/// The step after this one; `None` if the message is acknowledged.
pub(crate) fn next(protocol: &Protocol, world: &mut World, chunk: Chunk, step: &Step, choice: usize) -> Option<Step> {
    match step {
        Step::Commit(attempt) => after_commit(attempt, commit(protocol, world, chunk, attempt)),
        Step::Continue(from) => Some(process(protocol, world, chunk, Some(from.clone()), choice)),
        Step::OpenRound => {
            world.send(Message::Chunk(chunk.0, chunk.1));
            None
        }
        Step::RollUp => roll_up(protocol, world, chunk.0),
        Step::Announce => {
            world.announce();
            None
        }
        _ => None,
    }
}

/// Adds the group to those that are done, unless the job has ended: a late roll-up would change a final document.
fn roll_up(protocol: &Protocol, world: &mut World, group: u32) -> Option<Step> {
    if world.job.status.is_final() {
        if protocol.flaw == Flaw::RollUpAfterEnd {
            world.job.updated_at = world.now();
        }
        return None;
    }
    match world.job.group_done(group, world.now()) {
        Transition::Made(job) => protocol.all_done(&job).then_some(Step::Announce),
        Transition::Refused => None,
    }
}

/// Items of the next run, and whether the round ends with them.
fn run_from(protocol: &Protocol, world: &World, chunk: Chunk, from: Option<&Cursor>) -> (Vec<u8>, bool) {
    let (round, position) = from.map_or((0, 0), |c| (c.round, c.position as usize));
    let items = items_of_round(&chain(world, from), &protocol.items(chunk.0, chunk.1), round);
    let end = position.saturating_add(protocol.checkpoint).min(items.len());
    (items[position.min(end)..end].to_vec(), end == items.len())
}

fn process(protocol: &Protocol, world: &mut World, chunk: Chunk, from: Option<Cursor>, mut choice: usize) -> Step {
    let (run, round_ends) = run_from(protocol, world, chunk, from.as_ref());
    let round = from.as_ref().map_or(0, |c| c.round);
    let mut marks = Vec::new();
    for item in run {
        let allowed = protocol.nature(item).map_or(&[][..], |n| n.marks(round));
        marks.push((item, allowed[choice % allowed.len()]));
        choice /= allowed.len();
    }
    for (item, _) in marks.iter().filter(|(_, mark)| *mark == Mark::Ok) {
        world.record.effects |= 1 << item;
    }
    let counts = count(&marks);
    let passed = marks.len() as u32;
    let file = write_file(protocol, world, chunk, from.as_ref(), marks);
    Step::Commit(Attempt { to: to(from.as_ref(), passed, file, round_ends), from, counts })
}

/// Writes the work file, if there is anything to file. Its token, and how many it files for the next round.
fn write_file(
    protocol: &Protocol,
    world: &mut World,
    chunk: Chunk,
    from: Option<&Cursor>,
    marks: Vec<(u8, Mark)>,
) -> (String, Option<String>, u32) {
    let round = from.map_or(0, |c| c.round);
    let token = match protocol.flaw {
        Flaw::TokensRepeat => format!("{}-{}-{round}-{}", chunk.0, chunk.1, from.map_or(0, |c| c.position)),
        _ => free_token(world),
    };
    let prev = from.and_then(|c| c.file.clone());
    let entries: Vec<_> = marks.into_iter().filter(|(_, mark)| *mark != Mark::Ok).collect();
    if entries.is_empty() {
        return (token, prev, 0);
    }
    let filed = entries.iter().filter(|(_, mark)| *mark == Mark::Transient).count() as u32;
    world.files.insert(token.clone(), File { chunk, round, prev, entries });
    (token.clone(), Some(token), filed)
}

/// The cursor after a run: further in the round, at the start of the next one, or finished.
fn to(from: Option<&Cursor>, passed: u32, file: (String, Option<String>, u32), round_ends: bool) -> Cursor {
    let (round, position, filed) = from.map_or((0, 0, 0), |c| (c.round, c.position, c.filed));
    let (token, file, filed) = (file.0, file.1, filed + file.2);
    let moved = Cursor { round, position: position + passed, token, file, filed, due: None, finished: false };
    match (round_ends, filed) {
        (false, _) => moved,
        (true, 0) => Cursor { position: 0, finished: true, ..moved },
        (true, _) => Cursor { round: round + 1, position: 0, filed: 0, ..moved },
    }
}

/// The domain's commit, or a broken one.
fn commit(protocol: &Protocol, world: &mut World, chunk: Chunk, attempt: &Attempt) -> CommitOutcome {
    let commit = Commit {
        chunk: chunk.1,
        from: attempt.from.clone(),
        to: attempt.to.clone(),
        counts: attempt.counts,
        at: world.now(),
    };
    let group = &mut world.groups[chunk.0 as usize];
    match protocol.flaw {
        Flaw::PlainAdd => {
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
        _ => group.commit(&commit),
    }
}

fn after_commit(attempt: &Attempt, outcome: CommitOutcome) -> Option<Step> {
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

fn count(marks: &[(u8, Mark)]) -> Counts {
    let of = |wanted| marks.iter().filter(|(_, mark)| *mark == wanted).count() as u64;
    Counts { succeeded: of(Mark::Ok), failed: of(Mark::Failed), skipped: of(Mark::Skipped) }
}

/// A token that nothing names any more: as good as one that was never used, and fewer states.
fn free_token(world: &World) -> String {
    let used = |token: &str| {
        world.files.contains_key(token) || world.cursors().any(|c| c.token == token || c.file.as_deref() == Some(token))
    };
    ('a'..='z').map(String::from).find(|token| !used(token)).unwrap_or_default()
}
