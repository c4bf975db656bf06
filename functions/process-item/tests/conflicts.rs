//! The metric of a commit that another worker of the same chunk has overtaken. This is the only test of its process,
//! because it takes the metrics of the process.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use longshore::chunk::{ChunkEnd, Mode};
use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Registry};
use longshore::metrics::{take, write};
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{Commit, CommitOutcome};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::Ledger;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{ChunkWorld, MemoryStore, numbered_rows};
use serde_json::Value;

fn clock() -> Timestamp {
    Timestamp(1_700_000_000_000)
}

/// The commit of another worker, which has processed the first item of the chunk.
fn commit_of_another_worker() -> Commit {
    let to = Cursor {
        round: 0,
        position: 1,
        token: Cursor::token("another", 1),
        file: None,
        deferred: 0,
        due: None,
        finished: false,
        by_sweeper: false,
    };
    let counts = Counts { succeeded: 1, ..Counts::default() };
    Commit { chunk: 0, from: None, to, counts, usage: Default::default(), at: clock() }
}

/// A handler, during whose first item another worker commits.
struct Overtaken(MemoryStore);

impl JobType for Overtaken {
    const NAME: &'static str = "overtaken";
    type Options = Value;
    type Item = Value;
    type Output = ();

    async fn process(&self, job: &JobContext, _: &Value, key: ItemKey, _: Value) -> Outcome {
        if key.number == 1 {
            let outcome = self.0.commit(job.job_id, 0, &commit_of_another_worker()).await.unwrap();
            assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
        }
        Outcome::Ok(())
    }
}

#[tokio::test]
async fn a_commit_that_another_worker_has_overtaken_is_counted() {
    let world = ChunkWorld::new("overtaken", &numbered_rows(3), clock).await;
    let registry = Registry::default().with(Overtaken(world.ports.store.clone()));
    let end = world.worker(&registry).work(&world.message, Mode::Work, clock().plus_seconds(60)).await.unwrap();
    assert_eq!((end, world.progress().await.groups[0].counts.done()), (ChunkEnd::Lost, 1));
    let mut output = Vec::new();
    write(&mut output, &take(), "shop", clock()).unwrap();
    let text = String::from_utf8(output).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert!(lines.any(|line| line["CommitConflicts"] == 1), "{text}");
}
