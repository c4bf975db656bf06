//! A stale read: groups are read before their job, so the last of them may have ended in between.

use futures::FutureExt;
use longshore::files::MemoryFiles;
use longshore::ports::Ports;
use longshore::queues::MemoryQueues;
use longshore::store::memory::MemoryStore;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Commit, GroupPlan, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{Definition, JobStore, JobTransitions, Ledger};
use longshore_domain::time_stamp::Timestamp;
use serde_json::json;

use super::*;

fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().unwrap()
}

#[test]
fn a_group_that_ended_between_the_two_reads_is_read_again() {
    let at = Timestamp(1);
    let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files: MemoryFiles::default() };
    let waiting = json!({
        "jobId": JobId::generate(), "tenant": "t", "jobType": "probe", "generation": 0, "status": "waiting",
        "stage": "queued", "source": null, "tolerance": {}, "splitOffset": 0, "itemCount": 0, "groups": 0,
        "sentGroups": 0, "splitEnded": false, "stop": null, "totals": null, "error": null, "issues": [], "resends": 0,
        "createdAt": 0, "startedAt": null, "finishedAt": null, "updatedAt": 0, "deadlineAt": 0, "expiresAt": 0,
    });
    let job: Job = serde_json::from_value(waiting).unwrap();
    let id = job.job_id;
    now(ports.store.create_job(&job, &Definition { options: json!({}), columns: None }, None)).unwrap();
    now(ports.store.begin(id, at)).unwrap();
    let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 0, oversize: false };
    now(ports.store.commit_group(&job, &GroupPlan::of_file(0, Manifest { group: 0, chunks: vec![plan] }, 0..0), at))
        .unwrap();
    now(ports.store.end_split(&job, 1, &[], at)).unwrap();

    let (stale, _) = now(ports.store.progress(id)).unwrap().unwrap();
    let to = Cursor {
        round: 0,
        position: 0,
        token: "abcdefgh1".into(),
        file: None,
        deferred: 0,
        due: None,
        finished: true,
        by_sweeper: false,
    };
    let counts = Counts { succeeded: 1, ..Counts::default() };
    now(ports.store.commit(id, 0, &Commit { chunk: 0, from: None, to, counts, at })).unwrap();
    now(ports.store.group_done(id, 0, at)).unwrap();

    let job = now(ports.store.job(id)).unwrap().unwrap();
    let deadline = Timestamp(i64::MAX);
    let completer = Completer { ports: &ports, stop_grace_ms: 0, deadline, part_bytes: 1, clock: || Timestamp(2) };
    let groups = now(completer.done(&job, stale)).unwrap().unwrap();
    assert!(groups[0].is_done());
}
