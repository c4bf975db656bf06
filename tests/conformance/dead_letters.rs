//! Dead-letter records: recorded once, resolved once, listed newest first.

use longshore_domain::dead_letter::{DeadLetterMessage, DeadLetterRecord, Queue, Resolution, ResolutionKind};
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Job, Status};
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{DeadLetterRecords, JobProgress, Removal, Store};

use crate::fixtures::{accepted, at, end, finish, job_after, reopened_job, split};

on_both_stores! {
    a_dead_letter_is_recorded_once_and_reads_back_with_its_body,
    the_first_resolution_of_a_dead_letter_stays,
    dead_letters_are_listed_newest_first_page_by_page,
    a_body_is_removed_with_its_job_and_the_record_stays,
    a_selection_applies_to_one_generation,
}

fn unreadable(sent: i64) -> DeadLetterRecord {
    DeadLetterRecord {
        id: DeadLetterRecord::record_id(at(sent), "m"),
        queue: Queue::Complete,
        message: DeadLetterMessage::Unreadable { reason: "no JSON".into() },
        sent_at: at(sent),
        seen_at: at(sent + 60_000),
        receives: 6,
        size_bytes: 3,
        source: Some("chunks".into()),
        group_id: None,
        resolution: None,
        expires_at: at(0).seconds() + 1_209_600,
    }
}

fn of_chunk(job: &Job, sent: i64) -> DeadLetterRecord {
    let plan = ChunkPlan { first: 1, items: 2, start: 3, end: u64::MAX, oversize: false, keys: None };
    let dead_letter = DeadLetterMessage::Chunk(ChunkMessage::new(job, ChunkId::new(7, 3), &plan));
    DeadLetterRecord { queue: Queue::Chunk, message: dead_letter, ..unreadable(sent) }
}

fn resolution(kind: ResolutionKind, by: &str) -> Resolution {
    Resolution { kind, by: by.into(), at: at(9) }
}

async fn a_dead_letter_is_recorded_once_and_reads_back_with_its_body(store: impl Store + DeadLetterRecords) {
    let dead_letter = of_chunk(&accepted(&store).await, 5);
    assert_eq!(store.dead_letter(&dead_letter.id).await.unwrap(), None);
    store.record(&dead_letter, Some("rows")).await.unwrap();
    store.record(&DeadLetterRecord { receives: 99, ..dead_letter.clone() }, Some("rows")).await.unwrap();
    assert_eq!(store.dead_letter(&dead_letter.id).await.unwrap().as_ref(), Some(&dead_letter));
    assert_eq!(store.body(&dead_letter).await.unwrap().as_deref(), Some("rows"));
    let bare = unreadable(6);
    store.record(&bare, None).await.unwrap();
    assert_eq!((store.dead_letter(&bare.id).await.unwrap(), store.body(&bare).await.unwrap()), (Some(bare), None));
}

async fn the_first_resolution_of_a_dead_letter_stays(store: impl Store + DeadLetterRecords) {
    let (dead_letter, first) = (unreadable(5), resolution(ResolutionKind::Replayed, "ann"));
    store.record(&dead_letter, Some("x")).await.unwrap();
    for request in [&first, &resolution(ResolutionKind::Discarded, "bob"), &first] {
        let resolved = store.resolve(&dead_letter.id, request).await.unwrap().unwrap();
        assert_eq!(resolved.resolution.as_ref(), Some(&first));
    }
    store.record(&dead_letter, Some("x")).await.unwrap();
    assert!(
        !store.dead_letter(&dead_letter.id).await.unwrap().unwrap().is_open(),
        "a repeated record does not reopen it"
    );
    assert_eq!(store.resolve("1-none", &first).await.unwrap(), None);
    assert_eq!(store.dead_letter("1-none").await.unwrap(), None, "resolving an absent dead letter creates nothing");
}

async fn dead_letters_are_listed_newest_first_page_by_page(store: impl Store + DeadLetterRecords) {
    for sent in [3, 1, 5, 2, 4] {
        store.record(&unreadable(sent), Some("x")).await.unwrap();
    }
    let (mut sent_times, mut cursor) = (Vec::new(), None::<String>);
    for _ in 0..4 {
        let page = store.dead_letters(cursor.as_deref(), 2).await.unwrap();
        sent_times.extend(page.items.into_iter().map(|dead_letter| dead_letter.sent_at.0 - at(0).0));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((sent_times, cursor), (vec![5, 4, 3, 2, 1], None));
}

async fn a_body_is_removed_with_its_job_and_the_record_stays(store: impl Store + DeadLetterRecords + Removal) {
    let job = split(&store, 1).await;
    let dead_letter = of_chunk(&job, 5);
    store.record(&dead_letter, Some("rows")).await.unwrap();
    let JobProgress { groups, .. } = store.progress(job.job_id).await.unwrap().unwrap();
    assert_eq!(groups.len(), 1, "a dead letter is not listed as a group");
    job_after(store.delete(job.job_id, at(8)).await.unwrap());
    end(&store, job.job_id, &finish(Status::Canceled, 9)).await;
    store.remove(job.job_id).await.unwrap();
    assert_eq!(store.body(&dead_letter).await.unwrap(), None);
    assert_eq!(store.dead_letter(&dead_letter.id).await.unwrap(), Some(dead_letter));
}

async fn a_selection_applies_to_one_generation(store: impl Store) {
    use longshore_domain::job::{FailureFilter, Reopen, Selection};
    let mut job = split(&store, 2).await;
    let chunks = Selection::Chunks([ChunkId { group: 0, chunk: 1 }, ChunkId { group: 1, chunk: 0 }].into());
    let reason = Selection::Failure(FailureFilter { code: "bad".into(), field: Some("mail".into()) });
    for (generation, selection) in (0..).zip([chunks, reason, Selection::All]) {
        let end = longshore_domain::job::Finish { generation, ..finish(Status::Failed, 20) };
        job = job_after(store.finish(job.job_id, &end).await.unwrap());
        let reopen = Reopen {
            generation,
            at: at(50),
            deadline_at: at(99_000),
            selection: selection.clone(),
            registration: None,
        };
        reopened_job(store.reopen(&job, &reopen).await.unwrap());
        job = store.job(job.job_id).await.unwrap().unwrap();
        let retried_groups = if selection == Selection::All { 2 } else { 0 };
        assert_eq!((&job.retry.selection, job.retry.carried_over.retried_groups), (&selection, retried_groups));
    }
}
