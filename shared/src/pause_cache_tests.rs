//! Reads of the cache, while the store works and while it fails.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use longshore_domain::ids::{JobId, PauseId};
use longshore_domain::pause::PauseScope;
use longshore_domain::ports::PortError;
use longshore_domain::tenant::TenantId;

use super::*;

const START: Timestamp = Timestamp(1_000_000);

/// A store with the pause of a type, which counts its reads.
#[derive(Default)]
struct Counted {
    consistent: AtomicU32,
    recent: AtomicU32,
    fails: AtomicBool,
}

impl Counted {
    fn read(&self, reads: &AtomicU32) -> PortResult<Vec<Pause>> {
        reads.fetch_add(1, Ordering::Relaxed);
        if self.fails.load(Ordering::Relaxed) {
            return Err(PortError { service: "store", operation: "pauses", source: "throttled".into() });
        }
        let (scope, until) = (PauseScope::JobType("invite".to_owned()), START.plus_seconds(3_600));
        Ok(vec![Pause { id: PauseId::generate(), scope, since: START, until, by: "olga".to_owned() }])
    }

    fn fail(&self, fails: bool) {
        self.fails.store(fails, Ordering::Relaxed);
    }

    fn reads(&self) -> [u32; 2] {
        [&self.consistent, &self.recent].map(|reads| reads.load(Ordering::Relaxed))
    }
}

impl Pauses for Counted {
    async fn pauses(&self) -> PortResult<Vec<Pause>> {
        self.read(&self.consistent)
    }

    async fn recent_pauses(&self) -> PortResult<Vec<Pause>> {
        self.read(&self.recent)
    }
}

fn after_ms(millis: i64) -> Timestamp {
    Timestamp(START.0 + millis)
}

#[tokio::test]
async fn the_pauses_are_read_once_in_two_seconds_and_consistently_by_workers_only() {
    let (store, job) =
        (Counted::default(), Job::waiting(JobId::generate(), TenantId::from_static("t"), "invite", START));
    let (worker, display) = (PauseCache::default(), PauseCache::default());
    for (millis, reads) in [(0, 1), (1_999, 1), (2_000, 2), (3_999, 2)] {
        assert!(worker.is_paused(&store, &job, after_ms(millis)).await.unwrap());
        assert!(worker.is_type_paused(&store, "invite", after_ms(millis)).await.unwrap());
        assert_eq!(display.for_display(&store, after_ms(millis)).await.len(), 1);
        assert_eq!(store.reads(), [reads, reads], "after {millis} ms");
    }
}

#[tokio::test]
async fn the_last_pauses_are_used_for_a_minute_if_a_read_fails() {
    let (store, cache) = (Counted::default(), PauseCache::default());
    let is_paused = async |millis| cache.is_type_paused(&store, "invite", after_ms(millis)).await;
    assert!(is_paused(0).await.unwrap());
    store.fail(true);
    // A failed read is repeated after two seconds, too.
    for (millis, reads) in [(2_000, 2), (3_999, 2), (59_999, 3)] {
        assert!(is_paused(millis).await.unwrap(), "after {millis} ms");
        assert_eq!(store.reads(), [reads, 0], "after {millis} ms");
    }
    assert!(is_paused(60_000).await.is_err(), "too old");
    store.fail(false);
    assert!(is_paused(60_001).await.unwrap());
    store.fail(true);
    assert!(is_paused(120_000).await.unwrap(), "the minute begins with the last read");
}

#[tokio::test]
async fn a_first_read_that_fails_is_an_error_unless_it_is_for_display() {
    let (store, cache) = (Counted::default(), PauseCache::default());
    store.fail(true);
    assert!(cache.for_display(&store, START).await.is_empty());
    assert!(cache.is_type_paused(&store, "invite", START).await.is_err());
}
