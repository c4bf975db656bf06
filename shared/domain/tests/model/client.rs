//! Requests of the client and of operators: creating, reading, canceling and retrying the job, and replays.
//!
//! A retry opens the next generation over the remaining items. A dead letter that is replayed while the job runs is
//! sent again; after the end its replay opens a generation in which the failed items of its chunk run, and all others
//! stay failed.

use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, Reopen, SourceFile, Status, Stop, Transition};
use longshore_domain::progress::{Progress, counts};
use longshore_domain::records::Format;
use longshore_domain::tenant::DEFAULT_TENANT;
use longshore_domain::time_stamp::Timestamp;

use crate::completion::build;
use crate::flaw::Flaw;
use crate::item::ItemEnd;
use crate::protocol::Protocol;
use crate::record::Answer;
use crate::step::{Message, View};
use crate::world::World;

/// Creates a job that was accepted and whose create message is sent.
pub(crate) fn job(size_bytes: u64) -> Job {
    let (key, etag, name) = Default::default();
    Job {
        source: Some(SourceFile { key, size_bytes, etag, format: Format::Csv, name }),
        ..Job::waiting(JobId(Default::default()), DEFAULT_TENANT.clone(), "", Timestamp(0))
    }
}

/// Returns true if the client may cancel the job.
pub(crate) fn may_stop(world: &World) -> bool {
    world.left.stops > 0 && world.job.is_live()
}

/// Cancels the job. `sent` if the API then lived to send the complete message.
pub(crate) fn stop(protocol: &Protocol, world: &mut World, sent: bool) {
    world.left.stops -= 1;
    let generation = world.job.generation;
    world.job.stop(generation, &Stop { status: Status::Canceled, error: None, at: world.now() });
    if sent {
        protocol.send_fifo(world, Message::Complete(generation), 0);
    } else {
        world.left.losses -= 1;
        world.record.losses += 1;
    }
}

/// The second half of a status call: reads the job after its groups, and answers.
///
/// Found by this model: the job can end between the two reads, and then its totals belong to groups that were not read.
/// So the groups are read again if they differ from the totals, and the item count is the job's own.
pub(crate) fn answer(protocol: &Protocol, world: &mut World) {
    world.left.reads -= 1;
    let mut groups = world.reading.take().unwrap_or_default();
    let careful = protocol.flaw != Flaw::StaleAnswer;
    if careful && world.job.completion.totals.is_some_and(|totals| totals != counts(&world.job, &groups)) {
        groups.clone_from(&world.groups);
    }
    let progress = Progress::new(&world.job, &groups, Timestamp(1));
    let listed = groups.iter().map(|group| group.items).sum();
    let item_count = if careful || world.job.split.ended { world.job.split.item_count } else { listed };
    let (counts, percent, ended) = (progress.counts, progress.percent, world.job.status.is_final());
    let answer = Answer { generation: world.job.generation, counts, item_count, percent, ended };
    world.record.answers = (world.record.answers.1, answer);
}

/// Returns true if the client may retry the job.
pub(crate) fn may_retry(world: &World) -> bool {
    world.left.retries > 0 && world.job.has_remaining()
}

/// Returns true if the replay of this dead letter would have an effect: the job runs, or items of its chunk have
/// failed.
pub(crate) fn may_replay(world: &World, dead_letter: Message) -> bool {
    let repairs = match dead_letter {
        Message::Chunk(group, chunk) => world.job.owns(group) && has_failed(world, (group, chunk)),
        Message::Create(generation) => generation == world.job.generation,
        Message::Complete(_) => false,
    };
    world.left.replays > 0 && (!world.job.status.is_final() || (repairs && world.job.has_remaining()))
}

/// Opens the next generation. `sent` if the API then lived to send its message.
pub(crate) fn retry(protocol: &Protocol, world: &mut World, sent: bool) {
    world.left.retries -= 1;
    if !sent {
        world.left.losses -= 1;
        world.record.losses += 1;
    }
    reopen(protocol, world, None, sent);
}

/// Takes the dead letter out of the dead-letter queue, and replays it.
pub(crate) fn replay(protocol: &Protocol, world: &mut World, dead_letter: Message) {
    world.left.replays -= 1;
    world.dead.remove(&dead_letter);
    match dead_letter {
        dead_letter if !world.job.status.is_final() => world.send(dead_letter),
        Message::Chunk(group, chunk) => reopen(protocol, world, Some((group, chunk)), true),
        Message::Create(_) | Message::Complete(_) => reopen(protocol, world, None, true),
    }
}

fn reopen(protocol: &Protocol, world: &mut World, selected_chunks: Option<(u32, u32)>, sent: bool) {
    let left_failed = selected_chunks.map_or(0, |selected_chunks| failed_beside(protocol, world, selected_chunks));
    let (generation, deadline_at) = (world.job.generation, Timestamp(i64::MAX));
    let at = Timestamp(i64::from(generation + 1) * 2);
    let selected_chunks = selected_chunks.map(|(group, chunk)| [ChunkId { group, chunk }].into());
    if world.job.reopen(&Reopen { generation, at, deadline_at, corrected: None, selected_chunks })
        == Transition::Refused
    {
        return;
    }
    world.record.left_failed = left_failed;
    world.record.finishes = 0;
    world.record.sealed = None;
    world.record.history = Some(world.history());
    if sent {
        protocol.send_fifo(world, Message::Create(generation + 1), world.job.split.groups);
    }
}

fn has_failed(world: &World, (group, chunk): (u32, u32)) -> bool {
    let items = &world.manifests[group as usize][chunk as usize];
    world.report().is_some_and(|(report, _)| items.iter().any(|item| report[*item as usize].contains(&ItemEnd::Failed)))
}

/// Returns the failed items of other chunks, as bits.
fn failed_beside(protocol: &Protocol, world: &World, (group, chunk): (u32, u32)) -> u64 {
    let own = &world.manifests[group as usize][chunk as usize];
    let report = build(protocol, world, &View::new(&world.job));
    let failed = (0..).zip(&report).filter(|(item, places)| places.contains(&ItemEnd::Failed) && !own.contains(item));
    failed.fold(0, |bits, (item, _)| bits | 1 << item)
}
