//! Reads the body of a create and of a PUT, without calling any service.

use std::collections::BTreeSet;

use longshore::http::{Bad, Checked, Fields};
use longshore::problem::Problem;
use longshore_domain::event::EventType;
use longshore_domain::webhook::JobScope;
use longshore_outbound::policy::UrlPolicy;
use longshore_outbound::url::{HandlerUrl, UrlError};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Maximum characters of a description.
const DESCRIPTION_CHARS: usize = 500;

// For the schema only: the body is read member by member, so that every error is reported.
/// A webhook.
#[allow(dead_code, reason = "for the schema only")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WebhookRequest {
    /// HTTPS URL on port 443 of a host with a public address.
    #[schema(format = "uri", max_length = 2_048)]
    url: String,
    /// Description for people.
    #[schema(max_length = 500)]
    description: Option<String>,
    /// Types of events that it gets. Empty or absent: all, including those of later versions.
    event_types: Option<BTreeSet<EventType>>,
    /// Jobs about which it gets events.
    #[schema(value_type = Option<JobScope>, default = "all")]
    jobs: Option<JobScope>,
    /// False for a webhook that gets no events for now.
    #[schema(default = true)]
    enabled: Option<bool>,
}

/// What a client sets of a webhook.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct WebhookContent {
    pub(super) url: String,
    pub(super) description: String,
    pub(super) event_types: BTreeSet<EventType>,
    pub(super) jobs: JobScope,
    pub(super) enabled: bool,
}

/// Reads a webhook.
///
/// # Errors
/// 422 with every error.
pub(super) fn read(mut fields: Fields, policy: &UrlPolicy) -> Result<WebhookContent, Problem> {
    let url = fields.required("url", |value| url(value, policy));
    let description = fields.optional("description", description).unwrap_or_default();
    let event_types = fields.optional("eventTypes", event_types).unwrap_or_default();
    let jobs = fields.optional("jobs", jobs).unwrap_or_default();
    let enabled = fields.optional("enabled", enabled).unwrap_or(true);
    match url {
        Some(url) if fields.is_valid() => Ok(WebhookContent { url, description, event_types, jobs, enabled }),
        _ => Err(fields.into_problem()),
    }
}

fn url(value: &Value, policy: &UrlPolicy) -> Checked<String> {
    let text = value.as_str().ok_or_else(|| Bad::new("invalid_type", "the URL must be a string"))?;
    match HandlerUrl::parse(text, policy) {
        Ok(_) => Ok(text.to_owned()),
        Err(UrlError::PortNotAllowed(port)) => {
            Err(Bad::new("invalid_url", format!("port {port} is not allowed; use port 443")))
        }
        Err(UrlError::HostNotAllowed(host)) => Err(Bad::new("invalid_url", format!("the host {host:?} is not public"))),
        Err(error) => Err(Bad::new("invalid_url", error.to_string())),
    }
}

fn description(value: &Value) -> Checked<String> {
    let detail = || {
        format!(
            "the description must be a string of at most {DESCRIPTION_CHARS} characters, without control characters"
        )
    };
    let text = value.as_str().ok_or_else(|| Bad::new("invalid_type", detail()))?;
    let is_valid = text.chars().count() <= DESCRIPTION_CHARS && !text.chars().any(char::is_control);
    if is_valid { Ok(text.to_owned()) } else { Err(Bad::new("invalid_description", detail())) }
}

fn event_types(value: &Value) -> Checked<BTreeSet<EventType>> {
    let names = EventType::ALL.map(|event_type| format!("{:?}", event_type.name())).join(", ");
    let bad =
        || Bad::new("invalid_event_types", format!("the event types must be a list of some of {names}, each once"));
    let listed = value.as_array().ok_or_else(bad)?;
    let read = |value: &Value| EventType::ALL.into_iter().find(|event_type| value == event_type.name());
    let event_types: BTreeSet<_> = listed.iter().map(read).collect::<Option<_>>().ok_or_else(bad)?;
    if event_types.len() == listed.len() { Ok(event_types) } else { Err(bad()) }
}

fn jobs(value: &Value) -> Checked<JobScope> {
    JobScope::deserialize(value).map_err(|_| {
        let detail = "jobs must be \"all\" for the events of all jobs, or \"named\" for those of jobs that name the webhook as their callback";
        Bad::new("invalid_job_scope", detail)
    })
}

fn enabled(value: &Value) -> Checked<bool> {
    value.as_bool().ok_or_else(|| Bad::new("invalid_type", "enabled must be true or false"))
}
