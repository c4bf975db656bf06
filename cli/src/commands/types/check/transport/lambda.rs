//! Invocations of a Lambda function by the alias that jobs would use.

use std::time::Instant;

use aws_config::SdkConfig;
use aws_sdk_lambda::config::Builder;
use longshore_domain::registration::FunctionAlias;
use longshore_invoke::{Functions, Invocation, Invoked, Refused};

use super::super::exchange::{Exchange, Request, Response};
use crate::aws::with_advice;

/// Name of a failure without a response of Lambda.
const NO_RESPONSE: &str = "no response";

/// A function.
pub(in super::super) struct Function {
    functions: Functions,
    arn: String,
}

impl Function {
    /// Creates a function.
    pub(in super::super) fn new(config: &SdkConfig, alias: &FunctionAlias) -> Self {
        let config = config.clone();
        Self { functions: Functions::new(move || Builder::from(&config)), arn: alias.as_str().to_owned() }
    }

    pub(super) async fn call(&self, request: Request<'_>) -> Exchange {
        let begun = Instant::now();
        let invocation = Invocation { arn: &self.arn, payload: request.body, timeout: request.timeout };
        let response = response(self.functions.invoke(invocation).await);
        Exchange { response, headers: Default::default(), took: begun.elapsed() }
    }
}

fn response(invoked: Invoked) -> Response {
    match invoked {
        Invoked::Returned(payload) => Response::Returned(payload),
        Invoked::FunctionError(payload) => Response::FunctionError(payload),
        Invoked::TooLarge => Response::TooLarge,
        Invoked::TimedOut => Response::TimedOut("the function did not return in time".to_owned()),
        Invoked::Refused(refused) => Response::LambdaError {
            message: described(&refused),
            name: refused.name,
            status: Some(refused.status),
            retry_after: refused.retry_after,
        },
        Invoked::NoConnection(message) | Invoked::Broken(message) | Invoked::Unsent(message) => {
            let (name, message) = (NO_RESPONSE.to_owned(), with_advice(message));
            Response::LambdaError { name, status: None, retry_after: None, message }
        }
    }
}

fn described(refused: &Refused) -> String {
    if refused.message.is_empty() { refused.name.clone() } else { format!("{}: {}", refused.name, refused.message) }
}
