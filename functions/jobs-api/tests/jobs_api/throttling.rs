//! The gateway's rate limits: every route has a class, and the template applies its limit.

use std::collections::{BTreeMap, BTreeSet};

const TEMPLATE: &str = include_str!("../../../../template.yaml");

/// Cost class of a call.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Class {
    /// Creates work.
    Create,
    /// Reads much data.
    List,
    /// Reads a whole report.
    Audit,
    /// None of these: the stage's default limit applies.
    Usual,
}

/// Every route. A new route needs a row.
const ROWS: [(&str, &str, Class); 66] = [
    ("POST", "/api/uploads", Class::Create),
    ("GET", "/api/uploads/{fileGuid}", Class::Usual),
    ("POST", "/api/uploads/{fileGuid}/url", Class::Usual),
    ("POST", "/api/uploads/{fileGuid}/complete", Class::Usual),
    ("POST", "/api/uploads/{fileGuid}/inspect", Class::Create),
    ("POST", "/api/jobs", Class::Create),
    ("GET", "/api/jobs", Class::List),
    ("GET", "/api/jobs/{jobId}", Class::Usual),
    ("GET", "/api/jobs/{jobId}/output", Class::Usual),
    ("GET", "/api/jobs/{jobId}/output/{file}", Class::Usual),
    ("GET", "/api/jobs/{jobId}/images/{file}", Class::Usual),
    ("GET", "/api/jobs/{jobId}/results", Class::List),
    ("GET", "/api/jobs/{jobId}/failures", Class::List),
    ("GET", "/api/jobs/{jobId}/audit", Class::Audit),
    ("POST", "/api/jobs/{jobId}/cancel", Class::Usual),
    ("POST", "/api/jobs/{jobId}/retry", Class::Create),
    ("POST", "/api/jobs/{jobId}/start", Class::Create),
    ("POST", "/api/jobs/{jobId}/undo", Class::Create),
    ("DELETE", "/api/jobs/{jobId}", Class::Usual),
    ("GET", "/api/events", Class::List),
    ("POST", "/api/webhooks", Class::Create),
    ("GET", "/api/webhooks", Class::List),
    ("GET", "/api/webhooks/{webhookId}", Class::Usual),
    ("PUT", "/api/webhooks/{webhookId}", Class::Create),
    ("DELETE", "/api/webhooks/{webhookId}", Class::Usual),
    ("POST", "/api/webhooks/{webhookId}/test", Class::Create),
    ("POST", "/api/webhooks/{webhookId}/secret", Class::Create),
    ("GET", "/api/webhooks/{webhookId}/deliveries", Class::List),
    ("POST", "/api/webhooks/{webhookId}/deliveries/{deliveryId}/replay", Class::Create),
    ("POST", "/api/webhooks/{webhookId}/replay", Class::Create),
    ("POST", "/api/schedules", Class::Create),
    ("GET", "/api/schedules", Class::List),
    ("GET", "/api/schedules/{scheduleId}", Class::Usual),
    ("PUT", "/api/schedules/{scheduleId}", Class::Create),
    ("DELETE", "/api/schedules/{scheduleId}", Class::Usual),
    ("POST", "/api/schedules/{scheduleId}/trigger", Class::Create),
    ("GET", "/api/schedules/{scheduleId}/occurrences", Class::List),
    ("GET", "/api/costs", Class::List),
    ("GET", "/api/datasets", Class::List),
    ("DELETE", "/api/datasets/{dataset}", Class::Create),
    ("GET", "/api/datasets/{dataset}/records", Class::List),
    ("DELETE", "/api/datasets/{dataset}/records", Class::Usual),
    ("PUT", "/api/job-types/{name}", Class::Create),
    ("GET", "/api/job-types/{name}", Class::Usual),
    ("DELETE", "/api/job-types/{name}", Class::Usual),
    ("GET", "/api/job-types/{name}/secret", Class::Usual),
    ("GET", "/api/job-types", Class::List),
    ("GET", "/api/operations/jobs", Class::List),
    ("GET", "/api/operations/failures", Class::List),
    ("POST", "/api/operations/retries", Class::Create),
    ("GET", "/api/operations/queues", Class::List),
    ("GET", "/api/operations/handlers", Class::List),
    ("GET", "/api/operations/pauses", Class::List),
    ("POST", "/api/operations/pauses", Class::Create),
    ("DELETE", "/api/operations/pauses/{pauseId}", Class::Usual),
    ("GET", "/api/operations/webhooks", Class::List),
    ("GET", "/api/operations/log", Class::List),
    ("GET", "/api/dead-letters", Class::List),
    ("GET", "/api/dead-letters/{letterId}", Class::Usual),
    ("DELETE", "/api/dead-letters/{letterId}", Class::Usual),
    ("POST", "/api/dead-letters/{letterId}/replay", Class::Create),
    ("POST", "/api/dead-letters/replay", Class::Create),
    ("GET", "/api/openapi.json", Class::Usual),
    ("GET", "/api/docs", Class::Usual),
    ("GET", "/api/problems", Class::Usual),
    ("GET", "/api/problems/{kind}", Class::Usual),
];

/// The stage, on one line.
fn stage() -> String {
    let stage = TEMPLATE.split("\n  ApiStage:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    stage.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_route_has_the_limit_of_its_class() {
    let routes = jobs_api::ROUTES.iter().chain(&upload::ROUTES).chain(&inspect::ROUTES).chain(&operations::ROUTES);
    let routes: BTreeSet<_> = routes.copied().collect();
    assert_eq!(ROWS.iter().map(|(method, path, _)| (*method, *path)).collect::<BTreeSet<_>>(), routes);
    let stage = stage();
    for (method, path, class) in ROWS {
        let setting = |name: &str| {
            format!(
                "{method} {path}: ThrottlingRateLimit: !FindInMap [RouteLimits, {name}, Rate] \
                 ThrottlingBurstLimit: !FindInMap [RouteLimits, {name}, Burst]"
            )
        };
        let applied = [Class::Create, Class::List, Class::Audit]
            .into_iter()
            .find(|class| stage.contains(&setting(&format!("{class:?}"))));
        assert_eq!(applied.unwrap_or(Class::Usual), class, "{method} {path}");
    }
    let settings = stage.matches("ThrottlingRateLimit").count();
    let with_settings = ROWS.iter().filter(|(.., class)| *class != Class::Usual).count();
    assert_eq!(settings, with_settings + 1, "the routes' and the stage's settings");
}

/// CloudFormation creates resources in any order, and API Gateway refuses settings for a route that does not exist.
#[test]
fn the_stage_depends_on_the_routes_with_settings() {
    let resources: BTreeMap<_, _> = TEMPLATE
        .split("\n\n")
        .filter(|block| block.contains("Type: AWS::ApiGatewayV2::Route\n"))
        .filter_map(|block| {
            let key = block.lines().find_map(|line| line.trim().strip_prefix("RouteKey: "))?;
            let name =
                block.lines().find_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with([' ', '#'])))?;
            Some((key, name.trim_end_matches(':')))
        })
        .collect();
    let stage = stage();
    let dependencies = stage.split("DependsOn: - ").nth(1).and_then(|rest| rest.split(" Properties:").next()).unwrap();
    let dependencies: BTreeSet<_> = dependencies.split(" - ").collect();
    let with_settings = ROWS.iter().filter(|(.., class)| *class != Class::Usual);
    let with_settings: BTreeSet<_> =
        with_settings.map(|(method, path, _)| resources[format!("{method} {path}").as_str()]).collect();
    assert_eq!(dependencies, with_settings);
}
