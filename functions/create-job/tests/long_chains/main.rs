//! Retries of chunks with many work files: each delivery ends in time, and its commits are kept. A retry of a large job
//! reads only the work files of groups with failures.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod world;

use std::collections::BTreeSet;

use longshore::chunk::DEAD_LETTERED;
use longshore_domain::ids::ChunkId;
use longshore_domain::job::Selection;
use longshore_domain::outcome::Counts;
use longshore_domain::work_file::End;

use world::{CHUNKS, Chain, INVOCATION_MS, READ_MS, World, entry, failed};

/// Work files of a chunk, each with one failed item.
const FILES: u32 = 100;

/// Number of dead letters that one call replays.
const DEAD_LETTERS: u32 = 100;

/// Number of groups whose work files take longer to read than an invocation.
const GROUPS: u32 = 8;

/// Number of groups of a large job.
const MANY_GROUPS: u32 = 400;

/// An invocation with the shortest timeout that the template allows.
const SHORT_INVOCATION_MS: i64 = 4_000;

/// A corrected file whose second row belongs to no item.
const CORRECTED: &str = "row,item\n1,2\n999999,2\n";

/// The work files of a chunk whose last item was given up.
fn given_up(first: u64) -> Chain {
    let code = |n: u32| if n + 1 == FILES { DEAD_LETTERED } else { "bad" };
    (0..FILES).map(|n| (0, vec![failed(first + u64::from(n), code(n))])).collect()
}

/// A job of chunks with one given-up item each.
fn ended(groups: u32) -> World {
    World::ended(groups, FILES, given_up)
}

/// Ids of `count` chunks, starting with this one.
fn chunk_ids(from: u32, count: u32) -> BTreeSet<ChunkId> {
    (from..from + count).map(|n| ChunkId { group: n / CHUNKS, chunk: n % CHUNKS }).collect()
}

#[test]
fn a_corrected_file_is_compared_with_the_failed_items_that_can_be_read_in_time() {
    let all_ms = i64::from(GROUPS * CHUNKS * FILES) * READ_MS;
    assert!(all_ms > 2 * INVOCATION_MS, "{all_ms}");
    for (groups, code) in [(1, "corrected_rows_unknown"), (GROUPS, "corrected_rows_unchecked")] {
        let world = ended(groups);
        world.retry_with(CORRECTED);
        world.split();
        let issues = world.job().issues;
        assert_eq!(issues.iter().map(|issue| issue.code.as_str()).collect::<Vec<_>>(), [code]);
        assert!(issues[0].message.starts_with("1 row (999999)"), "{}", issues[0].message);
        assert_eq!(world.replanned_items(), 1);
    }
}

#[test]
fn a_corrected_file_is_compared_in_short_invocations() {
    let world = World::ended(2, 1, |n| vec![(0, vec![failed(n, "bad")])]);
    world.retry_with(CORRECTED);
    world.split_within(SHORT_INVOCATION_MS);
    assert_eq!(world.job().issues[0].code, "corrected_rows_unknown");
}

#[test]
fn dead_letters_of_the_previous_generation_are_replayed_chunk_by_chunk() {
    let world = ended(GROUPS);
    world.retry(Selection::Chunks(chunk_ids(5, DEAD_LETTERS)));
    world.split();
    assert_eq!(world.replanned_items(), DEAD_LETTERS as usize);
}

#[test]
fn chunks_of_an_earlier_generation_are_read_for_items_that_their_dead_letters_could_name() {
    let world = ended(GROUPS);
    world.retry(Selection::Chunks(chunk_ids(0, 1)));
    world.split();
    world.finish(Counts::default());
    world.retry(Selection::Chunks(chunk_ids(1, DEAD_LETTERS)));
    world.split();
    assert_eq!(world.replanned_items(), 1 + DEAD_LETTERS as usize, "with the item that was not begun");
}

#[test]
fn a_retry_of_a_large_job_reads_only_work_files_of_groups_with_failures() {
    // Each row was deferred to another round and then skipped, except for the last one, which failed.
    let world = World::ended(MANY_GROUPS, 1, |n| {
        let end = match n == u64::from(MANY_GROUPS * CHUNKS) {
            true => failed(n, "bad"),
            false => entry(n, End::Skipped { reason: "asked".into() }),
        };
        vec![(0, vec![entry(n, End::Transient { attempts: 1, reason: "busy".into(), due: None })]), (1, vec![end])]
    });
    world.retry(Selection::All);
    let took = world.split();
    assert!(took <= 2 * READ_MS * i64::from(CHUNKS), "the reads took {took} ms, more than the files of one group need");
    let sent = world.ports.queues.take_chunks();
    let items: u32 = sent.iter().map(|sent| sent.message.plan.items).sum();
    assert_eq!((items, world.replanned_items()), (1, 1), "only the failed row runs again");
}
