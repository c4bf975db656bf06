//! Jobs of registered types that are not active or have changed, and of `image`.

use jobs_api::{Api, router};
use longshore::job_types::image::image_registration;
use longshore::remote::RegisteredType;
use longshore_domain::ids::JobId;
use longshore_domain::job::Status;
use longshore_domain::registration::FunctionAlias;
use serde_json::json;

use crate::job_types::{FUNCTION, content, operated};
use crate::world::{InMemory, World};

#[tokio::test]
async fn a_job_type_that_is_not_active_is_refused_with_what_to_do() {
    let world = operated();
    for name in ["pending", "refused"] {
        assert_eq!(world.register(name, &content(1)).await.status, 202);
        let ping = world.ping();
        if name == "refused" {
            world.fail(&ping).await;
        }
    }
    for (name, expected) in [
        ("pending", "has not answered the ping; try again later"),
        ("refused", "was refused; ask an operator"),
        ("image", "does not offer image jobs; its owner can set the parameter ImageJobs"),
    ] {
        let reply = world.create(&json!({ "jobType": name, "items": [1] })).await;
        assert_eq!(reply.field_errors(), [("/jobType", "unknown_job_type")]);
        let detail = reply.body["errors"][0]["detail"].as_str().unwrap();
        assert!(detail.contains(expected), "{detail}");
    }
}

#[tokio::test]
async fn a_retry_whose_options_the_changed_type_refuses_is_told_the_way_out() {
    let world = operated();
    world.register("invite", &content(1)).await;
    world.answer(&world.ping()).await;
    let created = world.create(&json!({ "jobType": "invite", "items": [1] })).await;
    assert_eq!(created.status, 202, "{}", created.text);
    let id = JobId::parse(created.body["jobId"].as_str().unwrap()).unwrap();
    world.finish(id, Status::Failed, 3).await;
    let mut changed = content(1);
    changed["optionsSchema"] = json!({ "type": "object", "required": ["team"] });
    assert_eq!(world.register("invite", &changed).await.status, 202);
    world.answer(&world.ping()).await;
    let reply = world.post_to(&format!("/api/jobs/{id}/retry"), &json!({})).await;
    reply.is_problem(422, "invalid-request");
    let error = &reply.body["errors"][0];
    assert_eq!(error["code"], "invalid_option");
    let detail = error["detail"].as_str().unwrap();
    assert!(detail.contains("create a new job from the failures file (failed.csv)"), "{detail}");
}

#[tokio::test]
async fn two_sizes_of_one_name_are_refused_by_image_jobs() {
    let world = World::default();
    let api = world.api::<InMemory>(world.queues.clone());
    let function = FunctionAlias::parse(FUNCTION).unwrap();
    let image = RegisteredType::new(image_registration(function));
    let router = router(Api { registry: api.registry.with_registered(image), ..api });
    for (second, status) in [("page", 202), ("thumb", 422)] {
        let sizes = json!([{ "name": "thumb", "maxWidth": 320 }, { "name": second, "maxWidth": 1_280 }]);
        let body = json!({ "jobType": "image", "items": ["https://example.com/1.jpg"], "options": { "sizes": sizes } });
        let reply = world.send_to(router.clone(), "/api/jobs", &body).await;
        assert_eq!(reply.status, status, "{}", reply.text);
        if status == 422 {
            assert_eq!(reply.field_errors(), [("/options/sizes/1/name", "invalid_option")]);
        }
    }
}
