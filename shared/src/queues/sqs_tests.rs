//! Batches respect SQS's limits.

use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::JobId;
use longshore_domain::tenant::TenantId;

use super::*;

fn message(chunk: u32, bytes: usize) -> ChunkMessage {
    ChunkMessage {
        job_id: JobId::generate(),
        tenant: TenantId::from_static("t"),
        priority: Priority::Normal,
        group: 0,
        chunk,
        plan: ChunkPlan { first: 1, items: 1, start: 0, end: bytes as u64, oversize: false },
        inline: Some("x".repeat(bytes)),
        failures: 0,
    }
}

#[test]
fn batches_are_within_the_limits_of_sqs_and_in_order() {
    for (count, bytes, expected) in
        [(0, 10, vec![]), (25, 10, vec![10, 10, 5]), (4, 400_000, vec![2, 2]), (2, 1_040_000, vec![1, 1])]
    {
        let messages: Vec<_> = (0..count).map(|chunk| message(chunk, bytes)).collect();
        let entries = batches(messages.iter(), 7).unwrap();
        assert_eq!(entries.iter().map(Vec::len).collect::<Vec<_>>(), expected, "{count} of {bytes}");
        let bodies = entries.iter().flatten().map(|e| serde_json::from_str(e.message_body()).unwrap());
        assert_eq!(bodies.collect::<Vec<ChunkMessage>>(), messages);
    }
}

#[test]
fn an_entry_has_the_delay_and_the_message_group_of_its_tenant() {
    let entries = batches([message(0, 1)].iter(), 900).unwrap();
    assert_eq!((entries[0][0].delay_seconds(), entries[0][0].message_group_id()), (Some(900), Some("t")));
}
