//! The client: creates the job, reads its status, and may cancel it.

use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, SourceFile, Status, Stop};
use longshore_domain::progress::{Progress, counts};
use longshore_domain::records::Format;
use longshore_domain::time_stamp::Timestamp;

use crate::flaw::Flaw;
use crate::protocol::Protocol;
use crate::record::Answer;
use crate::step::Message;
use crate::world::World;

/// Creates a job that was accepted and whose create message is sent.
pub(crate) fn job(size_bytes: u64) -> Job {
    let (key, etag, name) = Default::default();
    Job {
        source: Some(SourceFile { key, size_bytes, etag, format: Format::Csv, name }),
        ..Job::waiting(JobId(Default::default()), "", "", Timestamp(0))
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
