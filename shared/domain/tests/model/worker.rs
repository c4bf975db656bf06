//! The worker: reads the cursor, processes a run of items, writes those that did not succeed to a work file, commits,
//! and rolls up its group.
//!
//! Reading, processing and writing the file have no visible effect, because a file counts only once a commit names it.
//! So they are one step with the next commit.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::Group;
use longshore_domain::ids::ChunkId;
use longshore_domain::job::Transition;
use longshore_domain::outcome::Counts;

use crate::commit::commit;
use crate::item::{File, Mark, Output};
use crate::pauses;
use crate::protocol::{Flaw, Protocol};
use crate::report::{chain, items_of_round};
use crate::step::{Attempt, Message, Mode, Step};
use crate::world::World;

/// The items of a run.
struct ItemRun {
    items: Vec<u8>,
    /// True if the round ends with this run.
    ends_round: bool,
}

/// A cursor's token, its newest work file, and the number of items that the run has deferred.
struct Written {
    token: String,
    file: Option<String>,
    deferred: u32,
}

/// Returns the number of possible outcomes of the first run of this message.
pub(crate) fn first_choices(protocol: &Protocol, world: &World, message: Message) -> usize {
    let Message::Chunk(chunk) = message else { return 1 };
    let Some(group) = workable(world, chunk.group) else { return 1 };
    choices(protocol, world, chunk, group.cursors.get(&chunk.chunk))
}

/// Returns the number of possible outcomes of a run from this cursor.
pub(crate) fn choices(protocol: &Protocol, world: &World, chunk: ChunkId, from: Option<&Cursor>) -> usize {
    let run = run_from(protocol, world, chunk, from);
    let round = from.map_or(0, |c| c.round);
    run.items.iter().filter_map(|i| protocol.nature(*i)).map(|n| n.marks(round).len()).product()
}

/// Reads the job and the group. Returns `None` if there is no work.
pub(crate) fn start(protocol: &Protocol, world: &mut World, chunk: ChunkId, mode: Mode) -> Option<Step> {
    let group = workable(world, chunk.group)?;
    match group.cursors.get(&chunk.chunk).cloned() {
        Some(cursor) if cursor.finished => {
            (group.is_done() && protocol.flaw != Flaw::WorkerAlone).then_some(Step::RollUp)
        }
        from => Some(process(protocol, world, chunk, from, mode)),
    }
}

/// Returns the group if the job is live, and the group is open and belongs to the current generation.
pub(crate) fn workable(world: &World, group: u32) -> Option<&Group> {
    let live = world.job.is_live() && world.job.owns(group);
    world.groups.get(group as usize).filter(|group| live && group.open)
}

/// Returns the next step; `None` if the message is acknowledged.
pub(crate) fn next(protocol: &Protocol, world: &mut World, chunk: ChunkId, step: &Step, mode: Mode) -> Option<Step> {
    match step {
        Step::Commit(attempt) => {
            let next = commit(protocol, world, chunk, attempt)?;
            // A sweeper that gives up a chunk begins the next round at once.
            Some(if next == Step::OpenRound && mode == Mode::GiveUp {
                Step::Continue(attempt.to.clone())
            } else {
                next
            })
        }
        Step::Continue(from) => Some(process(protocol, world, chunk, Some(from.clone()), mode)),
        Step::OpenRound | Step::HandOver { .. } => {
            world.send(Message::Chunk(chunk));
            None
        }
        Step::RollUp => roll_up(protocol, world, chunk.group),
        Step::Announce(generation) => {
            protocol.send_fifo(world, Message::Complete(*generation), 0);
            None
        }
        Step::Paused { seen } => {
            pauses::reset(protocol, world, Message::Chunk(chunk), *seen);
            None
        }
        _ => None,
    }
}

/// Adds the group to the done groups, unless the job has ended: a late roll-up would change a final document.
fn roll_up(protocol: &Protocol, world: &mut World, group: u32) -> Option<Step> {
    if world.job.status.is_final() && protocol.flaw == Flaw::RollUpAfterEnd {
        world.job.times.updated_at = world.now();
    }
    match world.job.group_done(group, world.now()) {
        Transition::Made(job) => protocol.all_done(&job).then_some(Step::Announce(job.generation)),
        Transition::Refused => None,
    }
}

/// Returns the next run from this cursor.
fn run_from(protocol: &Protocol, world: &World, chunk: ChunkId, from: Option<&Cursor>) -> ItemRun {
    let (round, position) = from.map_or((0, 0), |c| (c.round, c.position as usize));
    let items = items_of_round(&chain(world, from), world.items(chunk), round);
    let end = position.saturating_add(protocol.checkpoint).min(items.len());
    ItemRun { items: items[position.min(end)..end].to_vec(), ends_round: end == items.len() }
}

fn process(protocol: &Protocol, world: &mut World, chunk: ChunkId, from: Option<Cursor>, mode: Mode) -> Step {
    let run = run_from(protocol, world, chunk, from.as_ref());
    let marks = marks(protocol, &run.items, from.as_ref().map_or(0, |c| c.round), mode);
    for (item, _) in marks.iter().filter(|(_, mark)| *mark == Mark::Ok) {
        world.record.effects |= 1 << item;
    }
    let counts = count(&marks);
    let token = world.free_token();
    let succeeded = marks.iter().filter(|(_, mark)| protocol.outputs && *mark == Mark::Ok);
    let outputs: Vec<Output> = succeeded.map(|(item, _)| (*item, token.clone())).collect();
    let written = write_file(protocol, world, chunk, from.as_ref(), token, marks, outputs.clone());
    Step::Commit(Attempt { to: next_cursor(from.as_ref(), &run, written), from, counts, outputs })
}

fn marks(protocol: &Protocol, items: &[u8], round: u32, mode: Mode) -> Vec<(u8, Mark)> {
    let Mode::Work { mut choice } = mode else { return items.iter().map(|item| (*item, Mark::Failed)).collect() };
    let mut marks = Vec::new();
    for item in items.iter().copied() {
        let allowed = protocol.nature(item).map_or(&[][..], |n| n.marks(round));
        marks.push((item, allowed[choice % allowed.len()]));
        choice /= allowed.len();
    }
    marks
}

/// Writes the work file, if it has entries or outputs.
fn write_file(
    protocol: &Protocol,
    world: &mut World,
    chunk: ChunkId,
    from: Option<&Cursor>,
    token: String,
    marks: Vec<(u8, Mark)>,
    outputs: Vec<Output>,
) -> Written {
    let round = from.map_or(0, |c| c.round);
    let prev = from.and_then(|c| c.file.clone());
    let entries: Vec<_> = marks.into_iter().filter(|(_, mark)| *mark != Mark::Ok).collect();
    if entries.is_empty() && (outputs.is_empty() || protocol.flaw == Flaw::OutputsNeedEntries) {
        return Written { token, file: prev, deferred: 0 };
    }
    let name = match protocol.flaw {
        Flaw::FilesShareNames => {
            format!("{}-{}-{round}-{}", chunk.group, chunk.chunk, from.map_or(0, |c| c.position))
        }
        _ => token.clone(),
    };
    let deferred = entries.iter().filter(|(_, mark)| *mark == Mark::Transient).count() as u32;
    world.files.insert(name.clone(), File { chunk, round, prev, entries, outputs });
    Written { token, file: Some(name), deferred }
}

/// Returns the cursor after a run: further in the round, at the start of the next one, or finished.
fn next_cursor(from: Option<&Cursor>, run: &ItemRun, written: Written) -> Cursor {
    let (round, position, deferred) = from.map_or((0, 0, 0), |c| (c.round, c.position, c.deferred));
    let deferred = deferred + written.deferred;
    let moved = Cursor {
        round,
        position: position + run.items.len() as u32,
        token: written.token,
        file: written.file,
        deferred,
        due: None,
        finished: false,
        by_sweeper: false,
    };
    match (run.ends_round, deferred) {
        (false, _) => moved,
        (true, 0) => Cursor { position: 0, finished: true, ..moved },
        (true, _) => Cursor { round: round + 1, position: 0, deferred: 0, ..moved },
    }
}

fn count(marks: &[(u8, Mark)]) -> Counts {
    let number = |mark| marks.iter().filter(|(_, other)| *other == mark).count() as u64;
    Counts { succeeded: number(Mark::Ok), failed: number(Mark::Failed), skipped: number(Mark::Skipped) }
}
