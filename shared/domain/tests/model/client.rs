//! Requests of the client and of operators: creating, reading, canceling and retrying the job, and replays.
//!
//! A retry opens the next generation over the remaining items. A replay of a dead letter sends the message again while
//! the job runs. After the end of the job it opens a generation that processes only the failed items of that chunk; all
//! others stay failed.

use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{
    DatasetSource, FailureFilter, Job, Reopen, Selection, Source, SourceFile, Status, Stop, Transition,
};
use longshore_domain::progress::{Progress, counts};
use longshore_domain::records::Format;
use longshore_domain::tenant::DEFAULT_TENANT;
use longshore_domain::timestamp::Timestamp;

use crate::completion::build;
use crate::item::{ItemEnd, Nature};
use crate::protocol::{Flaw, ITEM_BYTES, Protocol};
use crate::record::Answer;
use crate::step::{ApiSend, Message, View};
use crate::world::World;

/// Creates an accepted job.
pub(crate) fn job(protocol: &Protocol) -> Job {
    let (key, etag, name, dataset) = Default::default();
    let size_bytes = protocol.item_count() as u64 * ITEM_BYTES;
    let source = match protocol.walk {
        true => Source::Dataset(DatasetSource { dataset, updated_since: None }),
        false => {
            Source::File(SourceFile { key, size_bytes, etag, format: Format::Csv, name, reading: None, original: None })
        }
    };
    let source = Some(source);
    Job { source, ..Job::waiting(JobId(Default::default()), DEFAULT_TENANT.clone(), "", Timestamp(0)) }
}

/// Returns true if the client may cancel the job.
pub(crate) fn may_stop(world: &World) -> bool {
    world.left.stops > 0 && world.job.is_live()
}

/// Cancels the job, and sends the complete message unless the API crashes.
pub(crate) fn stop(protocol: &Protocol, world: &mut World, send: ApiSend) {
    world.left.stops -= 1;
    let generation = world.job.generation;
    world.job.stop(generation, &Stop { status: Status::Canceled, error: None, at: world.now() });
    match send {
        ApiSend::Sent => protocol.send_fifo(world, Message::Complete(generation), 0),
        ApiSend::Lost => lose_message(world),
    }
}

/// Does the second half of a status call: reads the job after its groups, and answers.
///
/// The model found that the job can end between the two reads. Its totals then belong to groups that were not read. So
/// the groups are read again if they differ from the totals, and the item count is taken from the job.
pub(crate) fn answer(protocol: &Protocol, world: &mut World) {
    world.left.reads -= 1;
    let mut groups = world.reading.take().unwrap_or_default();
    let is_sound = protocol.flaw != Flaw::StaleAnswer;
    if is_sound && world.job.completion.totals.is_some_and(|totals| totals != counts(&world.job, &groups)) {
        groups.clone_from(&world.groups);
    }
    let progress = Progress::new(&world.job, &groups, Timestamp(1));
    let items_of_groups = groups.iter().map(|group| group.items).sum();
    let item_count = if is_sound || world.job.split.ended { world.job.split.item_count } else { items_of_groups };
    let (counts, percent, ended) = (progress.counts, progress.percent, world.job.status.is_final());
    let answer = Answer { generation: world.job.generation, counts, item_count, percent, ended };
    world.record.answers = (world.record.answers.1, answer);
}

/// Returns true if the client may retry the job.
pub(crate) fn may_retry(world: &World) -> bool {
    world.left.retries > 0 && world.job.has_remaining()
}

/// Returns true if the client may retry the job for one reason.
pub(crate) fn may_select(world: &World) -> bool {
    world.left.selections > 0 && world.job.has_remaining()
}

/// Returns true if the replay of this dead letter would have an effect: the job runs, or items of its chunk have
/// failed.
pub(crate) fn may_replay(world: &World, dead_letter: Message) -> bool {
    let has_effect = match dead_letter {
        Message::Chunk(chunk) => world.job.owns(chunk.group) && has_failed(world, chunk),
        Message::Create(generation) => generation == world.job.generation,
        Message::Complete(_) => false,
    };
    world.left.replays > 0 && (!world.job.status.is_final() || (has_effect && world.job.has_remaining()))
}

/// Opens the next generation, and sends its create message unless the API crashes.
pub(crate) fn retry(protocol: &Protocol, world: &mut World, send: ApiSend) {
    world.left.retries -= 1;
    if send == ApiSend::Lost {
        lose_message(world);
    }
    reopen(protocol, world, Selection::All, send);
}

/// Opens the next generation for the items that failed for one reason.
pub(crate) fn retry_for_one_reason(protocol: &Protocol, world: &mut World) {
    world.left.selections -= 1;
    let reason = FailureFilter { code: Nature::Correction.code().into(), field: None };
    reopen(protocol, world, Selection::Failure(reason), ApiSend::Sent);
}

fn lose_message(world: &mut World) {
    world.left.losses -= 1;
    world.record.losses += 1;
}

/// Removes the dead letter from the dead-letter queue, and replays it.
pub(crate) fn replay(protocol: &Protocol, world: &mut World, dead_letter: Message) {
    world.left.replays -= 1;
    world.dead.remove(&dead_letter);
    match dead_letter {
        dead_letter if !world.job.status.is_final() => world.send(dead_letter),
        Message::Chunk(chunk) => reopen(protocol, world, Selection::Chunks([chunk].into()), ApiSend::Sent),
        Message::Create(_) | Message::Complete(_) => reopen(protocol, world, Selection::All, ApiSend::Sent),
    }
}

fn reopen(protocol: &Protocol, world: &mut World, selection: Selection, send: ApiSend) {
    let left_failed = left_failed(protocol, world, &selection);
    let (generation, deadline_at) = (world.job.generation, Timestamp(i64::MAX));
    let at = Timestamp(i64::from(generation + 1) * 2);
    if world.job.reopen(&Reopen { generation, at, deadline_at, selection, registration: None }) == Transition::Refused {
        return;
    }
    world.record.left_failed = left_failed;
    world.record.finishes = 0;
    world.record.sealed = None;
    world.record.history = Some(world.history());
    if send == ApiSend::Sent {
        protocol.send_fifo(world, Message::Create(generation + 1), world.job.split.groups);
    }
}

fn has_failed(world: &World, chunk: ChunkId) -> bool {
    let items = world.items(chunk);
    world.report().is_some_and(|(report, _)| items.iter().any(|item| report[*item as usize].contains(&ItemEnd::Failed)))
}

/// Returns the failed items outside of the selection, as bits.
fn left_failed(protocol: &Protocol, world: &World, selection: &Selection) -> u64 {
    let is_selected = |item: u8| match selection {
        Selection::All | Selection::Corrected(_) => true,
        Selection::Chunks(chunks) => chunks.iter().any(|chunk| world.items(*chunk).contains(&item)),
        Selection::Failure(reason) => protocol.code(item) == reason.code,
    };
    let report = build(protocol, world, &View::new(&world.job));
    let failed = (0..).zip(&report).filter(|(item, places)| places.contains(&ItemEnd::Failed) && !is_selected(*item));
    failed.fold(0, |bits, (item, _)| bits | 1 << item)
}
