//! `GET /api/operations/queues`, `…/handlers` and `…/webhooks`.

use longshore_domain::ports::{HandlerStates, JobTypes, MessageCounts, StackQueue, TypeWrite, Webhooks};
use longshore_domain::registration::{Activation, Candidate, FunctionAlias, Registration, Target, TypeName};
use longshore_domain::remote::{Breaker, HandlerState, PingResult};
use longshore_domain::tenant::TenantId;
use longshore_domain::webhook::{DisabledReason, Endpoint, EndpointState};
use serde_json::{Value, json};

use crate::world::{NOW, World};

#[tokio::test]
async fn every_queue_has_its_numbers_and_the_age_of_its_oldest_message_if_it_is_known() {
    let world = World::default();
    let counts = MessageCounts { visible: 3, in_flight: 2, delayed: 1 };
    world.queues.set_statistics(StackQueue::ChunkLow, counts, None);
    let of = |body: &Value, name: &str| {
        body["queues"].as_array().unwrap().iter().find(|queue| queue["queue"] == name).unwrap().clone()
    };
    let body = world.get("/api/operations/queues").await.body;
    assert_eq!(body["queues"].as_array().unwrap().len(), 12);
    assert_eq!(
        of(&body, "chunkLow"),
        json!({
            "queue": "chunkLow", "isForDeadLetters": false, "visible": 3, "inFlight": 2, "delayed": 1,
            "oldestSeconds": null
        })
    );
    world.queues.set_statistics(StackQueue::ChunkDeadLetters, counts, Some(90));
    let body = world.get("/api/operations/queues").await.body;
    let dead = of(&body, "chunkDeadLetters");
    assert_eq!((&dead["isForDeadLetters"], &dead["oldestSeconds"]), (&json!(true), &json!(90)));
    assert_eq!(of(&body, "create")["oldestSeconds"], Value::Null);
}

#[tokio::test]
async fn a_handler_has_its_breaker_and_its_limits() {
    let world = World::default();
    let name = TypeName::parse("invite").unwrap();
    let function = FunctionAlias::parse("arn:aws:lambda:eu-central-1:123456789012:function:invite:live").unwrap();
    let registration = Registration {
        concurrency: 8,
        items_per_second: Some(2.5),
        ..Registration::new(name.clone(), Target::Function(function))
    };
    let candidate = Candidate::new(registration, NOW);
    assert_eq!(world.store.put_candidate(&name, Some(&candidate), None).await.unwrap(), TypeWrite::Stored);
    let handler = async || world.get("/api/operations/handlers").await.body["handlers"][0].clone();
    let pending = handler().await;
    assert_eq!((&pending["status"], &pending["concurrency"]), (&json!("pending"), &Value::Null));
    let activation = Activation { modes: Vec::new(), at: NOW };
    let _ = world.store.activate(&name, &candidate.version, &activation).await.unwrap();
    let began_at = NOW;
    let longshore_domain::remote::breaker::AfterFault::Ping(pinging) = Breaker::default().after_fault(NOW, began_at)
    else {
        panic!("a ping follows the first fault");
    };
    let breaker = pinging.after_ping(began_at, PingResult::Bad, NOW).unwrap();
    let state = HandlerState { breaker, ..HandlerState::default() };
    let _ = world.store.replace_handler_state("invite", 0, &state, "w").await.unwrap();
    let open = handler().await;
    assert_eq!(
        open["breaker"],
        json!({
            "state": "unreachable",
            "openSince": NOW.to_rfc3339(),
            "nextTry": NOW.plus_seconds(30).to_rfc3339(),
            "unansweredSince": NOW.to_rfc3339(),
        })
    );
    assert_eq!(
        (&open["concurrency"], &open["concurrencyNow"], &open["itemsPerSecond"], &open["permitsInUse"]),
        (&json!(8), &json!(8), &json!(2.5), &json!(0))
    );
}

#[tokio::test]
async fn the_unhealthy_webhooks_of_a_tenant_are_listed_without_their_urls() {
    let world = World::default();
    let tenant = TenantId::from_static("acme");
    let url = "https://hooks.example.com/T0/secret";
    let healthy = Endpoint { state: EndpointState::Active, ..Endpoint::new(tenant.clone(), url, NOW) };
    let state = EndpointState::Disabled { reason: DisabledReason::Gone, at: NOW };
    let gone = Endpoint { state, place: 1, ..Endpoint::new(tenant, url, NOW) };
    for endpoint in [&healthy, &gone] {
        let _ = world.store.put_endpoint(endpoint, None).await.unwrap();
    }
    let reply = world.get("/api/operations/webhooks?tenant=acme").await;
    assert!(!reply.body.to_string().contains("secret"), "{}", reply.body);
    let listed = &reply.body["webhooks"];
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(
        (&listed[0]["webhookId"], &listed[0]["host"], &listed[0]["disabledReason"]),
        (&json!(gone.endpoint_id), &json!("hooks.example.com"), &json!("gone"))
    );
    let all = world.get("/api/operations/webhooks?tenant=acme&all=true").await;
    assert_eq!(all.body["webhooks"].as_array().unwrap().len(), 2);
    world.get("/api/operations/webhooks?all=x").await.is_problem(422, "invalid-request");
}
