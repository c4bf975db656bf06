//! `GET /api/operations/failures`.

use longshore::ports::report_key;
use longshore::result::RESULT_NAME;
use longshore_domain::job::Status;
use longshore_domain::ports::Files;
use serde_json::{Value, json};

use crate::world::{NOW, World};

#[tokio::test]
async fn failed_items_of_all_tenants_are_grouped_by_type_and_code() {
    let world = World::default();
    let [one, two] = [world.job("acme").await, world.job("umbrella").await];
    world.failed(&one, &[("bad_email", 4), ("late", 1)]).await;
    world.failed(&two, &[("bad_email", 2)]).await;
    world.end(&world.job("initech").await, Status::Completed, 0).await;
    let body = world.get("/api/operations/failures").await.body;
    let group = &body["groups"][0];
    assert_eq!(
        (&group["type"], &group["code"], &group["items"], &group["jobs"]),
        (&json!("import"), &json!("bad_email"), &json!(6), &json!(2))
    );
    assert_eq!(body["groups"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&body["jobsRead"], &body["uncounted"], &body["asOf"]),
        (&json!(2), &json!(0), &json!(NOW.to_rfc3339()))
    );
    let body = world.get("/api/operations/failures?code=late&tenant=acme").await.body;
    assert_eq!((&body["groups"][0]["jobIds"], &body["nextCursor"]), (&json!([one.job_id]), &Value::Null));
}

#[tokio::test]
async fn a_job_without_a_report_is_not_grouped_and_its_failures_are_stated() {
    let world = World::default();
    let job = world.job("acme").await;
    world.end(&job, Status::Completed, 7).await;
    let body = world.get("/api/operations/failures").await.body;
    assert_eq!((&body["groups"], &body["uncounted"]), (&json!([]), &json!(7)));
}

#[tokio::test]
async fn a_report_that_cannot_be_read_does_not_keep_the_others_from_being_read() {
    let world = World::default();
    let [damaged, good] = [world.job("acme").await, world.job("umbrella").await];
    world.failed(&damaged, &[("bad", 3)]).await;
    world.failed(&good, &[("bad", 2)]).await;
    let key = report_key(&world.stored(&damaged).await, RESULT_NAME);
    world.files.write(&key, "application/json", b"{\"counts\":".to_vec()).await.unwrap();
    let reply = world.get("/api/operations/failures").await;
    assert_eq!((reply.status, &reply.body["groups"][0]["items"]), (200, &json!(2)), "{}", reply.body);
    assert_eq!((&reply.body["uncounted"], &reply.body["jobsRead"]), (&json!(3), &json!(2)));
}

#[tokio::test]
async fn a_page_reads_up_to_its_limit_of_reports() {
    let world = World::default();
    for tenant in ["a", "b", "c"] {
        world.failed(&world.job(tenant).await, &[("bad", 1)]).await;
    }
    let (mut to, mut jobs, mut pages) = ("/api/operations/failures?limit=2".to_owned(), 0, 0);
    loop {
        let reply = world.get(&to).await;
        jobs += reply.body["jobsRead"].as_u64().unwrap();
        pages += 1;
        match reply.next_path() {
            Some(next) => to = next.to_owned(),
            None => break,
        }
        assert!(pages < 20, "the list does not end");
    }
    assert_eq!(jobs, 3);
}
