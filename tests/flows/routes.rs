//! Every route of the API, and how its calls name data.

/// How a call of a route can name another tenant's data.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Target {
    /// The path names a job.
    Job,
    /// The path names an upload.
    Upload,
    /// The call names nothing, and lists jobs.
    List,
    /// The body names an upload, or a job whose items are copied. The call is refused because of the body, not the
    /// path.
    SourceInBody,
    /// The call names nothing, and reads the costs of the tenant's jobs.
    Costs,
    /// The call names nothing, and lists events.
    Events,
    /// The call names nothing, and lists webhooks.
    Webhooks,
    /// The path names a webhook.
    Webhook,
    /// The call names nothing, and lists schedules.
    Schedules,
    /// The path names a schedule.
    Schedule,
    /// The call names nothing, and lists datasets.
    Datasets,
    /// The path names a dataset. Datasets of two tenants with the same name are independent.
    Dataset,
    /// The path names a dataset, of which the call deletes all records. That of another tenant does not exist.
    WholeDataset,
    /// The path names a dataset, and the query one of its records.
    Record,
    /// The call names nothing, and creates data for the caller.
    Nothing,
    /// The route reads job types, which all tenants share.
    JobTypes,
    /// The route is for operators only. Other callers are refused, whatever they name.
    Operators,
    /// The route is a public document, which needs no token.
    Document,
}

/// Every route. A new route needs a row here.
pub(crate) const ROUTES: [(&str, &str, Target); 66] = [
    ("POST", "/api/uploads", Target::Nothing),
    ("GET", "/api/uploads/{fileGuid}", Target::Upload),
    ("POST", "/api/uploads/{fileGuid}/url", Target::Upload),
    ("POST", "/api/uploads/{fileGuid}/complete", Target::Upload),
    ("POST", "/api/uploads/{fileGuid}/inspect", Target::Upload),
    ("POST", "/api/jobs", Target::SourceInBody),
    ("GET", "/api/jobs", Target::List),
    ("GET", "/api/jobs/{jobId}", Target::Job),
    ("GET", "/api/jobs/{jobId}/output", Target::Job),
    ("GET", "/api/jobs/{jobId}/output/{file}", Target::Job),
    ("GET", "/api/jobs/{jobId}/images/{file}", Target::Job),
    ("GET", "/api/jobs/{jobId}/results", Target::Job),
    ("GET", "/api/jobs/{jobId}/failures", Target::Job),
    ("GET", "/api/jobs/{jobId}/audit", Target::Job),
    ("POST", "/api/jobs/{jobId}/cancel", Target::Job),
    ("POST", "/api/jobs/{jobId}/retry", Target::Job),
    ("POST", "/api/jobs/{jobId}/start", Target::Job),
    ("POST", "/api/jobs/{jobId}/undo", Target::Job),
    ("DELETE", "/api/jobs/{jobId}", Target::Job),
    ("GET", "/api/costs", Target::Costs),
    ("GET", "/api/events", Target::Events),
    ("POST", "/api/webhooks", Target::Nothing),
    ("GET", "/api/webhooks", Target::Webhooks),
    ("GET", "/api/webhooks/{webhookId}", Target::Webhook),
    ("PUT", "/api/webhooks/{webhookId}", Target::Webhook),
    ("DELETE", "/api/webhooks/{webhookId}", Target::Webhook),
    ("POST", "/api/webhooks/{webhookId}/test", Target::Webhook),
    ("POST", "/api/webhooks/{webhookId}/secret", Target::Webhook),
    ("GET", "/api/webhooks/{webhookId}/deliveries", Target::Webhook),
    ("POST", "/api/webhooks/{webhookId}/deliveries/{deliveryId}/replay", Target::Webhook),
    ("POST", "/api/webhooks/{webhookId}/replay", Target::Webhook),
    ("POST", "/api/schedules", Target::Nothing),
    ("GET", "/api/schedules", Target::Schedules),
    ("GET", "/api/schedules/{scheduleId}", Target::Schedule),
    ("PUT", "/api/schedules/{scheduleId}", Target::Schedule),
    ("DELETE", "/api/schedules/{scheduleId}", Target::Schedule),
    ("POST", "/api/schedules/{scheduleId}/trigger", Target::Schedule),
    ("GET", "/api/schedules/{scheduleId}/occurrences", Target::Schedule),
    ("GET", "/api/datasets", Target::Datasets),
    ("DELETE", "/api/datasets/{dataset}", Target::WholeDataset),
    ("GET", "/api/datasets/{dataset}/records", Target::Dataset),
    ("DELETE", "/api/datasets/{dataset}/records", Target::Record),
    ("PUT", "/api/job-types/{name}", Target::Operators),
    ("GET", "/api/job-types/{name}", Target::JobTypes),
    ("DELETE", "/api/job-types/{name}", Target::Operators),
    ("GET", "/api/job-types/{name}/secret", Target::Operators),
    ("GET", "/api/job-types", Target::JobTypes),
    ("GET", "/api/operations/jobs", Target::Operators),
    ("GET", "/api/operations/failures", Target::Operators),
    ("POST", "/api/operations/retries", Target::Operators),
    ("GET", "/api/operations/queues", Target::Operators),
    ("GET", "/api/operations/handlers", Target::Operators),
    ("GET", "/api/operations/pauses", Target::Operators),
    ("POST", "/api/operations/pauses", Target::Operators),
    ("DELETE", "/api/operations/pauses/{pauseId}", Target::Operators),
    ("GET", "/api/operations/webhooks", Target::Operators),
    ("GET", "/api/operations/log", Target::Operators),
    ("GET", "/api/dead-letters", Target::Operators),
    ("GET", "/api/dead-letters/{letterId}", Target::Operators),
    ("DELETE", "/api/dead-letters/{letterId}", Target::Operators),
    ("POST", "/api/dead-letters/{letterId}/replay", Target::Operators),
    ("POST", "/api/dead-letters/replay", Target::Operators),
    ("GET", "/api/openapi.json", Target::Document),
    ("GET", "/api/docs", Target::Document),
    ("GET", "/api/problems", Target::Document),
    ("GET", "/api/problems/{kind}", Target::Document),
];
