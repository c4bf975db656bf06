//! `GET /api/operations/handlers`.

use longshore_domain::ports::{HandlerStates, JobTypes, TypeWrite};
use longshore_domain::registration::{Activation, Candidate, FunctionAlias, Registration, Target, TypeName};
use longshore_domain::remote::{Breaker, HandlerState, PingResult};
use serde_json::{Value, json};

use crate::world::{NOW, World};

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
