//! `POST /api/jobs`: job types that are not active, and `image`.

use jobs_api::{Api, router};
use longshore::job_types::image::image_registration;
use longshore::remote::RegisteredType;
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
