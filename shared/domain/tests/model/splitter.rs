//! The splitter: begins, commits a group with its manifest, sends its chunks one by one, and repeats to the end. In a
//! retry it first replans the remaining items of the earlier generations.
//!
//! A refusal is never treated as a lost race: the write may have succeeded while its reply was lost. The splitter reads
//! the job again and continues with the remaining work: send, commit, or report "all done". A group that is already
//! done when it is committed is rolled up by the workers that receive its messages; the splitter's own roll-up is not
//! modelled.
//!
//! A commit is a write followed by a read, and others can write between the two. The same holds if the write's reply is
//! lost and the SDK repeats it under the same request token: for ten minutes the answer is success, and nothing is
//! written. The state that was read counts only if it is the one that was written. The splitter continues from its own
//! position, not from the job's.
//!
//! Remaining items are replanned chunk by chunk into groups of the next generation. Each chunk with remaining items
//! becomes a group of its own with up to two chunks: the range of the items that no worker has processed, and a work
//! file of the others, with a cursor at the beginning of round 1.
//!
//! The walk of a dataset, or of a part of another job, differs in its position only. The item files are not modelled:
//! only the commit of a group names one.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Group, GroupPlan, Manifest, Replanned, SplitStep};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Job, RetryState, Selection, SplitState, Stage, Transition};
use longshore_domain::outcome::Rejection;

use crate::item::{File, Mark};
use crate::pauses;
use crate::protocol::{Flaw, ITEM_BYTES, Protocol, chunk_plan, place, split_offset};
use crate::report::{chain, items_of_round};
use crate::step::{Cut, Message, Replan, Step};
use crate::world::World;

/// A group to commit: its number, and the generation that commits it.
#[derive(Clone, Copy)]
struct NewGroup {
    generation: u32,
    number: u32,
}

/// The remaining items of a chunk: neither succeeded nor skipped.
#[derive(Default)]
struct Remaining {
    /// Items that no worker has processed.
    unread: Vec<u8>,
    /// Items that failed or were deferred.
    entries: Vec<(u8, Mark)>,
}

/// Returns the next step; `None` if the message is acknowledged.
pub(crate) fn next(protocol: &Protocol, world: &mut World, generation: u32, step: &Step) -> Option<Step> {
    match *step {
        Step::Look => {
            world.job.begin(world.job.generation, world.now());
            look(protocol, world, generation)
        }
        Step::Send { chunk, groups, cut, own } => {
            world.send(Message::Chunk(chunk));
            Some(after_send(world, chunk, Step::Advance { groups, cut, own }))
        }
        Step::Advance { groups, cut: Cut::End, .. } => end_split(protocol, world, generation, groups),
        Step::Advance { groups, cut, .. } => {
            commit_group(protocol, world, NewGroup { generation, number: groups }, cut)
        }
        Step::ReadBack { group, ref upto } => {
            read_back(protocol, world, NewGroup { generation, number: group }, upto.clone())
        }
        Step::HandOver { groups } => {
            protocol.send_fifo(world, Message::Create(generation), groups);
            None
        }
        Step::Announce(generation) => {
            protocol.send_fifo(world, Message::Complete(generation), 0);
            None
        }
        Step::Paused { seen } => {
            pauses::reset(protocol, world, Message::Create(generation), seen);
            None
        }
        _ => None,
    }
}

/// Returns the next step of a splitter that knows only the job; `None` for another generation.
fn look(protocol: &Protocol, world: &World, generation: u32) -> Option<Step> {
    let job = &world.job;
    let (groups, cut) = (job.split.groups, next_cut(protocol, world, job));
    match job.stage {
        Stage::Splitting if job.generation != generation => None,
        Stage::Splitting if job.split.sent_groups < groups => {
            Some(Step::Send { chunk: ChunkId::new(job.split.sent_groups, 0), groups, cut, own: false })
        }
        Stage::Splitting => Some(Step::Advance { groups, cut, own: false }),
        _ => (job.is_live() && protocol.all_done(job)).then_some(Step::Announce(job.generation)),
    }
}

/// Returns the next part of a job: remaining items of older generations first, then the rest of the file.
fn next_cut(protocol: &Protocol, world: &World, job: &Job) -> Cut {
    let part = || protocol.part_at(split_offset(&job.split)).filter(|_| !job.retry.carried_over.split_ended);
    let replan = next_to_replan(world, job).map(|chunk| Cut::Replan(Replan { from: job.retry.replanned, chunk }));
    replan.or_else(|| part().map(Cut::Part)).unwrap_or(Cut::End)
}

/// Returns the step after the send of this chunk: the next send, or `advance` after the last one.
fn after_send(world: &World, ChunkId { group, chunk }: ChunkId, advance: Step) -> Step {
    let Step::Advance { groups, cut, own } = advance else { return advance };
    if chunk as usize + 1 < world.manifests[group as usize].len() {
        Step::Send { chunk: ChunkId::new(group, chunk + 1), groups, cut, own }
    } else if group + 1 < groups {
        Step::Send { chunk: ChunkId::new(group + 1, 0), groups, cut, own }
    } else {
        advance
    }
}

fn commit_group(protocol: &Protocol, world: &mut World, group: NewGroup, cut: Cut) -> Option<Step> {
    let group = match protocol.flaw {
        Flaw::AnyGeneration => NewGroup { generation: world.job.generation, ..group },
        Flaw::SplitCursorUnchecked => NewGroup { number: world.job.split.groups, ..group },
        _ => group,
    };
    let now = world.now();
    let (mut plan, items) = match cut {
        Cut::Replan(from) => replan(protocol, world, group, from),
        Cut::Part(part) => plan_of_source(protocol, group, part),
        Cut::End => return None,
    };
    let upto = plan.step.clone();
    if protocol.flaw.ignores_the_position() {
        plan.step = match upto.clone() {
            SplitStep::File { upto, .. } => SplitStep::File { from: world.job.split.offset, upto },
            SplitStep::Walk { upto, .. } => SplitStep::Walk { from: world.job.split.place.clone(), upto },
            SplitStep::Replanned { upto, .. } => SplitStep::Replanned { from: world.job.retry.replanned, upto },
        };
    }
    match world.job.commit_group(&plan, now) {
        Transition::Made(_) => {
            world.groups.push(Group::from_plan(&plan, now));
            world.manifests.push(items);
            Some(Step::ReadBack { group: group.number, upto })
        }
        Transition::Refused => refused(protocol),
    }
}

/// Continues after the splitter's own group, from the position after it.
fn read_back(protocol: &Protocol, world: &World, group: NewGroup, upto: SplitStep) -> Option<Step> {
    let (job, groups) = (&world.job, group.number + 1);
    if (job.generation, job.split.groups) != (group.generation, groups) && !protocol.flaw.accepts_any_answer() {
        return refused(protocol);
    }
    let job = match upto {
        SplitStep::File { upto, .. } => {
            Job { split: SplitState { offset: upto, groups, ..job.split.clone() }, ..job.clone() }
        }
        SplitStep::Walk { upto, .. } => {
            Job { split: SplitState { place: Some(upto), groups, ..job.split.clone() }, ..job.clone() }
        }
        SplitStep::Replanned { upto, .. } => {
            Job { retry: RetryState { replanned: upto, ..job.retry.clone() }, ..job.clone() }
        }
    };
    let cut = next_cut(protocol, world, &job);
    Some(Step::Send { chunk: ChunkId::new(group.number, 0), groups: job.split.groups, cut, own: true })
}

fn plan_of_source(protocol: &Protocol, group: NewGroup, part: usize) -> (GroupPlan, Vec<Vec<u8>>) {
    let items = protocol.part(part);
    let manifest = Manifest { group: group.number, chunks: items.iter().map(|items| chunk_plan(items)).collect() };
    let from = manifest.chunks.first().map_or(0, |c| c.start);
    let upto = manifest.chunks.last().map_or(0, |c| c.end);
    let plan = match place(upto).filter(|_| protocol.walk) {
        Some(upto) => GroupPlan::from_walk(group.generation, manifest, place(from), upto),
        None => GroupPlan::from_file(group.generation, manifest, from..upto),
    };
    (plan, items)
}

fn end_split(protocol: &Protocol, world: &mut World, generation: u32, groups: u32) -> Option<Step> {
    let generation = if protocol.flaw == Flaw::AnyGeneration { world.job.generation } else { generation };
    match world.job.end_split(generation, groups, &[], world.now()) {
        Transition::Made(_) if protocol.flaw == Flaw::CountAfterLastSend => None,
        Transition::Made(job) => protocol.all_done(&job).then_some(Step::Announce(job.generation)),
        Transition::Refused => refused(protocol),
    }
}

fn refused(protocol: &Protocol) -> Option<Step> {
    (protocol.flaw != Flaw::SplitterGivesUp).then_some(Step::Look)
}

/// Returns the next chunk of an older generation whose remaining items are not replanned yet.
fn next_to_replan(world: &World, job: &Job) -> Option<ChunkId> {
    let chunks =
        |group: u32| (0..world.manifests[group as usize].len() as u32).map(move |chunk| ChunkId { group, chunk });
    let mut candidates = (job.retry.replanned.group..job.retry.carried_over.groups)
        .flat_map(chunks)
        .filter(|chunk| *chunk >= job.retry.replanned);
    candidates.find(|chunk| {
        let remaining = remaining(world, *chunk);
        !remaining.unread.is_empty() || !remaining.entries.is_empty()
    })
}

/// Plans the group of a chunk's remaining items. Returns the plan, and the items of each of its chunks. The work file
/// is written before the commit.
fn replan(
    protocol: &Protocol,
    world: &mut World,
    NewGroup { generation, number: group }: NewGroup,
    Replan { from, chunk: source }: Replan,
) -> (GroupPlan, Vec<Vec<u8>>) {
    let Remaining { unread, mut entries } = remaining(world, source);
    if protocol.flaw == Flaw::ReplansAll {
        entries.extend(succeeded(world, source).into_iter().map(|item| (item, Mark::Ok)));
    }
    let is_selected = |item: u8| match &world.job.retry.selection {
        _ if protocol.flaw == Flaw::ReplayRunsAll => true,
        Selection::All | Selection::Corrected(_) => true,
        Selection::Chunks(selected) => selected.contains(&source),
        Selection::Failure(reason) => reason.includes(&Rejection::new(protocol.code(item), None, "")),
    };
    for (item, mark) in &mut entries {
        *mark = if *mark == Mark::Failed && !is_selected(*item) { Mark::Failed } else { Mark::Transient };
    }
    let (mut items, mut replanned) = (Vec::new(), Vec::new());
    items.extend(Some(unread).filter(|unread| !unread.is_empty()));
    let mut chunks: Vec<_> = items.iter().map(|items| chunk_plan(items)).collect();
    if !entries.is_empty() {
        let chunk = chunks.len() as u32;
        items.push(entries.iter().map(|(item, _)| *item).collect());
        let first = u64::from(entries[0].0) + 1;
        chunks.push(ChunkPlan { first, items: entries.len() as u32, start: 0, end: 0, oversize: false, keys: None });
        replanned.push((chunk, write_file(world, ChunkId { group, chunk }, entries)));
    }
    let upto = ChunkId { group: source.group, chunk: source.chunk + 1 };
    let (manifest, replanned) = (Manifest { group, chunks }, replanned.into_iter().collect());
    let step = SplitStep::Replanned { from, upto };
    (GroupPlan { generation, manifest, replanned, step, reading: None, walk_reads: 0 }, items)
}

fn write_file(world: &mut World, chunk: ChunkId, entries: Vec<(u8, Mark)>) -> Replanned {
    let failed = entries.iter().filter(|(_, mark)| *mark == Mark::Failed).count();
    let (finished, bytes) = (failed == entries.len(), entries.len() as u64 * ITEM_BYTES);
    let token = world.free_token();
    world.files.insert(token.clone(), File { chunk, round: 0, prev: None, entries, outputs: vec![] });
    let file = Some(token.clone());
    let cursor = Cursor {
        round: u32::from(!finished),
        position: 0,
        token,
        file,
        deferred: 0,
        due: None,
        finished,
        by_sweeper: false,
    };
    Replanned { cursor, failed: failed as u64, bytes }
}

fn remaining(world: &World, chunk: ChunkId) -> Remaining {
    let own = world.items(chunk);
    let Some(cursor) = world.cursor(chunk) else {
        return Remaining { unread: own.to_vec(), ..Remaining::default() };
    };
    let (chain, mut remaining) = (chain(world, Some(cursor)), Remaining::default());
    let entries_of = |round| chain.iter().filter(move |f| f.round == round).flat_map(|f| f.entries.iter().copied());
    let mut deferred = Vec::new();
    if !cursor.finished {
        let open = items_of_round(&chain, own, cursor.round).into_iter().skip(cursor.position as usize);
        if cursor.round == 0 {
            remaining.unread.extend(open)
        } else {
            deferred.extend(open)
        }
        let transient = entries_of(cursor.round).filter(|(_, mark)| *mark == Mark::Transient);
        deferred.extend(transient.map(|(item, _)| item));
    }
    remaining.entries.extend(deferred.into_iter().map(|item| (item, Mark::Transient)));
    let failed = chain.iter().flat_map(|f| f.entries.iter().copied()).filter(|(_, mark)| *mark == Mark::Failed);
    remaining.entries.extend(failed);
    remaining.entries.sort_unstable();
    remaining
}

/// Returns the items of a finished chunk that are in none of its files: only a flawed retry replans them.
fn succeeded(world: &World, chunk: ChunkId) -> Vec<u8> {
    let cursor = world.cursor(chunk);
    let files = chain(world, cursor.filter(|cursor| cursor.finished));
    let is_in_a_file = |item: &u8| files.iter().flat_map(|f| &f.entries).any(|(entry, _)| entry == item);
    let own = world.items(chunk);
    own.iter().copied().filter(|item| cursor.is_some_and(|c| c.finished) && !is_in_a_file(item)).collect()
}
