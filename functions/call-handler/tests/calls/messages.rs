//! Messages of the function's queue.

use call_handler::HandlerMessage;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::Job;
use longshore_domain::message::{ChunkMessage, PingMessage};
use longshore_domain::registration::{TypeName, Version};
use longshore_domain::remote::Bisection;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

#[test]
fn a_message_is_a_chunk_or_a_ping_and_nothing_else() {
    let job = Job::waiting(JobId::generate(), TenantId::from_static("acme"), "invite", Timestamp(1));
    let plan = ChunkPlan { first: 1, items: 2, start: 3, end: u64::MAX, oversize: false, keys: None };
    let chunk = ChunkMessage {
        inline: Some("{}".into()),
        bisection: Some(Bisection::new(8)),
        parked_until: Some(Timestamp(7)),
        ..ChunkMessage::new(&job, ChunkId::new(5, 6), &plan)
    };
    let ping = PingMessage { name: TypeName::parse("invite").unwrap(), version: Version::stored("1-a") };
    let body = serde_json::to_string(&chunk).unwrap();
    assert_eq!(serde_json::from_str::<HandlerMessage>(&body).unwrap(), HandlerMessage::Chunk(Box::new(chunk)));
    let body = serde_json::to_string(&ping).unwrap();
    assert_eq!(serde_json::from_str::<HandlerMessage>(&body).unwrap(), HandlerMessage::Ping(ping));
    for other in ["{}", "null", r#"{"name":"invite"}"#, r#"{"name":"invite","version":"1-a","more":1}"#] {
        assert!(serde_json::from_str::<HandlerMessage>(other).is_err(), "{other}");
    }
}
