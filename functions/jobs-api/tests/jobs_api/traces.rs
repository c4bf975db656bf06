//! The trace of a job: that of its caller, or else of its upload, or else its own.

use longshore_domain::ids::JobId;
use longshore_domain::ports::JobStore;
use serde_json::json;

use crate::world::World;

const CALLER: &str = "0af7651916cd43dd8448eb211c80319c";

#[tokio::test]
async fn a_job_has_the_trace_of_its_caller_or_of_its_upload_or_its_own() {
    let world = World::default();
    let (import, ping) = (world.import().await, json!({"jobType": "ping"}));
    let upload = import["fileGuid"].as_str().unwrap().replace('-', "");
    let traceparent = format!("00-{CALLER}-b7ad6b7169203331-01");
    for (request, traceparent, expected) in [
        (&import, traceparent.as_str(), Some(CALLER)),
        (&import, "00-invalid", Some(upload.as_str())),
        (&ping, traceparent.as_str(), Some(CALLER)),
        (&ping, "", None),
    ] {
        let headers = [("content-type", "application/json"), ("traceparent", traceparent)];
        let reply = world.post(request.to_string(), &headers).await;
        let id = reply.body["jobId"].as_str().unwrap();
        let own = id.replace('-', "");
        let expected_id = json!(expected.unwrap_or(own.as_str()));
        assert_eq!((reply.status, &reply.body["traceId"]), (202, &expected_id), "{traceparent}");
        let job = world.store.job(JobId::parse(id).unwrap()).await.unwrap().unwrap();
        assert_eq!(job.trace.map(|trace| trace.to_string()).as_deref(), expected, "{traceparent}");
    }
}
