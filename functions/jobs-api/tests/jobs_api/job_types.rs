//! Registered job types: what operators and others may do, and the states of a job type.

use jobs_api::router;
use longshore::http::Access;
use longshore_domain::message::PingMessage;
use longshore_domain::ports::{JobTypes, PingRecord};
use longshore_domain::registration::{Activation, AllowedFunctions, Refusal, TypeName};
use longshore_domain::remote::Mode;
use longshore_outbound::policy::UrlPolicy;
use longshore_targets::AllowedTargets;
use serde_json::{Value, json};

use crate::unsent::{Closed, ClosedBackend};
use crate::world::{NOW, Reply, World};

/// A function that registrations may name.
pub(crate) const FUNCTION: &str = "arn:aws:lambda:eu-central-1:123456789012:function:invite:live";

/// The targets that registrations may name.
pub(crate) fn targets() -> AllowedTargets {
    let own = FUNCTION.replace("invite", "prod-jobs-api");
    let functions = AllowedFunctions::read(&[FUNCTION, &own].join(",")).unwrap().without_stack("prod");
    AllowedTargets { functions, urls: UrlPolicy::new(["*.example.com"], [8443]).unwrap(), image_function: None }
}

/// A world whose caller is an operator.
pub(crate) fn operated() -> World {
    World { groups: "[operators]", ..World::default() }
}

/// A registration of the function, with this many calls at a time.
pub(crate) fn content(concurrency: u32) -> Value {
    json!({ "target": { "function": FUNCTION }, "concurrency": concurrency })
}

impl World {
    /// Registers a job type.
    pub(crate) async fn register(&self, name: &str, body: &Value) -> Reply {
        self.register_if(name, body, &[]).await
    }

    /// Registers a job type with these headers.
    pub(crate) async fn register_if(&self, name: &str, body: &Value, headers: &[(&str, &str)]) -> Reply {
        let headers = [headers, &[("content-type", "application/json")]].concat();
        self.call_with("PUT", &format!("/api/job-types/{name}"), &headers, body.to_string()).await
    }

    /// Takes the only ping that was asked for.
    pub(crate) fn ping(&self) -> PingMessage {
        let pings = self.queues.take_pings();
        assert_eq!(pings.len(), 1, "{pings:?}");
        pings.into_iter().next().unwrap()
    }

    /// Records a good ping.
    pub(crate) async fn answer(&self, PingMessage { name, version }: &PingMessage) -> PingRecord {
        let activation = Activation { modes: vec![Mode::Run, Mode::Validate], at: NOW.plus_seconds(5) };
        self.store.activate(name, version, &activation).await.unwrap()
    }

    /// Records a bad ping.
    pub(crate) async fn fail(&self, PingMessage { name, version }: &PingMessage) -> PingRecord {
        let refusal = Refusal::new("the ping failed: HTTP 403, secret trace", NOW.plus_seconds(6));
        self.store.refuse(name, version, &refusal).await.unwrap()
    }
}

#[tokio::test]
async fn a_registration_is_pending_until_its_ping_is_good() {
    let world = operated();
    let body = json!({
        "target": { "url": "https://api.example.com/invite?key=s3cret" }, "description": "Invites.\nTwice.",
        "input": "dataset", "optionsSchema": { "type": "object" }, "itemSchema": {}, "outputSchema": { "type": "number" },
        "batch": { "items": 7, "bytes": 8, "timeoutSeconds": 9 }, "concurrency": 1000, "itemsPerSecond": 0.5,
        "tries": 20, "maxOutageSeconds": 60,
    });
    let reply = world.register("invite", &body).await;
    assert_eq!((reply.status, reply.header("cache-control")), (202, "no-store"), "{}", reply.body);
    let mut expected = body.clone();
    expected.as_object_mut().unwrap().extend([
        ("name".to_owned(), json!("invite")),
        ("status".to_owned(), json!("pending")),
        ("modes".to_owned(), json!([])),
        ("updatedAt".to_owned(), json!(NOW.to_rfc3339())),
        ("candidate".to_owned(), json!({ "status": "pending", "reason": null, "at": NOW.to_rfc3339() })),
    ]);
    assert_eq!(reply.body, expected);
    assert_eq!(world.get("/api/job-types/invite").await.body, expected);

    assert_eq!(world.answer(&world.ping()).await, PingRecord::Recorded);
    let active = world.get("/api/job-types/invite").await.body;
    let at = NOW.plus_seconds(5).to_rfc3339();
    assert_eq!(
        (&active["status"], &active["modes"], &active["updatedAt"]),
        (&json!("active"), &json!(["run", "validate"]), &json!(at))
    );
    assert_eq!((&active["candidate"], &active["target"]), (&Value::Null, &body["target"]));
}

#[tokio::test]
async fn a_registration_has_default_values() {
    let world = operated();
    let reply = world.register("invite", &json!({ "target": { "function": FUNCTION } })).await;
    for (member, expected) in [
        ("description", Value::Null),
        ("input", json!("file")),
        ("optionsSchema", Value::Null),
        ("itemSchema", Value::Null),
        ("outputSchema", Value::Null),
        ("batch", json!({ "items": 100, "bytes": 1_048_576, "timeoutSeconds": 30 })),
        ("concurrency", json!(10)),
        ("itemsPerSecond", Value::Null),
        ("tries", json!(5)),
        ("maxOutageSeconds", json!(21_600)),
    ] {
        assert_eq!(reply.body[member], expected, "{member}");
    }
}

#[tokio::test]
async fn others_read_everything_but_targets_and_reasons_and_change_nothing() {
    let world = operated();
    world.register("invite", &content(1)).await;
    assert_eq!(world.fail(&world.ping()).await, PingRecord::Recorded);
    let operators = world.get("/api/job-types/invite").await;
    assert_eq!(operators.body["candidate"]["reason"], "the ping failed: HTTP 403, secret trace");
    for groups in ["[]", "[operators2]", "operator"] {
        let other = World { groups, ..world.as_tenant("other") };
        let (one, list) = (other.get("/api/job-types/invite").await, other.get("/api/job-types").await);
        for document in [&one.body, &list.body["jobTypes"][0]] {
            assert_eq!((&document["status"], &document["candidate"]["status"]), (&json!("refused"), &json!("refused")));
            assert_eq!((document.get("target"), &document["candidate"]["reason"]), (None, &Value::Null));
        }
        assert!(![&one.text, &list.text].iter().any(|text| text.contains("arn:") || text.contains("trace")));
        assert_ne!(one.header("etag"), operators.header("etag"));
        other.register("invite", &content(2)).await.is_problem(403, "not-an-operator");
        other.register("-", &json!({ "x": 1 })).await.is_problem(403, "not-an-operator");
        other.call("DELETE", "/api/job-types/invite", &[]).await.is_problem(403, "not-an-operator");
    }
    assert_eq!(world.get("/api/job-types/invite").await.body, operators.body);
    assert!(world.queues.take_pings().is_empty());
}

#[tokio::test]
async fn with_open_access_no_caller_is_an_operator() {
    let world = World { access: Access::Open, ..operated() };
    world.register("invite", &content(1)).await.is_problem(403, "not-an-operator");
    world.call("DELETE", "/api/job-types/invite", &[]).await.is_problem(403, "not-an-operator");
    assert_eq!(world.get("/api/job-types").await.body, json!({ "jobTypes": [], "nextCursor": null }));
}

#[tokio::test]
async fn an_operator_without_a_tenant_registers_and_everyone_else_needs_one() {
    let world = World { access: Access::SignedIn { tenant_claim: "tenant".into() }, ..operated() };
    assert_eq!(world.register("invite", &content(1)).await.status, 202);
    world.get("/api/job-types/invite").await.is_problem(403, "no-tenant");
    world.get("/api/job-types").await.is_problem(403, "no-tenant");
}

#[tokio::test]
async fn job_types_are_listed_by_name_in_pages() {
    let world = operated();
    for name in ["c", "a", "b-2", "b"] {
        assert_eq!(world.register(name, &content(1)).await.status, 202);
    }
    let (mut names, mut path) = (Vec::new(), "/api/job-types?limit=3".to_owned());
    loop {
        let page = world.get(&path).await;
        let items = page.body["jobTypes"].as_array().unwrap();
        names.extend(items.iter().map(|item| item["name"].as_str().unwrap().to_owned()));
        let Some(cursor) = page.body["nextCursor"].as_str() else { break };
        path = format!("/api/job-types?limit=3&cursor={cursor}");
        assert_eq!(page.header("link"), format!("<{path}>; rel=\"next\""));
    }
    assert_eq!(names, ["a", "b", "b-2", "c"]);
    for (query, code) in [("limit=0", "invalid_limit"), ("limit=51", "invalid_limit"), ("cursor=QQ", "invalid_cursor")]
    {
        let reply = world.get(&format!("/api/job-types?{query}")).await;
        assert_eq!((reply.status, reply.field_errors()[0].1), (422, code), "{query}");
    }
}

#[tokio::test]
async fn a_client_that_has_the_document_gets_304() {
    let world = operated();
    let tag = world.register("invite", &content(1)).await.header("etag").to_owned();
    let known = world.call("GET", "/api/job-types/invite", &[("if-none-match", &tag)]).await;
    assert_eq!((known.status, known.header("etag"), known.text.as_str()), (304, tag.as_str(), ""));
    assert_eq!(world.answer(&world.ping()).await, PingRecord::Recorded);
    assert_eq!(world.call("GET", "/api/job-types/invite", &[("if-none-match", &tag)]).await.status, 200);
}

#[tokio::test]
async fn unknown_names_are_not_found() {
    let world = operated();
    for name in ["invite", "Invite", "import", "a%23b", "a".repeat(2_000).as_str(), "%ff"] {
        world.get(&format!("/api/job-types/{name}")).await.is_problem(404, "not-found");
        world.call("DELETE", &format!("/api/job-types/{name}"), &[]).await.is_problem(404, "not-found");
    }
}

#[tokio::test]
async fn a_lost_message_leaves_the_job_type_pending_and_a_repeated_put_sends_it() {
    let world = operated();
    let closed = router(world.api::<ClosedBackend>(Closed));
    let reply = world.send_put(closed, "/api/job-types/invite", &content(1)).await;
    assert_eq!((reply.status, &reply.body["status"]), (202, &json!("pending")));
    assert!(world.queues.take_pings().is_empty());
    let repeated = world.register("invite", &content(1)).await;
    assert_eq!((repeated.status, repeated.header("etag")), (202, reply.header("etag")));
    let stored = world.store.job_type(&TypeName::parse("invite").unwrap()).await.unwrap().unwrap();
    assert_eq!(world.ping().version, stored.candidate.unwrap().version, "it was stored before the message was lost");
}
