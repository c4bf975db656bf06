//! The splitter: begin, commit a group with its manifest, send its chunks one by one, and so on to the end.
//!
//! A refusal is never taken for a lost race: the write may have taken and its reply been lost. It reads the job
//! again and goes on from there, whatever is left to do: send, commit, or say that all is done.

use longshore_domain::group::{Group, GroupPlan};
use longshore_domain::job::{Job, Stage, Transition};

use crate::bounds::Flaw;
use crate::protocol::Protocol;
use crate::world::{Message, Step, World};

/// The step after this one; `None` if the message is acknowledged.
pub(crate) fn next(protocol: &Protocol, world: &mut World, step: &Step) -> Option<Step> {
    match *step {
        Step::Look => {
            world.job.begin(world.now());
            look(protocol, &world.job)
        }
        Step::Send { group, chunk, groups } => {
            world.send(Message::Chunk(group, chunk));
            Some(after_send(protocol, group, chunk, groups))
        }
        Step::Advance { groups } if groups as usize == protocol.file.len() => end_split(protocol, world, groups),
        Step::Advance { groups } => commit_group(protocol, world, groups),
        Step::Announce => {
            world.announce();
            None
        }
        _ => None,
    }
}

/// Where a splitter goes on that knows nothing but the job.
fn look(protocol: &Protocol, job: &Job) -> Option<Step> {
    match job.stage {
        Stage::Splitting if job.sent_groups < job.groups => {
            Some(Step::Send { group: job.sent_groups, chunk: 0, groups: job.groups })
        }
        Stage::Splitting => Some(Step::Advance { groups: job.groups }),
        _ => (job.is_live() && protocol.all_done(job)).then_some(Step::Announce),
    }
}

fn after_send(protocol: &Protocol, group: u32, chunk: u32, groups: u32) -> Step {
    if chunk as usize + 1 < protocol.file[group as usize].len() {
        Step::Send { group, chunk: chunk + 1, groups }
    } else if group + 1 < groups {
        Step::Send { group: group + 1, chunk: 0, groups }
    } else {
        Step::Advance { groups }
    }
}

fn commit_group(protocol: &Protocol, world: &mut World, number: u32) -> Option<Step> {
    let (manifest, now) = (protocol.manifest(number), world.now());
    let upto = manifest.chunks.last().map_or(0, |c| c.end);
    let plan = GroupPlan::of_file(0, manifest, upto);
    match world.job.commit_group(&plan, now) {
        Transition::Made(job) => {
            world.groups.push(Group::planned(&plan, now));
            Some(Step::Send { group: number, chunk: 0, groups: job.groups })
        }
        Transition::Refused => refused(protocol),
    }
}

fn end_split(protocol: &Protocol, world: &mut World, groups: u32) -> Option<Step> {
    match world.job.end_split(0, groups, &[], world.now()) {
        Transition::Made(job) => protocol.all_done(&job).then_some(Step::Announce),
        Transition::Refused => refused(protocol),
    }
}

fn refused(protocol: &Protocol) -> Option<Step> {
    (protocol.flaw != Flaw::SplitterGivesUp).then_some(Step::Look)
}
