//! A handler that does nothing, as a Lambda function or as an HTTPS endpoint, and the calls of it.

use std::sync::Arc;

use anyhow::{Context, Result};
use aws_sdk_lambda::config::retry::RetryConfig;
use aws_sdk_lambda::config::{Builder as LambdaConfig, Credentials, Region, StalledStreamProtectionConfig};
use aws_sdk_secretsmanager::config::Builder as SecretsConfig;
use call_handler::endpoints::Endpoints;
use call_handler::handlers::Handlers;
use longshore::config::{Aws, CountCalls};
use longshore_domain::registration::{
    Activation, AllowedFunctions, FunctionAlias, Registration, Target as RegisteredTarget, TypeName, Version,
    VersionedRegistration,
};
use longshore_domain::remote::Mode;
use longshore_domain::timestamp::Timestamp;
use longshore_invoke::Functions;
use longshore_outbound::limits::Limits;
use longshore_outbound::policy::UrlPolicy;
use longshore_targets::AllowedTargets;
use longshore_targets::root_secret::RootSecretReader;
use rustls::ClientConfig;

use super::authority::{Authority, HOST};
use super::server::{Handler, PATH, SECRET_ARN, Server};

/// Name of the job type.
pub(super) const JOB_TYPE: &str = "nothing";

/// Alias of the function.
pub(super) const ALIAS: &str = "arn:aws:lambda:eu-central-1:123456789012:function:nothing:live";

/// Kind of a handler.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Kind {
    Function,
    Endpoint,
}

/// A handler that does nothing.
pub(super) struct Target {
    pub(super) kind: Kind,
    /// The server of AWS.
    aws: Server,
    /// The server of the endpoint.
    https: Server,
    authority: Authority,
}

impl Target {
    pub(super) fn new(kind: Kind, handler: Handler) -> Result<Self> {
        let authority = Authority::new()?;
        let https = Server::with_tls(handler, authority.server()?)?;
        Ok(Self { kind, aws: Server::plain(handler)?, https, authority })
    }

    /// Returns the server that receives the batches.
    pub(super) fn server(&self) -> &Server {
        match self.kind {
            Kind::Function => &self.aws,
            Kind::Endpoint => &self.https,
        }
    }

    /// Returns the registration: 100 items a call, and no rate limit.
    pub(super) fn registration(&self) -> Result<VersionedRegistration> {
        let target = match self.kind {
            Kind::Function => RegisteredTarget::Function(FunctionAlias::parse(ALIAS)?),
            Kind::Endpoint => RegisteredTarget::Url(format!("https://{HOST}:{}{PATH}", self.https.port)),
        };
        let (registration, now) = (Registration::new(TypeName::parse(JOB_TYPE)?, target), Timestamp::now());
        let activation = Activation { modes: vec![Mode::Run], at: now };
        Ok(VersionedRegistration { version: Version::generate(now), registration, activation })
    }

    /// Returns the calls of call-handler, as it creates them from its environment.
    pub(super) fn handlers(&self) -> Result<Handlers> {
        let (aws, local) = (self.aws(), self.authority.local_only()?);
        let secrets = SecretsConfig::from(aws.config()).interceptor(CountCalls).build();
        let secret = RootSecretReader::new(aws_sdk_secretsmanager::Client::from_conf(secrets), SECRET_ARN);
        let urls = UrlPolicy::new([], [self.https.port])?.with_localhost(&local);
        let functions = AllowedFunctions::read(ALIAS).map_err(anyhow::Error::msg)?;
        Ok(Handlers {
            stack: "bench".into(),
            max_concurrency: u32::MAX,
            targets: AllowedTargets { functions, urls, image_function: None },
            functions: Functions::new(move || LambdaConfig::from(&aws.with_new_connections()).interceptor(CountCalls)),
            endpoints: Endpoints::local(Limits::default(), local, secret)?,
        })
    }

    /// Returns a bare client of Lambda, which repeats nothing.
    pub(super) fn lambda(&self) -> aws_sdk_lambda::Client {
        let config = LambdaConfig::from(&self.aws().with_new_connections())
            .retry_config(RetryConfig::disabled())
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
        aws_sdk_lambda::Client::from_conf(config.build())
    }

    /// Returns the TLS of a bare client of the endpoint.
    pub(super) fn tls(&self) -> Result<Arc<ClientConfig>> {
        self.authority.client().context("the TLS of a client")
    }

    fn aws(&self) -> Aws {
        let credentials = Credentials::new("key", "secret", None, None, "bench");
        let url = format!("http://127.0.0.1:{}", self.aws.port);
        Aws::new(Region::from_static("eu-central-1"), credentials, Some(url))
    }
}
