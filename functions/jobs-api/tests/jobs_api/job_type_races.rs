//! Changes of a job type that another operator's change precedes, between the read and the write.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::body::Body;
use axum::http::Request;
use jobs_api::{Api, Backend, Registrations, router};
use longshore_domain::ports::{JobTypes, Page, PingRecord, PortResult, TypeDeletion, TypeWrite};
use longshore_domain::registration::{
    Activation, Candidate, Refusal, Registration, Revision, StoredRegistration, TypeName, Version,
};
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore};
use serde_json::json;

use crate::job_types::{content, operated};
use crate::world::{InMemory, NOW, Reply, World};

/// A store in which another operator's PUT precedes each of the next writes.
#[derive(Clone)]
struct Overtaken {
    inner: MemoryStore,
    times: Arc<AtomicU32>,
}

impl Overtaken {
    /// Stores another candidate, with one more call at a time than what is stored.
    async fn overtake(&self, name: &TypeName) {
        let left = self.times.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |times| times.checked_sub(1));
        let (Ok(_), Some(stored)) = (left, self.inner.job_type(name).await.unwrap()) else { return };
        let before = stored.candidate.as_ref().map_or(100, |candidate| candidate.registration.concurrency.max(100));
        let registration = Registration { concurrency: before + 1, ..stored.shown().unwrap().clone() };
        let candidate = Candidate::new(registration, NOW);
        let written = self.inner.put_candidate(name, Some(&candidate), Some(&stored.revision())).await;
        assert_eq!(written.unwrap(), TypeWrite::Stored);
    }
}

impl JobTypes for Overtaken {
    async fn job_type(&self, name: &TypeName) -> PortResult<Option<StoredRegistration>> {
        self.inner.job_type(name).await
    }

    async fn job_types(&self, after: Option<&TypeName>, limit: usize) -> PortResult<Page<StoredRegistration>> {
        self.inner.job_types(after, limit).await
    }

    async fn put_candidate(
        &self,
        name: &TypeName,
        candidate: Option<&Candidate>,
        seen: Option<&Revision>,
    ) -> PortResult<TypeWrite> {
        self.overtake(name).await;
        self.inner.put_candidate(name, candidate, seen).await
    }

    async fn delete_job_type(&self, name: &TypeName, seen: Option<&Revision>) -> PortResult<TypeDeletion> {
        self.overtake(name).await;
        self.inner.delete_job_type(name, seen).await
    }

    async fn activate(&self, name: &TypeName, version: &Version, good: &Activation) -> PortResult<PingRecord> {
        self.inner.activate(name, version, good).await
    }

    async fn refuse(&self, name: &TypeName, version: &Version, refusal: &Refusal) -> PortResult<PingRecord> {
        self.inner.refuse(name, version, refusal).await
    }
}

struct Racing;

impl Backend for Racing {
    type Store = MemoryStore;
    type Queues = MemoryQueues;
    type Files = MemoryFiles;
    type Records = MemoryRecords;
    type JobTypes = Overtaken;
    type Pings = MemoryQueues;
}

/// Sends a change while other changes precede its next writes.
async fn overtaken(world: &World, times: u32, request: Request<Body>) -> Reply {
    let Api {
        ports,
        records,
        registry,
        job_types,
        access,
        operators,
        limits,
        tenant_calls,
        webhook_urls,
        queue_depths,
        clock,
    } = world.api::<InMemory>(world.queues.clone());
    let store = Overtaken { inner: job_types.store, times: Arc::new(AtomicU32::new(times)) };
    let job_types =
        Registrations { store, pings: job_types.pings, targets: job_types.targets, root_secret: job_types.root_secret };
    let router = router(Api::<Racing> {
        ports,
        records,
        registry,
        job_types,
        access,
        operators,
        limits,
        tenant_calls,
        webhook_urls,
        queue_depths,
        clock,
    });
    world.send_unchanged(router, world.signed_in(request)).await
}

/// A world with a job type that is pending, and the tag of its document.
async fn pending() -> (World, String) {
    let world = operated();
    let tag = world.register("invite", &content(1)).await.header("etag").to_owned();
    world.queues.take_pings();
    (world, tag)
}

fn put(tag: &str) -> Request<Body> {
    let request = Request::put("/api/job-types/invite").header("content-type", "application/json");
    request.header("if-match", tag).body(Body::from(content(7).to_string())).unwrap()
}

fn delete(tag: &str) -> Request<Body> {
    Request::delete("/api/job-types/invite").header("if-match", tag).body(Body::empty()).unwrap()
}

#[tokio::test]
async fn an_overtaken_put_is_decided_again_on_the_newer_state() {
    let (world, _) = pending().await;
    let reply = overtaken(&world, 3, put("*")).await;
    assert_eq!((reply.status, &reply.body["concurrency"]), (202, &json!(7)), "{}", reply.text);
    let stored = world.store.job_type(&TypeName::parse("invite").unwrap()).await.unwrap().unwrap();
    assert_eq!(stored.shown().unwrap().concurrency, 7);
    assert_eq!(world.ping().version, stored.candidate.unwrap().version);
}

#[tokio::test]
async fn an_overtaken_conditional_change_changes_nothing() {
    for request in [put, delete] {
        let (world, tag) = pending().await;
        overtaken(&world, 1, request(&tag)).await.is_problem(412, "precondition-failed");
        let left = world.get("/api/job-types/invite").await;
        assert_eq!((left.status, &left.body["concurrency"]), (200, &json!(101)), "the other operator's content stays");
        assert!(world.queues.take_pings().is_empty());
    }
}

#[tokio::test]
async fn a_change_that_is_always_overtaken_is_refused_for_now() {
    let (world, _) = pending().await;
    let reply = overtaken(&world, u32::MAX, put("*")).await;
    reply.is_problem(503, "unavailable");
    assert_eq!(reply.header("retry-after"), "1");
    assert!(world.queues.take_pings().is_empty());
}
