//! Calls of Lambda functions.

use longshore::remote::{NotCalled, RemoteCall, RemoteReply};
use longshore_domain::registration::FunctionAlias;
use longshore_domain::remote::ConnectionError;
use longshore_invoke::{Functions, Invocation, Invoked};
use longshore_targets::AllowedTargets;

use super::handlers::time_until;

/// Invokes a function, if its list has it.
pub(super) async fn invoke(
    functions: &Functions,
    targets: &AllowedTargets,
    alias: &FunctionAlias,
    call: RemoteCall<'_>,
) -> Result<RemoteReply, NotCalled> {
    if !targets.may_call(alias) {
        return Ok(RemoteReply::Connection(ConnectionError::NotAllowed));
    }
    let timeout = time_until(call.deadline);
    let invoked = functions.invoke(Invocation { arn: alias.as_str(), payload: call.body, timeout }).await;
    if let Some(detail) = detail(&invoked) {
        tracing::warn!(job.r#type = call.job_type, call = call.id, function = %alias, detail, "no answer of a function");
    }
    reply(invoked)
}

/// Returns what the reply does not have, for operators.
fn detail(invoked: &Invoked) -> Option<&str> {
    match invoked {
        Invoked::Refused(refused) => Some(&refused.message),
        Invoked::NoConnection(detail) | Invoked::Broken(detail) => Some(detail),
        _ => None,
    }
}

fn reply(invoked: Invoked) -> Result<RemoteReply, NotCalled> {
    Ok(match invoked {
        Invoked::Returned(payload) => RemoteReply::Returned { payload },
        Invoked::FunctionError(payload) => RemoteReply::FunctionError { payload },
        Invoked::Refused(refused) => RemoteReply::LambdaError {
            name: refused.name,
            status: Some(refused.status),
            retry_after: refused.retry_after,
        },
        Invoked::TooLarge => RemoteReply::TooLarge { body: Vec::new() },
        Invoked::TimedOut => RemoteReply::TimedOut,
        Invoked::NoConnection(_) => RemoteReply::Connection(ConnectionError::Connect),
        Invoked::Broken(_) => RemoteReply::Connection(ConnectionError::Protocol),
        Invoked::Unsent(detail) => return Err(NotCalled::new("the invocation cannot be written", detail)),
    })
}
