//! Calls of either kind of target.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use aws_sdk_lambda::config::Builder as LambdaConfig;
use longshore::config::{self, Aws, CountCalls, names};
use longshore::remote::{CallHandlers, Calling, RemoteCall};
use longshore_domain::registration::Target;
use longshore_domain::timestamp::Timestamp;
use longshore_invoke::Functions;
use longshore_outbound::limits::Limits;
use longshore_targets::root_secret::RootSecretReader;
use longshore_targets::{AllowedTargets, local_permissions};

use super::endpoints::Endpoints;
use super::lambda;

/// The handlers that this stack may call.
pub struct Handlers {
    /// Name of the stack.
    pub stack: String,
    /// Maximum number of concurrent chunks of one type.
    pub max_concurrency: u32,
    /// The targets that may be called.
    pub targets: AllowedTargets,
    /// Lambda functions.
    pub functions: Functions,
    /// HTTPS endpoints.
    pub endpoints: Endpoints,
}

impl Handlers {
    /// Creates the calls from the environment. Nothing is read from AWS yet.
    ///
    /// # Errors
    /// If a setting is missing or cannot be read.
    pub fn from_env(aws: &Aws) -> Result<Self, lambda_runtime::Error> {
        let local = local_permissions()?;
        let targets = AllowedTargets::from_env(local.as_ref())?;
        let secret = RootSecretReader::from_env(aws);
        let endpoints = match local {
            Some(local) => Endpoints::local(Limits::default(), local, secret)?,
            None => Endpoints::new(Limits::default(), secret),
        };
        let base = aws.clone();
        let functions =
            Functions::new(move || LambdaConfig::from(&base.with_new_connections()).interceptor(CountCalls));
        let max_concurrency = config::handler_chunks_per_type()?;
        Ok(Self { stack: config::text(names::STACK)?, max_concurrency, targets, functions, endpoints })
    }
}

impl CallHandlers for Handlers {
    fn stack(&self) -> &str {
        &self.stack
    }

    fn max_concurrency(&self) -> u32 {
        self.max_concurrency
    }

    fn call<'a>(&'a self, call: RemoteCall<'a>) -> Calling<'a> {
        Box::pin(async move {
            match call.target {
                Target::Function(alias) => lambda::invoke(&self.functions, &self.targets, alias, call).await,
                Target::Url(url) => self.endpoints.call(&self.targets, url, call).await,
            }
        })
    }

    fn sleep(&self, until: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(time_until(until)))
    }
}

/// Returns the time until then; zero if it is past.
pub(crate) fn time_until(then: Timestamp) -> Duration {
    Duration::from_millis(then.millis_since(Timestamp::now()).unsigned_abs())
}
