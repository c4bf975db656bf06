//! Tests of the messages: their forms in JSON.

use std::collections::BTreeSet;

use super::*;
use crate::group::ChunkPlan;
use crate::ids::{ChunkId, JobId};
use crate::job::{Job, Priority};
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

fn longest() -> TenantId {
    TenantId::parse(&"t".repeat(TenantId::MAX_BYTES)).unwrap()
}

#[test]
fn a_tenant_has_a_few_lanes_and_does_not_share_them() {
    let sent = |tenant: &TenantId, resend| {
        let job = Job::waiting(JobId::generate(), tenant.clone(), "import", Timestamp(0));
        CreateMessage { resend, ..CreateMessage::new(&job) }.group_id()
    };
    let lanes = |tenant: &TenantId, resends: std::ops::Range<u32>| -> BTreeSet<String> {
        (0..400).flat_map(|_| resends.clone().map(|n| sent(tenant, n)).collect::<Vec<_>>()).collect()
    };
    let [a, b] = ["a", "b"].map(TenantId::from_static);
    let (own, others) = (lanes(&a, 0..1), lanes(&b, 0..1));
    assert_eq!((own.len(), own.is_disjoint(&others)), (SPLIT_LANES as usize, true));
    let resent = lanes(&a, 1..9);
    assert_eq!((resent.len(), resent.is_disjoint(&own)), (2 * SPLIT_LANES as usize, true));
    assert!(sent(&longest(), 7).len() <= 128);
}

#[test]
fn a_tenant_has_two_lanes_of_files_to_prepare_and_one_for_all_repetitions() {
    let lanes = |tenant: &TenantId, resends: std::ops::Range<u32>| -> BTreeSet<String> {
        let messages = (0..64).flat_map(|n| resends.clone().map(move |resend| (n, resend)));
        let message = |(n, resend)| {
            let job = Job::waiting(JobId(uuid::Uuid::from_u128(n)), tenant.clone(), "import", Timestamp(0));
            CreateMessage { resend, ..CreateMessage::new(&job) }
        };
        messages.map(message).map(|message| message.preparation_group_id()).collect()
    };
    let (a, b) = (TenantId::from_static("a"), longest());
    assert_eq!((lanes(&a, 0..1).len(), lanes(&a, 1..9).len(), lanes(&b, 0..9).len()), (2, 1, 3));
    assert!(lanes(&a, 0..9).is_disjoint(&lanes(&b, 0..9)) && lanes(&b, 0..9).iter().all(|lane| lane.len() <= 128));
}

#[test]
fn a_failed_message_is_replaced_once_by_a_copy_in_a_separate_lane_with_its_own_deduplication_id() {
    let job = Job::waiting(JobId::generate(), longest(), "import", Timestamp(0));
    for resend in 0..3 {
        let message = CreateMessage { resend, ..CreateMessage::new(&job) };
        assert_eq!(message.copy_of_failed(0), None, "the first delivery");
        let copy = message.copy_of_failed(1).unwrap();
        let ids = [&message, &copy].map(|sent| (sent.group_id(), sent.deduplication_id()));
        assert!(ids[0].0 != ids[1].0 && ids[0].1 != ids[1].1 && ids[1].0.len() <= 128, "{ids:?}");
        assert_eq!(copy.copy_of_failed(1), None, "a copy");
    }
    let before_lanes = CreateMessage { tenant: None, ..CreateMessage::new(&job) };
    assert_eq!(before_lanes.copy_of_failed(1), None, "no message waits behind it");
}

#[test]
fn completions_of_a_tenant_have_lanes_like_its_splits() {
    for resend in 0..3 {
        let job = Job::waiting(JobId::generate(), longest(), "import", Timestamp(0));
        let create = CreateMessage { resend, ..CreateMessage::new(&job) };
        let complete = CompleteMessage { resend, ..CompleteMessage::new(&job) };
        assert_eq!(complete.group_id(), create.group_id());
        assert_eq!(complete.copy_of_failed(0), None, "the first delivery");
        let copy = complete.copy_of_failed(1).unwrap();
        let ids = [&complete, &copy].map(|sent| (sent.group_id(), sent.deduplication_id()));
        assert!(ids[0].0 != ids[1].0 && ids[0].1 != ids[1].1 && ids[1].0.len() <= 128, "{ids:?}");
        assert_eq!(copy.copy_of_failed(1), None, "a copy");
    }
    let old = serde_json::json!({"jobId": JobId::generate(), "generation": 0});
    let message: CompleteMessage = serde_json::from_value(old.clone()).unwrap();
    assert_eq!(message.group_id(), old["jobId"].as_str().unwrap());
    assert_eq!(message.copy_of_failed(1), None, "no message waits behind it");
}

#[test]
fn a_message_from_before_lanes_can_be_read() {
    let old = serde_json::json!({"jobId": JobId::generate(), "generation": 0, "position": 3});
    let message: CreateMessage = serde_json::from_value(old.clone()).unwrap();
    assert_eq!(message.group_id(), old["jobId"].as_str().unwrap());
}

#[test]
fn a_chunk_message_has_its_jobs_priority_unless_it_is_normal() {
    let plan = ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize: false, keys: None };
    for (priority, reported) in [(Priority::High, Some("high")), (Priority::Normal, None), (Priority::Low, Some("low"))]
    {
        let job =
            Job { priority, ..Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(0)) };
        let message = ChunkMessage::new(&job, ChunkId::new(5, 6), &plan);
        assert_eq!((message.priority, message.group, message.chunk), (priority, 5, 6));
        let body = serde_json::to_value(&message).unwrap();
        assert_eq!(body.get("priority").and_then(serde_json::Value::as_str), reported);
        assert_eq!(serde_json::from_value::<ChunkMessage>(body).unwrap(), message);
    }
}
