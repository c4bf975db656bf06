//! A retry of a large job in which almost nothing failed: the work files of the other groups are not read.

#![allow(clippy::unwrap_used, reason = "a test's own step that fails ends the test")]

mod ended;

use ended::{CHUNKS, READ_MS, World, entry, failed};
use longshore_domain::work_file::End;

const GROUPS: u32 = 400;

#[test]
fn a_retry_of_a_large_job_reads_the_work_files_of_groups_with_failures_alone() {
    // Each row was deferred to another round and then skipped, except for the last one, which failed.
    let world = World::ended(GROUPS, 1, |n| {
        let end = match n == u64::from(GROUPS * CHUNKS) {
            true => failed(n, "bad"),
            false => entry(n, End::Skipped { reason: "asked".into() }),
        };
        vec![(0, vec![entry(n, End::Transient { attempts: 1, reason: "busy".into() })]), (1, vec![end])]
    });
    world.retry(None, None);
    let took = world.split();
    assert!(took <= 2 * READ_MS * i64::from(CHUNKS), "the files of one group are read: {took} ms");
    let sent = world.ports.queues.take_chunks();
    let items: u32 = sent.iter().map(|sent| sent.message.plan.items).sum();
    assert_eq!((items, world.again()), (1, 1), "the failed row runs again, alone");
}
