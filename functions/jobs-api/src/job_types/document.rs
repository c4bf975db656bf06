//! Response documents for job types.

use longshore_domain::registration::{
    BatchSize, Candidate, RegisteredInput, Registration, RegistrationStatus, StoredRegistration, Target,
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A page of job types.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobTypes)]
pub struct JobTypesDocument {
    /// Job types, ordered by name.
    pub job_types: Vec<JobTypeDocument>,
    /// Cursor of the next page; `null` on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// A registered job type: the active registration if there is one, else the candidate.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobType)]
pub struct JobTypeDocument {
    /// Name of the job type.
    #[schema(pattern = "^[a-z][a-z0-9-]{0,39}$")]
    pub name: String,
    /// Status. Jobs of the type can be created if it is `active`.
    pub status: RegistrationStatus,
    /// The handler. Only operators see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetDocument>,
    /// Description for people.
    #[schema(required = true, max_length = 500)]
    pub description: Option<String>,
    /// Source of the items.
    pub input: RegisteredInput,
    /// JSON Schema of the options.
    #[schema(required = true, value_type = Option<Object>)]
    pub options_schema: Option<Value>,
    /// JSON Schema of an item.
    #[schema(required = true, value_type = Option<Object>)]
    pub item_schema: Option<Value>,
    /// JSON Schema of an output; `null` if the items have none.
    #[schema(required = true, value_type = Option<Object>)]
    pub output_schema: Option<Value>,
    /// Size and time-out of a call.
    pub batch: BatchSize,
    /// Maximum number of calls at a time; the deployment can have a lower limit.
    pub concurrency: u32,
    /// Rate limit in items per second; `null` if there is none.
    #[schema(required = true)]
    pub items_per_second: Option<f64>,
    /// Number of tries of an item.
    pub tries: u32,
    /// Time in seconds for which items wait for an unavailable handler.
    pub max_outage_seconds: u32,
    /// Modes that the handler knows: `run`, and `validate` if it can check items without any effect. Empty until the
    /// first good ping.
    pub modes: Vec<String>,
    /// Time of the last change, in RFC 3339.
    #[schema(format = DateTime)]
    pub updated_at: String,
    /// The registration that is to become active; `null` if there is none.
    #[schema(required = true)]
    pub candidate: Option<CandidateDocument>,
}

/// The handler of a job type: exactly one of two members.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = JobTypeTarget)]
pub struct TargetDocument {
    /// ARN of an alias of a Lambda function, one of those that the stack's owner allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 300, examples("arn:aws:lambda:eu-central-1:123456789012:function:invite:live"))]
    pub function: Option<String>,
    /// URL of an HTTPS endpoint, on a host that the stack's owner allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2_048, examples("https://handlers.example.com/invite"))]
    pub url: Option<String>,
}

/// A registration that is to become active.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobTypeCandidate)]
pub struct CandidateDocument {
    /// Status: `pending` until the handler has answered a ping, `refused` if its answer was not good.
    pub status: RegistrationStatus,
    /// The reason of a refusal. Only operators see it.
    #[schema(required = true)]
    pub reason: Option<String>,
    /// Time at which it was stored or refused, in RFC 3339.
    #[schema(format = DateTime)]
    pub at: String,
}

/// The reader of a document: targets and reasons are for operators only.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Reader {
    Operator,
    Anyone,
}

impl JobTypeDocument {
    /// Creates the document; `None` for a state without any registration, which no store has.
    pub(super) fn new(stored: &StoredRegistration, reader: Reader) -> Option<Self> {
        let registration = stored.shown()?.clone();
        let active = stored.active.as_ref();
        let target = (reader == Reader::Operator).then(|| TargetDocument::from(&registration.target));
        let Registration { name, description, input, options_schema, item_schema, output_schema, .. } = registration;
        Some(Self {
            name: name.into(),
            status: stored.status(),
            target,
            description,
            input,
            options_schema,
            item_schema,
            output_schema,
            batch: registration.batch,
            concurrency: registration.concurrency,
            items_per_second: registration.items_per_second,
            tries: registration.tries,
            max_outage_seconds: registration.max_outage_seconds,
            modes: active.into_iter().flat_map(|active| &active.activation.modes).map(|m| m.as_str().into()).collect(),
            updated_at: stored.updated_at().unwrap_or_default().to_rfc3339(),
            candidate: stored.candidate.as_ref().map(|candidate| CandidateDocument::new(candidate, reader)),
        })
    }
}

impl CandidateDocument {
    fn new(candidate: &Candidate, reader: Reader) -> Self {
        let reason = candidate.refusal.as_ref().filter(|_| reader == Reader::Operator);
        Self {
            status: candidate.status(),
            reason: reason.map(|refusal| refusal.reason.clone()),
            at: candidate.changed_at().to_rfc3339(),
        }
    }
}

impl From<&Target> for TargetDocument {
    fn from(target: &Target) -> Self {
        match target {
            Target::Function(alias) => Self { function: Some(alias.to_string()), ..Self::default() },
            Target::Url(url) => Self { url: Some(url.clone()), ..Self::default() },
        }
    }
}
