//! `GET /api/job-types/{name}/secret`: the secret with which calls of an endpoint are signed.

use std::sync::Arc;

use axum::extract::State;
use longshore::http::{Answer, Operator, PathText, no_store};
use longshore::openapi::CacheNoStore;
use longshore::problem::Problem;
use longshore_domain::ports::PortError;
use longshore_domain::registration::Target;
use serde::Serialize;
use utoipa::ToSchema;

use super::find::find;
use crate::backend::{Api, Backend};
use crate::openapi::parameters::JobTypeInPath;
use crate::openapi::refusals::JobTypeSecretRefusals;

/// The secret of an endpoint.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobTypeSecret)]
pub struct SecretDocument {
    /// The secret as Standard Webhooks writes it: `whsec_` and base64. It depends on the name of the job type only.
    #[schema(pattern = "^whsec_[A-Za-z0-9+/=]+$")]
    pub secret: String,
}

/// Returns the secret of an endpoint; 404 if no handler of the type is an endpoint. Each call is logged.
#[utoipa::path(
    get,
    path = "/api/job-types/{name}/secret",
    operation_id = "getJobTypeSecret",
    tag = "job types",
    summary = "Read the signing secret of an endpoint.",
    description = "For operators. The endpoint verifies the signature of each call with it (Standard Webhooks 1.0). A job \
        type whose handler is a Lambda function has none: IAM decides who can invoke it. Each call of this operation is \
        logged with the name of the operator.",
    params(JobTypeInPath),
    responses(
        (
            status = 200,
            description = "The secret.",
            body = SecretDocument,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!({ "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }),
        ),
        JobTypeSecretRefusals,
    ),
)]
pub(crate) async fn secret<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    Operator { id: operator, .. }: Operator,
    PathText(name): PathText,
) -> Answer {
    let stored = find(&api.job_types.store, &name).await?;
    let registered = stored.active.as_ref().map(|active| &active.registration);
    let targets = registered.into_iter().chain(stored.candidate.as_ref().map(|candidate| &candidate.registration));
    if !targets.into_iter().any(|registration| matches!(registration.target, Target::Url(_))) {
        return Err(Problem::not_found("secret").into());
    }
    let secrets = api.job_types.root_secret.of_job_type(&name).await;
    let secrets =
        secrets.map_err(|error| PortError { service: "secrets", operation: "root_secret", source: error.into() })?;
    tracing::info!(operator, job_type = name, "the secret of a job type was read");
    let secret = secrets.newest().reveal();
    Ok(no_store(SecretDocument { secret }))
}
