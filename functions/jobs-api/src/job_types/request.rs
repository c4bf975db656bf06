//! Reads the body of a PUT, without calling any service.

use longshore::field_error::FieldError;
use longshore::http::{Bad, Checked, Fields};
use longshore::problem::Problem;
use longshore_domain::registration::content::{
    BATCH_BYTES, BATCH_ITEMS, CONCURRENCY, DEFAULT_CONCURRENCY, DEFAULT_MAX_OUTAGE_SECONDS, DEFAULT_TRIES,
    MAX_OUTAGE_SECONDS, TIMEOUT_SECONDS, TRIES,
};
use longshore_domain::registration::{BatchSize, RegisteredInput, Registration, Target};
use longshore_targets::AllowedTargets;
use serde_json::Value;
use utoipa::ToSchema;

use super::document::TargetDocument;
use super::registrations;
use super::request_values::{description, input, name, object, rate, whole};
use super::schemas::schema;

// For the schema only: the body is read member by member, so that every error is reported.
/// A registration of a job type.
#[allow(dead_code, reason = "for the schema only")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct JobTypeRequest {
    /// The handler.
    target: TargetDocument,
    /// Description for people.
    #[schema(max_length = 500)]
    description: Option<String>,
    /// Source of the items: a file, which includes the items of a request and a part of another job, or a dataset.
    #[schema(default = "file")]
    input: Option<RegisteredInput>,
    /// JSON Schema (2020-12) of the options of a job, up to 16 KiB. Without one, any object is valid.
    #[schema(value_type = Option<Object>)]
    options_schema: Option<Value>,
    /// JSON Schema (2020-12) of an item, up to 16 KiB. Without one, any item is valid.
    #[schema(value_type = Option<Object>)]
    item_schema: Option<Value>,
    /// JSON Schema (2020-12) of an output, up to 16 KiB. Without one, the items have no output. The schema `{}` stands for
    /// outputs of any form.
    #[schema(value_type = Option<Object>)]
    output_schema: Option<Value>,
    /// Size and time-out of a call.
    batch: Option<BatchRequest>,
    /// Maximum number of calls at a time, over all jobs and tenants; the deployment can have a lower limit.
    #[schema(minimum = 1, maximum = 1_000, default = 10)]
    concurrency: Option<u32>,
    /// Rate limit over all jobs and tenants. Without one, there is none.
    #[schema(minimum = 0.1, maximum = 100_000)]
    items_per_second: Option<f64>,
    /// Number of tries of an item.
    #[schema(minimum = 1, maximum = 20, default = 5)]
    tries: Option<u32>,
    /// Time in seconds for which items wait for an unavailable handler before they fail.
    #[schema(minimum = 60, maximum = 86_400, default = 21_600)]
    max_outage_seconds: Option<u32>,
}

/// Size and time-out of a call in a request.
#[allow(dead_code, reason = "for the schema only")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = JobTypeBatchRequest)]
struct BatchRequest {
    /// Maximum number of items in a call.
    #[schema(minimum = 1, maximum = 1_000, default = 100)]
    items: Option<u32>,
    /// Size of a call in bytes above which no further item is added.
    #[schema(minimum = 1, maximum = 4_194_304, default = 1_048_576)]
    bytes: Option<u32>,
    /// Time-out of a call in seconds.
    #[schema(minimum = 1, maximum = 110, default = 30)]
    timeout_seconds: Option<u32>,
}

/// Reads a registration under this name.
///
/// # Errors
/// 422 with every error.
pub(super) fn read(
    mut fields: Fields,
    path: &str,
    is_built_in: bool,
    targets: &AllowedTargets,
) -> Result<Registration, Problem> {
    let name = name(path, is_built_in).map_err(|error| fields.refuse_all(vec![error])).ok();
    let target = fields.required("target", |value| Ok(value.clone()));
    let target =
        target.and_then(|value| object(&mut fields, "target", &value, |inner| read_target(inner, &value, targets)));
    let description = fields.optional("description", description);
    let input = fields.optional("input", input).unwrap_or_default();
    let options_schema = schema(&mut fields, "optionsSchema");
    let item_schema = schema(&mut fields, "itemSchema");
    let output_schema = schema(&mut fields, "outputSchema");
    let batch = fields.optional("batch", |value| Ok(value.clone()));
    let batch = batch.and_then(|value| object(&mut fields, "batch", &value, read_batch)).unwrap_or_default();
    let concurrency = fields.optional("concurrency", |value| whole(value, CONCURRENCY));
    let items_per_second = fields.optional("itemsPerSecond", rate);
    let tries = fields.optional("tries", |value| whole(value, TRIES));
    let max_outage = fields.optional("maxOutageSeconds", |value| whole(value, MAX_OUTAGE_SECONDS));
    match (name, target) {
        (Some(name), Some(target)) if fields.is_valid() => Ok(Registration {
            name,
            target,
            description,
            input,
            options_schema,
            item_schema,
            output_schema,
            batch,
            concurrency: concurrency.unwrap_or(DEFAULT_CONCURRENCY),
            items_per_second,
            tries: tries.unwrap_or(DEFAULT_TRIES),
            max_outage_seconds: max_outage.unwrap_or(DEFAULT_MAX_OUTAGE_SECONDS),
        }),
        _ => Err(fields.into_problem()),
    }
}

/// Reads a target: exactly one of two members.
fn read_target(fields: &mut Fields, target: &Value, targets: &AllowedTargets) -> Option<Target> {
    let is_given = |member: &str| target.get(member).is_some_and(|value| !value.is_null());
    let read = |value: &Value, read: &dyn Fn(&str) -> Checked<Target>| match value.as_str() {
        Some(text) => read(text),
        None => Err(Bad::new("invalid_type", "the value must be a string")),
    };
    let function = fields.optional("function", |value| read(value, &|text| registrations::function(targets, text)));
    let url = fields.optional("url", |value| read(value, &|text| registrations::url(targets, text)));
    if is_given("function") == is_given("url") {
        let detail = "the target must have either function, the ARN of an alias of a Lambda function, or url";
        fields.refuse_all(vec![FieldError::new("", "invalid_target", detail)]);
        return None;
    }
    function.or(url)
}

fn read_batch(fields: &mut Fields) -> Option<BatchSize> {
    let default = BatchSize::default();
    let items = fields.optional("items", |value| whole(value, BATCH_ITEMS)).unwrap_or(default.items);
    let bytes = fields.optional("bytes", |value| whole(value, BATCH_BYTES)).unwrap_or(default.bytes);
    let timeout_seconds =
        fields.optional("timeoutSeconds", |value| whole(value, TIMEOUT_SECONDS)).unwrap_or(default.timeout_seconds);
    Some(BatchSize { items, bytes, timeout_seconds })
}
