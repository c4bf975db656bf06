//! The root secret, from which the secrets of endpoints are derived: a secret in AWS Secrets Manager.
//!
//! It is read at the first call of an endpoint, and again after [`KEPT_FOR`]. While the service is unavailable, the earlier
//! one is used. Without one, no call is made: a request with another signature would look like an attack.
//! Neither its value nor a response with it is logged.

use std::fmt;
use std::time::Duration;

use aws_sdk_secretsmanager::Client;
use aws_sdk_secretsmanager::config::Builder;
use aws_sdk_secretsmanager::error::ProvideErrorMetadata;
use aws_sdk_secretsmanager::operation::get_secret_value::GetSecretValueError;
use longshore::config::{self, Aws, CountCalls, names};
use longshore_domain::ids::EndpointId;
use longshore_outbound::secret::{RootSecret, SecretError, Secrets};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// Time after which the secret is read again.
pub const KEPT_FOR: Duration = Duration::from_secs(300);

/// Time after a failed read until the next one, while an earlier secret is used.
pub const RETRY_AFTER: Duration = Duration::from_secs(30);

/// Maximum age of an earlier secret that is used.
pub const MAX_AGE: Duration = Duration::from_secs(3_600);

/// Time for which a known secret is used: about 30 years.
const KNOWN_FOR: Duration = Duration::from_secs(1_000_000_000);

/// Maximum time of a read with its repetitions: less than half of the time of a ping.
const READ_TIMEOUT: Duration = Duration::from_secs(4);

/// The reader of the root secret. By default there is none.
#[derive(Default)]
pub struct RootSecretReader {
    stored: Option<Stored>,
    kept: Mutex<Option<Kept>>,
}

/// Place of the root secret.
struct Stored {
    client: Client,
    arn: String,
}

struct Kept {
    secret: RootSecret,
    read_at: Instant,
    /// Time of the next read.
    again_at: Instant,
}

/// A root secret that cannot be read or used.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum RootSecretError {
    /// The stack has no root secret.
    #[error("the environment variable {} is not set", names::ROOT_SECRET_ARN)]
    NotSet,
    /// No response in time.
    #[error("the root secret was not read within {} s", READ_TIMEOUT.as_secs())]
    TimedOut,
    /// The service is unavailable, or there was no response.
    #[error("the root secret cannot be read now: {0}")]
    Unavailable(String),
    /// The service refused the read.
    #[error("the root secret cannot be read: {0}")]
    Refused(String),
    /// A secret without text.
    #[error("the root secret has no text")]
    NotText,
    /// A secret that is too short.
    #[error("the root secret cannot be used")]
    Unusable(#[from] SecretError),
}

impl fmt::Debug for RootSecretReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RootSecretReader")
    }
}

impl RootSecretReader {
    /// Creates the reader of the secret with this ARN.
    pub fn new(client: Client, arn: impl Into<String>) -> Self {
        Self { stored: Some(Stored { client, arn: arn.into() }), kept: Mutex::default() }
    }

    /// Creates a reader of a secret that the caller has, for tests and benchmarks.
    pub fn known(secret: RootSecret) -> Self {
        let now = Instant::now();
        let kept = Kept { secret, read_at: now, again_at: now + KNOWN_FOR };
        Self { stored: None, kept: Mutex::new(Some(kept)) }
    }

    /// Creates the reader of the secret that `LONGSHORE_ROOT_SECRET_ARN` names. A stack that calls functions only may
    /// have none.
    pub fn from_env(aws: &Aws) -> Self {
        let Ok(arn) = config::text(names::ROOT_SECRET_ARN) else { return Self::default() };
        let config = Builder::from(aws.config()).interceptor(CountCalls).build();
        Self::new(Client::from_conf(config), arn)
    }

    /// Returns the secrets with which calls of a job type are signed.
    ///
    /// # Errors
    /// If the root secret cannot be read or used.
    pub async fn of_job_type(&self, name: &str) -> Result<Secrets, RootSecretError> {
        Ok(Secrets::One(self.root().await?.derive_for_job_type(name)?))
    }

    /// Returns the secrets with which calls of a webhook's endpoint are signed: this version, and the one before during a
    /// rotation.
    ///
    /// # Errors
    /// If the root secret cannot be read or used.
    pub async fn of_webhook(
        &self,
        id: EndpointId,
        version: u32,
        previous: Option<u32>,
    ) -> Result<Secrets, RootSecretError> {
        let (root, endpoint) = (self.root().await?, format!("webhook/{id}"));
        let new = root.derive(&endpoint, version)?;
        Ok(match previous {
            Some(previous) => Secrets::Rotating { new, old: root.derive(&endpoint, previous)? },
            None => Secrets::One(new),
        })
    }

    async fn root(&self) -> Result<RootSecret, RootSecretError> {
        let mut kept = self.kept.lock().await;
        if kept.as_ref().is_none_or(|kept| kept.again_at <= Instant::now()) {
            self.renew(&mut kept).await?;
        }
        kept.as_ref().map(|kept| kept.secret.clone()).ok_or(RootSecretError::NotSet)
    }

    /// Reads the secret. While the service is unavailable, an earlier one is still used, for at most [`MAX_AGE`].
    async fn renew(&self, kept: &mut Option<Kept>) -> Result<(), RootSecretError> {
        use RootSecretError::{TimedOut, Unavailable};
        let now = Instant::now();
        match (self.read().await, kept.as_mut()) {
            (Ok(secret), _) => *kept = Some(Kept { secret, read_at: now, again_at: now + KEPT_FOR }),
            (Err(error @ (TimedOut | Unavailable(_))), Some(earlier)) if earlier.read_at + MAX_AGE > now => {
                tracing::warn!(%error, "the root secret cannot be read again; the earlier one is used");
                earlier.again_at = Instant::now() + RETRY_AFTER;
            }
            (Err(error), _) => {
                *kept = None;
                return Err(error);
            }
        }
        Ok(())
    }

    async fn read(&self) -> Result<RootSecret, RootSecretError> {
        let Stored { client, arn } = self.stored.as_ref().ok_or(RootSecretError::NotSet)?;
        let read = timeout(READ_TIMEOUT, client.get_secret_value().secret_id(arn).send());
        let output = read.await.map_err(|_| RootSecretError::TimedOut)?;
        let output = output.map_err(|error| {
            // The debug form of an error can have the response.
            let code = error.code().unwrap_or("no response").to_owned();
            let is_refused = error.as_service_error().is_some_and(|error| !is_transient(error));
            if is_refused { RootSecretError::Refused(code) } else { RootSecretError::Unavailable(code) }
        })?;
        let secret = output.secret_string.ok_or(RootSecretError::NotText)?;
        Ok(RootSecret::from_bytes(secret.as_bytes())?)
    }
}

/// Returns true if the service can answer later. The codes are those of
/// <https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html> and of every service of AWS.
fn is_transient(error: &GetSecretValueError) -> bool {
    let code = error.code().unwrap_or_default();
    code.starts_with("Internal") || code.contains("Throttl") || code == "ServiceUnavailable"
}
