//! Registered job types: written on the revision that was read, activated and refused by version, listed by name.

use longshore::store::dynamo::DynamoStore;
use longshore_domain::ports::{JobTypes, PingRecord, TypeDeletion, TypeWrite};
use longshore_domain::registration::{
    Activation, Candidate, FunctionAlias, MAX_JOB_TYPES, Refusal, Registration, Revision, StoredRegistration, Target,
    TypeName,
};
use longshore_domain::remote::Mode;
use longshore_tests::harness::faults::Faults;
use longshore_tests::harness::setup::aws;
use serde_json::json;

use crate::fixtures::at;
use crate::on_both::Local;

on_both_stores! {
    a_candidate_reads_back_and_replaces_an_earlier_one,
    a_write_applies_only_to_the_revision_that_was_read,
    a_good_ping_makes_the_candidate_active_once,
    a_bad_ping_refuses_the_candidate_and_leaves_the_active_registration,
    a_ping_of_another_version_or_of_a_deleted_job_type_writes_nothing,
    a_deletion_is_conditional_if_a_revision_is_given,
    job_types_are_listed_by_name_page_by_page,
    the_number_of_job_types_is_limited_and_a_deletion_makes_room,
    the_largest_contents_are_stored,
    of_two_writes_at_once_one_applies,
}

fn name(text: &str) -> TypeName {
    TypeName::parse(text).unwrap()
}

fn registration(of: &str, concurrency: u32) -> Registration {
    let arn = "arn:aws:lambda:eu-central-1:123456789012:function:invite:live";
    let deep = (0..63).fold(json!({}), |inner, _| json!({ "not": inner }));
    Registration {
        concurrency,
        items_per_second: Some(0.1),
        options_schema: Some(json!({ "title": "\u{fc}\n\u{0}", "maximum": 1.5e300 })),
        item_schema: Some(deep),
        ..Registration::new(name(of), Target::Function(FunctionAlias::parse(arn).unwrap()))
    }
}

fn candidate(of: &str, concurrency: u32) -> Candidate {
    Candidate::new(registration(of, concurrency), at(i64::from(concurrency)))
}

fn good() -> Activation {
    Activation { modes: vec![Mode::Run, Mode::Validate], at: at(50) }
}

async fn stored(store: &impl JobTypes, of: &str) -> Option<StoredRegistration> {
    store.job_type(&name(of)).await.unwrap()
}

async fn revision(store: &impl JobTypes, of: &str) -> Option<Revision> {
    stored(store, of).await.map(|stored| stored.revision())
}

/// Stores a candidate in place of what is stored now.
async fn put(store: &impl JobTypes, candidate: &Candidate) -> TypeWrite {
    let of = candidate.registration.name.clone();
    let seen = revision(store, of.as_str()).await;
    store.put_candidate(&of, Some(candidate), seen.as_ref()).await.unwrap()
}

/// Stores an active job type.
async fn active(store: &impl JobTypes, of: &str) -> Candidate {
    let candidate = candidate(of, 1);
    assert_eq!(put(store, &candidate).await, TypeWrite::Stored);
    assert_eq!(store.activate(&name(of), &candidate.version, &good()).await.unwrap(), PingRecord::Recorded);
    candidate
}

async fn a_candidate_reads_back_and_replaces_an_earlier_one(store: impl JobTypes) {
    assert_eq!(stored(&store, "a").await, None);
    for candidate in [candidate("a", 1), candidate("a", 2)] {
        assert_eq!(put(&store, &candidate).await, TypeWrite::Stored);
        let expected = StoredRegistration { active: None, candidate: Some(candidate) };
        assert_eq!(stored(&store, "a").await, Some(expected));
    }
    assert_eq!(stored(&store, "b").await, None);
}

async fn a_write_applies_only_to_the_revision_that_was_read(store: impl JobTypes) {
    let (one, two, three, of) = (candidate("a", 1), candidate("a", 2), candidate("a", 3), name("a"));
    let before = Revision { active: None, candidate: Some(one.version.clone()), is_refused: false };
    assert_eq!(store.put_candidate(&of, Some(&two), Some(&before)).await.unwrap(), TypeWrite::Changed, "absent");
    assert_eq!(store.put_candidate(&of, None, None).await.unwrap(), TypeWrite::Changed);
    assert_eq!(stored(&store, "a").await, None);
    assert_eq!(put(&store, &one).await, TypeWrite::Stored);
    assert_eq!(store.put_candidate(&of, Some(&two), None).await.unwrap(), TypeWrite::Changed, "present");
    assert_eq!(store.refuse(&of, &one.version, &Refusal::new("no", at(9))).await.unwrap(), PingRecord::Recorded);
    assert_eq!(store.put_candidate(&of, Some(&two), Some(&before)).await.unwrap(), TypeWrite::Changed, "refused");
    let refused = Revision { is_refused: true, ..before.clone() };
    assert_eq!(store.put_candidate(&of, Some(&two), Some(&refused)).await.unwrap(), TypeWrite::Stored);
    assert_eq!(store.put_candidate(&of, Some(&three), Some(&refused)).await.unwrap(), TypeWrite::Changed, "replaced");
    let pending = revision(&store, "a").await.unwrap();
    assert!(!pending.is_refused, "the refusal is that of the replaced candidate");
    assert_eq!(store.activate(&of, &two.version, &good()).await.unwrap(), PingRecord::Recorded);
    assert_eq!(store.put_candidate(&of, Some(&three), Some(&pending)).await.unwrap(), TypeWrite::Changed, "activated");
    assert_eq!(put(&store, &three).await, TypeWrite::Stored);
    let seen = revision(&store, "a").await.unwrap();
    let other = Revision { active: Some(one.version.clone()), ..seen.clone() };
    assert_eq!(store.put_candidate(&of, None, Some(&other)).await.unwrap(), TypeWrite::Changed, "another active one");
    assert_eq!(store.put_candidate(&of, None, Some(&seen)).await.unwrap(), TypeWrite::Stored);
    let left = stored(&store, "a").await.unwrap();
    assert_eq!((left.active.unwrap().version, left.candidate), (two.version, None));
}

async fn a_good_ping_makes_the_candidate_active_once(store: impl JobTypes) {
    let candidate = active(&store, "a").await;
    let first = stored(&store, "a").await.unwrap();
    let now = first.active.clone().unwrap();
    assert_eq!((now.version, now.registration), (candidate.version.clone(), candidate.registration));
    assert_eq!((now.activation, &first.candidate), (good(), &None));
    let later = Activation { modes: vec![Mode::Run], at: at(99) };
    assert_eq!(store.activate(&name("a"), &candidate.version, &later).await.unwrap(), PingRecord::Recorded);
    let refusal = Refusal::new("no", at(99));
    assert_eq!(store.refuse(&name("a"), &candidate.version, &refusal).await.unwrap(), PingRecord::Stale);
    assert_eq!(stored(&store, "a").await, Some(first), "the first activation stays");
}

async fn a_bad_ping_refuses_the_candidate_and_leaves_the_active_registration(store: impl JobTypes) {
    active(&store, "a").await;
    let before = stored(&store, "a").await.unwrap();
    let (two, first) = (candidate("a", 2), Refusal::new("HTTP 403 \u{fc}", at(60)));
    assert_eq!(put(&store, &two).await, TypeWrite::Stored);
    for refusal in [&first, &Refusal::new("later", at(70))] {
        assert_eq!(store.refuse(&name("a"), &two.version, refusal).await.unwrap(), PingRecord::Recorded);
        let candidate = Candidate { refusal: Some(first.clone()), ..two.clone() };
        let expected = StoredRegistration { candidate: Some(candidate), ..before.clone() };
        assert_eq!(stored(&store, "a").await, Some(expected));
    }
    assert_eq!(store.activate(&name("a"), &two.version, &good()).await.unwrap(), PingRecord::Recorded);
    let after = stored(&store, "a").await.unwrap();
    assert_eq!((after.active.unwrap().version, after.candidate), (two.version, None), "a good ping after a bad one");
}

async fn a_ping_of_another_version_or_of_a_deleted_job_type_writes_nothing(store: impl JobTypes) {
    let (one, two, refusal) = (candidate("a", 1), candidate("a", 1), Refusal::new("no", at(60)));
    let ping_both = async |of: &str| {
        let good = store.activate(&name(of), &one.version, &good()).await.unwrap();
        (good, store.refuse(&name(of), &one.version, &refusal).await.unwrap())
    };
    assert_eq!(ping_both("a").await, (PingRecord::Stale, PingRecord::Stale));
    assert_eq!(stored(&store, "a").await, None, "a ping creates no job type");
    assert_eq!(put(&store, &one).await, TypeWrite::Stored);
    assert_eq!(put(&store, &two).await, TypeWrite::Stored);
    let before = stored(&store, "a").await;
    assert_eq!(ping_both("a").await, (PingRecord::Stale, PingRecord::Stale));
    assert_eq!(stored(&store, "a").await, before);
    assert_eq!(store.delete_job_type(&name("a"), None).await.unwrap(), TypeDeletion::Deleted);
    assert_eq!(ping_both("a").await, (PingRecord::Stale, PingRecord::Stale));
    assert_eq!(stored(&store, "a").await, None);
}

async fn a_deletion_is_conditional_if_a_revision_is_given(store: impl JobTypes) {
    active(&store, "a").await;
    let seen = revision(&store, "a").await.unwrap();
    assert_eq!(put(&store, &candidate("a", 2)).await, TypeWrite::Stored);
    assert_eq!(store.delete_job_type(&name("a"), Some(&seen)).await.unwrap(), TypeDeletion::Changed);
    let seen = revision(&store, "a").await.unwrap();
    assert_eq!(store.delete_job_type(&name("a"), Some(&seen)).await.unwrap(), TypeDeletion::Deleted);
    assert_eq!(stored(&store, "a").await, None);
    for seen in [Some(&seen), None] {
        assert_eq!(store.delete_job_type(&name("a"), seen).await.unwrap(), TypeDeletion::Deleted, "twice");
        assert_eq!(store.delete_job_type(&name("never"), seen).await.unwrap(), TypeDeletion::Deleted);
    }
}

async fn job_types_are_listed_by_name_page_by_page(store: impl JobTypes) {
    assert!(store.job_types(None, 10).await.unwrap().items.is_empty());
    for of in ["b", "a-1", "c", "a", "b-2"] {
        assert_eq!(put(&store, &candidate(of, 1)).await, TypeWrite::Stored);
    }
    let (mut names, mut after) = (Vec::new(), None);
    for _ in 0..5 {
        let page = store.job_types(after.as_ref(), 2).await.unwrap();
        assert!(page.items.len() <= 2);
        names.extend(page.items.iter().map(|stored| stored.shown().unwrap().name.to_string()));
        after = page.next.as_deref().map(name);
        if after.is_none() {
            break;
        }
    }
    assert_eq!(names, ["a", "a-1", "b", "b-2", "c"]);
}

async fn the_number_of_job_types_is_limited_and_a_deletion_makes_room(store: impl JobTypes) {
    let small = |number: usize| Candidate {
        registration: Registration { item_schema: None, ..registration(&format!("t{number}"), 1) },
        ..candidate("a", 1)
    };
    for number in 0..MAX_JOB_TYPES {
        assert_eq!(put(&store, &small(number)).await, TypeWrite::Stored, "{number}");
    }
    for _ in 0..2 {
        assert_eq!(put(&store, &candidate("more", 1)).await, TypeWrite::TooMany);
        assert_eq!(stored(&store, "more").await, None);
    }
    assert_eq!(put(&store, &candidate("t7", 2)).await, TypeWrite::Stored, "an existing one can be changed");
    for _ in 0..2 {
        assert_eq!(store.delete_job_type(&name("t3"), None).await.unwrap(), TypeDeletion::Deleted);
    }
    assert_eq!(put(&store, &candidate("more", 1)).await, TypeWrite::Stored);
    assert_eq!(put(&store, &small(3)).await, TypeWrite::TooMany, "two deletions of one job type make room for one");
}

async fn the_largest_contents_are_stored(store: impl JobTypes) {
    let schema = json!({ "description": "\u{1}".repeat(2_700) });
    let largest = |concurrency| Candidate {
        registration: Registration {
            options_schema: Some(schema.clone()),
            item_schema: Some(schema.clone()),
            output_schema: Some(schema.clone()),
            description: Some("\u{1f600}".repeat(500)),
            target: Target::Url(format!("https://a.example/{}", "x".repeat(2_000))),
            ..registration("a", concurrency)
        },
        ..candidate("a", concurrency)
    };
    assert!(schema.to_string().len() <= 16 << 10 && schema.to_string().len() > 16_000);
    let (one, two) = (largest(1), largest(2));
    assert_eq!(put(&store, &one).await, TypeWrite::Stored);
    assert_eq!(store.activate(&name("a"), &one.version, &good()).await.unwrap(), PingRecord::Recorded);
    assert_eq!(put(&store, &two).await, TypeWrite::Stored);
    let both = stored(&store, "a").await.unwrap();
    assert_eq!((both.active.unwrap().registration, both.candidate), (one.registration, Some(two)));
}

async fn of_two_writes_at_once_one_applies(store: impl JobTypes) {
    for round in 0..5 {
        let (one, two) = (candidate("a", round * 2 + 1), candidate("a", round * 2 + 2));
        let (of, seen) = (name("a"), revision(&store, "a").await);
        let (first, second) = tokio::join!(
            store.put_candidate(&of, Some(&one), seen.as_ref()),
            store.put_candidate(&of, Some(&two), seen.as_ref()),
        );
        let outcomes = [first.unwrap(), second.unwrap()];
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == TypeWrite::Stored).count(), 1, "{outcomes:?}");
        let winner = if outcomes[0] == TypeWrite::Stored { one } else { two };
        assert_eq!(stored(&store, "a").await.unwrap().candidate, Some(winner));
    }
}

#[tokio::test]
async fn a_write_whose_reply_is_lost_applies_once() {
    let local = Local::start().await;
    let direct = local.store().await;
    let faults = Faults::start(&local.endpoint).unwrap();
    let store = DynamoStore::new(aws(&faults.endpoint).dynamodb(), local.name.clone());
    let lose = |operation: &str| faults.lose_replies("dynamodb", operation, 1).unwrap();
    let (one, two, of) = (candidate("a", 1), candidate("a", 2), name("a"));
    lose("TransactWriteItems");
    assert_eq!(put(&store, &one).await, TypeWrite::Stored);
    lose("UpdateItem");
    assert_eq!(store.activate(&of, &one.version, &good()).await.unwrap(), PingRecord::Recorded);
    lose("UpdateItem");
    assert_eq!(put(&store, &two).await, TypeWrite::Stored);
    lose("UpdateItem");
    assert_eq!(store.refuse(&of, &two.version, &Refusal::new("no", at(9))).await.unwrap(), PingRecord::Recorded);
    let seen = revision(&store, "a").await;
    lose("UpdateItem");
    assert_eq!(store.put_candidate(&of, None, seen.as_ref()).await.unwrap(), TypeWrite::Stored);
    assert_eq!(stored(&direct, "a").await.unwrap().active.unwrap().version, one.version);
    let seen = revision(&store, "a").await;
    lose("TransactWriteItems");
    assert_eq!(store.delete_job_type(&of, seen.as_ref()).await.unwrap(), TypeDeletion::Deleted);
    assert_eq!(stored(&direct, "a").await, None);
}
