//! Costs: the estimate and the maximum of a new job, the cost of a job, and `GET /api/costs`.

use longshore::http::Access;
use longshore_domain::cost::{Charge, Cost, NanoDollars};
use longshore_domain::job::{Finish, Status};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{JobStore, JobTransitions, Schedules};
use longshore_domain::tenant::{DEFAULT_TENANT, TenantId};
use serde_json::{Value, json};

use crate::limits::id;
use crate::world::{NOW, World};

const COST: Cost = Cost {
    compute: NanoDollars(1_000),
    requests: NanoDollars(200),
    database: NanoDollars(625_000),
    storage: NanoDollars(5_000),
    queue: NanoDollars(0),
};

/// Ends a job of the tenant with this cost.
async fn end(world: &World, tenant: &'static str) {
    let id = world.job_of(tenant).await;
    world.store.begin(id, 0, NOW).await.unwrap();
    let charge = Charge { tenant: TenantId::from_static(tenant), job_type: "ping".into(), cost: COST };
    let totals = Counts { succeeded: 1, ..Counts::default() };
    let finish = Finish { charge: Some(charge), ..Finish::new(Status::Completed, totals, NOW) };
    for _ in 0..2 {
        world.store.finish(id, &finish).await.unwrap();
    }
    let stored = world.store.job(id).await.unwrap().unwrap();
    assert_eq!(stored.completion.cost, Some(COST));
}

#[tokio::test]
async fn a_job_has_the_estimate_of_its_creation_and_its_cost_so_far() {
    let world = World::default();
    let mut request = world.import().await;
    request["maxCost"] = json!(0.25);
    let created = world.create(&request).await;
    assert_eq!(created.status, 202, "{}", created.body);
    let estimate = &created.body["costEstimate"];
    assert!(estimate["total"].as_f64().unwrap() > 0.0 && estimate["assumedItemBytes"] == 200, "{estimate}");
    assert!(estimate["parts"]["database"].as_f64().unwrap() > 0.0, "{estimate}");
    let stored = world.store.job(id(&created.body)).await.unwrap().unwrap();
    assert_eq!(stored.tolerance.max_cost, Some(NanoDollars(250_000_000)));

    let path = format!("/api/jobs/{}", stored.job_id);
    let waiting = world.get(&path).await.body;
    assert_eq!((&waiting["cost"]["total"], &waiting["maxCost"]), (&json!(0.0), &json!(0.25)));
    assert_eq!(waiting["costEstimate"], *estimate);
    world.store.begin(stored.job_id, 0, NOW).await.unwrap();
    assert!(world.get(&path).await.body["cost"]["total"].as_f64().unwrap() > 0.0);
    let finish = Finish::new(Status::Completed, Counts::default(), NOW);
    world.store.finish(stored.job_id, &finish).await.unwrap();
    assert_eq!(world.get(&path).await.body["costEstimate"], *estimate, "it can be compared with the cost at the end");
    assert_eq!(world.get("/api/jobs").await.body["jobs"][0]["costEstimate"], *estimate);

    let items = json!({"jobType": "import", "items": [{"id": 1}, {"id": 2}], "options": request["options"]});
    let of_items = world.create(&items).await.body;
    assert_eq!((&of_items["costEstimate"]["items"], &of_items["maxCost"]), (&json!(2), &Value::Null));
    assert_eq!(world.create(&json!({"jobType": "ping"})).await.body.get("costEstimate"), None);
}

#[tokio::test]
async fn a_maximum_cost_is_a_positive_number_of_dollars_and_part_of_the_request() {
    let world = World::default();
    for bad in [json!(0), json!(-1), json!(1_000_001), json!("0.25"), json!({})] {
        let mut request = world.import().await;
        request["maxCost"] = bad.clone();
        let refused = world.create(&request).await;
        let error = &refused.body["errors"][0];
        assert_eq!((refused.status, &error["pointer"]), (422, &json!("/maxCost")), "{bad}");
        assert_eq!(error["code"], "invalid_max_cost");
    }
    let (mut request, key) = (json!({"jobType": "ping", "maxCost": 1}), ("idempotency-key", "7c6f0a2e"));
    let json = ("content-type", "application/json");
    let first = world.post(request.to_string(), &[json, key]).await;
    assert_eq!((first.status, world.post(request.to_string(), &[json, key]).await.status), (202, 202));
    request["maxCost"] = json!(2);
    world.post(request.to_string(), &[json, key]).await.is_problem(422, "idempotency-key-reused");
}

/// Returns the smallest maximum that a refusal names.
fn smallest_maximum(refused: &Value, pointer: &str) -> f64 {
    let error = &refused["errors"][0];
    assert_eq!((&error["pointer"], &error["code"]), (&json!(pointer), &json!("max_cost_too_low")), "{refused}");
    let (_, amount) = error["detail"].as_str().unwrap().split_once('$').unwrap();
    amount.split(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_maximum_that_the_split_and_the_end_exceed_is_refused_with_the_smallest_one() {
    let world = World::default();
    let import = world.import().await;
    let items = json!({"jobType": "import", "items": [{"id": 1}], "options": import["options"]});
    for mut request in [import, json!({"jobType": "ping"}), items] {
        request["maxCost"] = json!(0.000_001);
        let refused = world.create(&request).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        let smallest = smallest_maximum(&refused.body, "/maxCost");
        assert!(!world.files.keys().iter().any(|key| key.ends_with("/source.jsonl")), "its items are removed");
        request["maxCost"] = json!(smallest - 0.000_001);
        assert_eq!(world.create(&request).await.status, 422, "{smallest}");
        request["maxCost"] = json!(smallest);
        let created = world.create(&request).await;
        assert_eq!((created.status, &created.body["maxCost"]), (202, &json!(smallest)), "{}", created.body);
    }
}

#[tokio::test]
async fn the_job_of_a_schedule_has_its_maximum_cost() {
    let world = World::default();
    let mut request =
        json!({ "name": "nightly", "everyMinutes": 60, "job": { "jobType": "ping", "maxCost": 0.000_001 } });
    let refused = world.post_to("/api/schedules", &request).await;
    assert!(refused.status == 422 && smallest_maximum(&refused.body, "/job/maxCost") < 0.5);
    request["job"]["maxCost"] = json!(0.5);
    let created = world.post_to("/api/schedules", &request).await;
    assert_eq!((created.status, &created.body["job"]["maxCost"]), (201, &json!(0.5)));
    let stored = world.store.schedules(&DEFAULT_TENANT).await.unwrap();
    assert_eq!(stored[0].job.tolerance.max_cost, Some(NanoDollars(500_000_000)));
}

#[tokio::test]
async fn the_costs_of_a_month_are_those_of_the_tenants_ended_jobs() {
    let world = World::default();
    let month = NOW.to_rfc3339()[..7].to_owned();
    end(&world, "default").await;
    end(&world, "default").await;
    end(&world, "other").await;
    let costs = world.get("/api/costs").await;
    assert_eq!((costs.status, costs.header("cache-control")), (200, "no-store"));
    assert_eq!((&costs.body["month"], &costs.body["runs"]), (&json!(month), &json!(2)));
    assert_eq!(costs.body["cost"]["total"], json!(0.001_262_4));
    let of_type = &costs.body["jobTypes"][0];
    assert_eq!((&of_type["jobType"], &of_type["runs"]), (&json!("ping"), &json!(2)));
    assert_eq!(of_type["cost"]["parts"]["database"], json!(0.001_25));
    assert_eq!(world.get(&format!("/api/costs?month={month}")).await.body, costs.body);
    let empty = world.get("/api/costs?month=2020-02").await.body;
    assert_eq!((&empty["runs"], &empty["jobTypes"]), (&json!(0), &json!([])));
}

#[tokio::test]
async fn operators_read_the_costs_of_any_tenant_and_of_all_and_others_only_their_own() {
    let world = World { groups: "[auditors]", ..World::default().as_tenant("olga") };
    for tenant in ["small", "large", "large"] {
        end(&world, tenant).await;
    }
    let all = world.get("/api/costs?tenant=*").await.body;
    let tenants: Vec<_> = all["tenants"].as_array().unwrap().iter().map(|of| (&of["tenant"], &of["runs"])).collect();
    assert_eq!(tenants, [(&json!("large"), &json!(2)), (&json!("small"), &json!(1))], "the highest cost first");
    assert_eq!((&all["runs"], &all["jobTypes"][0]["runs"], &all["jobTypes"][1]), (&json!(3), &json!(3), &Value::Null));
    let small = world.get("/api/costs?tenant=small").await.body;
    assert_eq!((&small["runs"], small.get("tenants")), (&json!(1), None));
    assert_eq!(world.get("/api/costs").await.body["runs"], 0, "olga has no jobs");
    world.get("/api/costs?tenant=a%23b").await.is_problem(422, "invalid-request");
    let operator = World { groups: "[operators]", ..world.clone() };
    assert_eq!(operator.get("/api/costs?tenant=*").await.body, all);

    let user = World { groups: "[]", ..world.as_tenant("small") };
    assert_eq!(user.get("/api/costs?tenant=small").await.body, small);
    for other in ["large", "*", "absent"] {
        user.get(&format!("/api/costs?tenant={other}")).await.is_problem(403, "not-an-operator");
    }
}

#[tokio::test]
async fn an_operator_whose_token_has_no_tenant_reads_the_costs_of_others() {
    let access = Access::SignedIn { tenant_claim: "custom:tenant".into() };
    let world = World { groups: "[operators]", access, ..World::default() };
    for path in ["/api/costs?tenant=*", "/api/costs?tenant=acme"] {
        assert_eq!(world.get(path).await.status, 200, "{path}");
    }
    world.get("/api/costs").await.is_problem(403, "no-tenant");
    let user = World { groups: "[]", ..world };
    user.get("/api/costs?tenant=acme").await.is_problem(403, "no-tenant");
}

#[tokio::test]
async fn a_month_that_is_none_is_refused() {
    let world = World::default();
    for bad in ["2026-13", "2026", "", "2026-11-01"] {
        let refused = world.get(&format!("/api/costs?month={bad}")).await;
        let error = &refused.body["errors"][0];
        assert_eq!((refused.status, &error["code"]), (422, &json!("invalid_month")), "{bad:?}");
    }
}
