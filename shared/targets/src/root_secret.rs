//! The root secret, from which the secrets of endpoints are derived: a secret in AWS Secrets Manager.
//!
//! It is read at the first call of an endpoint, and again after [`KEPT_FOR`]. If it cannot be read, no call is made: a
//! request with another signature would look like an attack. Neither its value nor a response with it is logged.

use std::fmt;
use std::time::Duration;

use aws_sdk_secretsmanager::Client;
use aws_sdk_secretsmanager::config::Builder;
use aws_sdk_secretsmanager::error::ProvideErrorMetadata;
use longshore::config::{self, Aws, CountCalls, names};
use longshore_outbound::secret::{RootSecret, SecretError, Secrets};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// Time after which the secret is read again.
pub const KEPT_FOR: Duration = Duration::from_secs(300);

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
    /// The service refused the read, or there was no response.
    #[error("the root secret cannot be read: {0}")]
    Read(String),
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
        let mut kept = self.kept.lock().await;
        let fresh = kept.take().filter(|kept| kept.read_at.elapsed() < KEPT_FOR);
        let current = match fresh {
            Some(fresh) => fresh,
            None => Kept { read_at: Instant::now(), secret: self.read().await? },
        };
        let secret = current.secret.derive_for_job_type(name);
        *kept = Some(current);
        Ok(Secrets::One(secret?))
    }

    async fn read(&self) -> Result<RootSecret, RootSecretError> {
        let Stored { client, arn } = self.stored.as_ref().ok_or(RootSecretError::NotSet)?;
        let read = timeout(READ_TIMEOUT, client.get_secret_value().secret_id(arn).send());
        let output = read.await.map_err(|_| RootSecretError::TimedOut)?;
        // The debug form of an error can have the response.
        let output = output.map_err(|error| RootSecretError::Read(error.code().unwrap_or("no response").to_owned()))?;
        let secret = output.secret_string.ok_or(RootSecretError::NotText)?;
        Ok(RootSecret::from_bytes(secret.as_bytes())?)
    }
}
