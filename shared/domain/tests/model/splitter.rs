//! The splitter: begins, commits a group with its manifest, sends its chunks one by one, and repeats to the end.
//!
//! A refusal is never treated as a lost race: the write may have succeeded and its reply been lost. The splitter reads
//! the job again and continues with the remaining work: send, commit, or report "all done". A group that is already
//! done when it is committed is rolled up by the workers that receive its messages; the splitter's own roll-up is not
//! modelled.
//!
//! A commit is a write and then a read, and others may write between the two. The same holds if the write's reply is
//! lost and the client repeats it under the same request token: for ten minutes the answer is success, and nothing is
//! written. The read state counts only if it is the written one; the splitter continues from its own position, not from
//! the job's.

use longshore_domain::group::{Group, GroupPlan, Manifest, Source};
use longshore_domain::job::{Job, RetryState, SplitState, Stage, Transition};

use crate::flaw::Flaw;
use crate::protocol::{Protocol, chunk_plan};
use crate::replan;
use crate::step::{Cut, Message, Step};
use crate::world::World;

/// Returns the next step; `None` if the message is acknowledged.
pub(crate) fn next(protocol: &Protocol, world: &mut World, generation: u32, step: &Step) -> Option<Step> {
    match *step {
        Step::Look => {
            world.job.begin(world.now());
            look(protocol, world, generation)
        }
        Step::Send { group, chunk, groups, cut, own } => {
            world.send(Message::Chunk(group, chunk));
            Some(after_send(world, (group, chunk), Step::Advance { groups, cut, own }))
        }
        Step::Advance { groups, cut: Cut::End, .. } => end_split(protocol, world, generation, groups),
        Step::Advance { groups, cut, .. } => commit_group(protocol, world, generation, (groups, cut)),
        Step::ReadBack { group, upto } => read_back(protocol, world, generation, (group, upto)),
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
            Some(Step::Send { group: job.split.sent_groups, chunk: 0, groups, cut, own: false })
        }
        Stage::Splitting => Some(Step::Advance { groups, cut, own: false }),
        _ => (job.is_live() && protocol.all_done(job)).then_some(Step::Announce(job.generation)),
    }
}

/// Returns the next part of a job: remaining items of older generations first, then the rest of the file.
fn next_cut(protocol: &Protocol, world: &World, job: &Job) -> Cut {
    let part = || protocol.part_at(job.split.offset).filter(|_| !job.retry.carried_over.split_ended);
    let rest = replan::next(world, job).map(|chunk| Cut::Replan { from: job.retry.replanned, chunk });
    rest.or_else(|| part().map(Cut::Part)).unwrap_or(Cut::End)
}

fn after_send(world: &World, (group, chunk): (u32, u32), then: Step) -> Step {
    let Step::Advance { groups, cut, own } = then else { return then };
    if chunk as usize + 1 < world.manifests[group as usize].len() {
        Step::Send { group, chunk: chunk + 1, groups, cut, own }
    } else if group + 1 < groups {
        Step::Send { group: group + 1, chunk: 0, groups, cut, own }
    } else {
        then
    }
}

fn commit_group(protocol: &Protocol, world: &mut World, generation: u32, (groups, cut): (u32, Cut)) -> Option<Step> {
    let (generation, number) = match protocol.flaw {
        Flaw::AnyGeneration => (world.job.generation, groups),
        Flaw::SplitCursorNotAsked => (generation, world.job.split.groups),
        _ => (generation, groups),
    };
    let now = world.now();
    let (mut plan, items) = match cut {
        Cut::Replan { from, chunk } => replan::plan(protocol, world, (generation, number), (from, chunk)),
        Cut::Part(part) => plan_of_file(protocol, (generation, number), part),
        Cut::End => return None,
    };
    let upto = plan.source;
    if protocol.flaw.asks_for_no_place() {
        plan.source = match upto {
            Source::File { upto, .. } => Source::File { from: world.job.split.offset, upto },
            Source::Replanned { upto, .. } => Source::Replanned { from: world.job.retry.replanned, upto },
        };
    }
    match world.job.commit_group(&plan, now) {
        Transition::Made(_) => {
            world.groups.push(Group::planned(&plan, now));
            world.manifests.push(items);
            Some(Step::ReadBack { group: number, upto })
        }
        Transition::Refused => refused(protocol),
    }
}

/// Continues after the splitter's own group: from its own position, under the number that the job gives.
fn read_back(protocol: &Protocol, world: &World, generation: u32, (group, upto): (u32, Source)) -> Option<Step> {
    let job = &world.job;
    if (job.generation, job.split.groups) != (generation, group + 1) && !protocol.flaw.takes_any_answer() {
        return refused(protocol);
    }
    let place = match upto {
        Source::File { upto, .. } => {
            Job { split: SplitState { offset: upto, groups: group + 1, ..job.split.clone() }, ..job.clone() }
        }
        Source::Replanned { upto, .. } => {
            Job { retry: RetryState { replanned: upto, ..job.retry.clone() }, ..job.clone() }
        }
    };
    let cut = next_cut(protocol, world, &place);
    Some(Step::Send { group, chunk: 0, groups: place.split.groups, cut, own: true })
}

fn plan_of_file(protocol: &Protocol, (generation, group): (u32, u32), part: usize) -> (GroupPlan, Vec<Vec<u8>>) {
    let items = protocol.part(part);
    let manifest = Manifest { group, chunks: items.iter().map(|items| chunk_plan(items)).collect() };
    let from = manifest.chunks.first().map_or(0, |c| c.start);
    let upto = manifest.chunks.last().map_or(0, |c| c.end);
    (GroupPlan::of_file(generation, manifest, from..upto), items)
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
