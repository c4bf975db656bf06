//! The calls of a stack over stubs, and its settings.

use aws_sdk_lambda::config::{Builder as LambdaConfig, Credentials, Region};
use call_handler::endpoints::Endpoints;
use call_handler::handlers::Handlers;
use longshore::config::Aws;
use longshore::remote::{CallHandlers, NotCalled, RemoteCall, RemoteReply};
use longshore_domain::ids::JobId;
use longshore_domain::registration::{AllowedFunctions, FunctionAlias, Target};
use longshore_domain::timestamp::Timestamp;
use longshore_invoke::Functions;
use longshore_outbound::policy::UrlPolicy;
use longshore_targets::AllowedTargets;
use longshore_targets::root_secret::RootSecretReader;

use crate::stub::{Reaction, Stub, response};
use crate::tls::{Authority, limits};

/// The alias that the list has.
pub(crate) const ALIAS: &str = "arn:aws:lambda:eu-central-1:123456789012:function:invite:live";
/// The root secret.
pub(crate) const SECRET: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ01";
/// ARN of the root secret.
pub(crate) const SECRET_ARN: &str = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:root";
/// Time-out of a call in seconds, the longest that a registration can have.
pub(crate) const TIMEOUT_S: i64 = 110;

/// Returns the configuration of AWS with an endpoint.
pub(crate) fn aws(url: &str) -> Aws {
    let credentials = Credentials::new("key", "secret", None, None, "test");
    Aws::new(Region::from_static("eu-central-1"), credentials, Some(url.to_owned()))
}

/// Returns a reader of the root secret.
pub(crate) fn root_secret(url: &str) -> RootSecretReader {
    let config = aws_sdk_secretsmanager::config::Builder::from(aws(url).config()).build();
    RootSecretReader::new(aws_sdk_secretsmanager::Client::from_conf(config), SECRET_ARN)
}

/// Returns a stub of Secrets Manager with the root secret.
pub(crate) async fn secrets() -> Stub {
    let body = format!(r#"{{"ARN":"{SECRET_ARN}","SecretString":"{SECRET}"}}"#);
    Stub::always(Reaction::Respond(response(200, "", body))).await
}

/// Returns the calls of a stack that trusts an authority, and that allows [`ALIAS`] and `localhost` at this port.
pub(crate) fn handlers(aws_url: &str, authority: &Authority, port: u16) -> Handlers {
    let local = authority.local_only();
    let urls = UrlPolicy::new([], [port]).unwrap().with_localhost(&local);
    let base = aws(aws_url);
    Handlers {
        stack: "longshore-test".into(),
        max_concurrency: 5,
        targets: AllowedTargets { functions: AllowedFunctions::read(ALIAS).unwrap(), urls, image_function: None },
        functions: Functions::new(move || LambdaConfig::from(&base.with_new_connections())),
        endpoints: Endpoints::local(limits(), local, root_secret(aws_url)).unwrap(),
    }
}

/// Calls a target as a worker does, with the longest time-out.
pub(crate) async fn call(handlers: &Handlers, target: &Target) -> Result<RemoteReply, NotCalled> {
    call_with(handlers, target, b"{\"items\":[]}".to_vec()).await
}

/// Calls a target with a body.
pub(crate) async fn call_with(handlers: &Handlers, target: &Target, body: Vec<u8>) -> Result<RemoteReply, NotCalled> {
    let deadline = Timestamp::now().plus_seconds(TIMEOUT_S);
    let trace = Some(JobId(uuid::Uuid::from_u128(0xa1)).into());
    handlers.call(RemoteCall { target, job_type: "invite", trace, id: "batch-1", body, deadline }).await
}

/// Returns a function as a target.
pub(crate) fn function(arn: &str) -> Target {
    Target::Function(FunctionAlias::parse(arn).unwrap())
}
