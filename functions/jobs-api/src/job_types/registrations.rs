//! Services of registered job types, and the targets of registrations.

use longshore::http::Bad;
use longshore::telemetry;
use longshore_domain::message::PingMessage;
use longshore_domain::ports::PingQueue;
use longshore_domain::registration::{FunctionAlias, Target};
use longshore_outbound::url::UrlError;
use longshore_targets::AllowedTargets;
use longshore_targets::root_secret::RootSecretReader;

/// Store of job types, the queue of their pings, and the allowed targets.
#[derive(Debug)]
pub struct Registrations<J, P> {
    /// Store of job types.
    pub store: J,
    /// Queue of pings.
    pub pings: P,
    /// Targets that registrations may name.
    pub targets: AllowedTargets,
    /// Reader of the secret from which those of endpoints are derived.
    pub root_secret: RootSecretReader,
}

/// Reads a function.
///
/// # Errors
/// `invalid_target` for other texts than the ARN of an alias, `target_not_allowed` for a function that the list does not
/// have.
pub(super) fn function(targets: &AllowedTargets, text: &str) -> Result<Target, Bad> {
    let alias = FunctionAlias::parse(text).map_err(|bad| Bad::new("invalid_target", bad.to_string()))?;
    if targets.permits(&alias) {
        return Ok(Target::Function(alias));
    }
    let detail = "the function is not allowed; ask the owner of the stack to add this ARN to the parameter \
                  HandlerFunctions; functions of the stack itself are never allowed";
    Err(Bad::new("target_not_allowed", detail))
}

/// Reads a URL.
///
/// # Errors
/// `invalid_target` for a text that is no HTTPS URL, `target_not_allowed` for a host or a port that the lists do not have.
pub(super) fn url(targets: &AllowedTargets, text: &str) -> Result<Target, Bad> {
    match targets.url(text) {
        Ok(_) => Ok(Target::Url(text.to_owned())),
        Err(error @ (UrlError::HostNotAllowed(_) | UrlError::PortNotAllowed(_))) => {
            Err(Bad::new("target_not_allowed", error.to_string()))
        }
        Err(error) => Err(Bad::new("invalid_target", error.to_string())),
    }
}

impl<J, P> Registrations<J, P> {
    /// Creates the services of a stack that permits no target and has no root secret.
    pub fn new(store: J, pings: P) -> Self {
        Self { store, pings, targets: AllowedTargets::default(), root_secret: RootSecretReader::default() }
    }
}

impl<J, P: PingQueue> Registrations<J, P> {
    /// Asks for the ping of a stored candidate. If the message cannot be sent, the candidate stays pending, and a
    /// repeated PUT sends it again.
    pub(super) async fn ask_for_ping(&self, message: &PingMessage) {
        if let Err(error) = self.pings.send_ping(message).await {
            let error = telemetry::chain(&error);
            tracing::warn!(job_type = %message.name, error, "cannot ask for a ping; a repeated PUT asks again");
        }
    }
}
