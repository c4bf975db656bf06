//! `GET /api/operations/webhooks`.

use longshore_domain::ports::Webhooks;
use longshore_domain::tenant::TenantId;
use longshore_domain::webhook::{DisabledReason, Endpoint, EndpointState};
use serde_json::json;

use crate::world::{NOW, World};

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
