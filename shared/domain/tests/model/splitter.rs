//! The splitter: begins, commits a group with its manifest, sends its chunks one by one, and repeats to the end.
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

use longshore_domain::group::{Group, GroupPlan, Manifest, SplitStep};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Job, RetryState, SplitState, Stage, Transition};

use crate::flaw::Flaw;
use crate::protocol::{Protocol, chunk_plan};
use crate::replan::{self, NewGroup};
use crate::step::{Cut, Message, Replan, Step};
use crate::world::World;

/// Returns the next step; `None` if the message is acknowledged.
pub(crate) fn next(protocol: &Protocol, world: &mut World, generation: u32, step: &Step) -> Option<Step> {
    match *step {
        Step::Look => {
            world.job.begin(world.now());
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
        Step::ReadBack { group, upto } => read_back(protocol, world, NewGroup { generation, number: group }, upto),
        Step::HandOver { groups } => {
            protocol.send_fifo(world, Message::Create(generation), groups);
            None
        }
        Step::Announce(generation) => {
            protocol.send_fifo(world, Message::Complete(generation), 0);
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
    let part = || protocol.part_at(job.split.offset).filter(|_| !job.retry.carried_over.split_ended);
    let replan = replan::next(world, job).map(|chunk| Cut::Replan(Replan { from: job.retry.replanned, chunk }));
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
        Cut::Replan(replan) => replan::plan(protocol, world, group, replan),
        Cut::Part(part) => plan_of_file(protocol, group, part),
        Cut::End => return None,
    };
    let upto = plan.step;
    if protocol.flaw.ignores_the_position() {
        plan.step = match upto {
            SplitStep::File { upto, .. } => SplitStep::File { from: world.job.split.offset, upto },
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
        SplitStep::Replanned { upto, .. } => {
            Job { retry: RetryState { replanned: upto, ..job.retry.clone() }, ..job.clone() }
        }
    };
    let cut = next_cut(protocol, world, &job);
    Some(Step::Send { chunk: ChunkId::new(group.number, 0), groups: job.split.groups, cut, own: true })
}

fn plan_of_file(protocol: &Protocol, group: NewGroup, part: usize) -> (GroupPlan, Vec<Vec<u8>>) {
    let items = protocol.part(part);
    let manifest = Manifest { group: group.number, chunks: items.iter().map(|items| chunk_plan(items)).collect() };
    let from = manifest.chunks.first().map_or(0, |c| c.start);
    let upto = manifest.chunks.last().map_or(0, |c| c.end);
    (GroupPlan::from_file(group.generation, manifest, from..upto), items)
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
