//! Invocations of a Lambda function by the alias that jobs would use.

use std::error::Error;
use std::time::Instant;

use aws_config::{Region, SdkConfig};
use aws_sdk_lambda::Client;
use aws_sdk_lambda::config::interceptors::BeforeDeserializationInterceptorContextMut;
use aws_sdk_lambda::config::retry::RetryConfig;
use aws_sdk_lambda::config::{Builder, ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_lambda::error::{BoxError, ProvideErrorMetadata, SdkError};
use aws_sdk_lambda::operation::invoke::{InvokeError, InvokeOutput};
use aws_sdk_lambda::primitives::{Blob, SdkBody};
use aws_sdk_lambda::types::InvocationType;
use http_body_util::{LengthLimitError, Limited};
use longshore_domain::remote::limits::MAX_ANSWER_BYTES;
use tokio::time::timeout;

use super::super::exchange::{Exchange, Request, Response};
use super::super::target::AliasArn;
use crate::aws::failed;

/// A function.
pub(in super::super) struct Function {
    client: Client,
    arn: String,
}

impl Function {
    /// Creates a function. Calls go to the region of its ARN, and the SDK repeats none.
    pub(in super::super) fn new(config: &SdkConfig, arn: &AliasArn) -> Self {
        let region = Region::new(arn.region().to_owned());
        let config = Builder::from(config).region(region).retry_config(RetryConfig::disabled());
        Self { client: Client::from_conf(config.interceptor(AnswerLimit).build()), arn: arn.as_str().to_owned() }
    }

    pub(super) async fn call(&self, request: Request<'_>) -> Exchange {
        let begun = Instant::now();
        let invoke = self.client.invoke().function_name(&self.arn).payload(Blob::new(request.body));
        let invoke = invoke.invocation_type(InvocationType::RequestResponse).send();
        let response = match timeout(request.timeout, invoke).await {
            Err(_) => Response::TimedOut("the function did not return in time".to_owned()),
            Ok(Ok(output)) => returned(output),
            Ok(Err(error)) => refused(error),
        };
        Exchange { response, headers: Default::default(), took: begun.elapsed() }
    }
}

fn returned(output: InvokeOutput) -> Response {
    let payload = output.payload.map(Blob::into_inner).unwrap_or_default();
    if output.function_error.is_some() { Response::FunctionError(payload) } else { Response::Returned(payload) }
}

fn refused(error: SdkError<InvokeError>) -> Response {
    if is_too_large(&error) {
        return Response::TooLarge;
    }
    let raw = error.raw_response();
    let (status, retry_after) =
        (raw.map(|raw| raw.status().as_u16()), raw.and_then(|raw| raw.headers().get("retry-after")).map(str::to_owned));
    let name = error.code().unwrap_or("no response").to_owned();
    Response::LambdaError { name, status, retry_after, message: failed(error).to_string() }
}

/// Returns true if the answer was cut off.
fn is_too_large(error: &(dyn Error + 'static)) -> bool {
    error.is::<LengthLimitError>() || error.source().is_some_and(is_too_large)
}

/// The limit of an answer's size, while it is read.
#[derive(Debug)]
struct AnswerLimit;

impl Intercept for AnswerLimit {
    fn name(&self) -> &'static str {
        "AnswerLimit"
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let body = context.response_mut().body_mut();
        let read = std::mem::replace(body, SdkBody::taken());
        *body = SdkBody::from_body_1_x(Limited::new(read, MAX_ANSWER_BYTES));
        Ok(())
    }
}
