//! The client: connections, exchanges and their reuse.
//!
//! It is built on hyper's HTTP/1.1 connection and not on reqwest. reqwest has hooks for the resolver and for redirects,
//! but none for the address of a connection, for the bytes of heads and chunks or for informational answers, and it
//! reads proxies from the environment unless told otherwise. There is no proxy, redirect, cookie or decompression here
//! to be turned off.

use std::sync::Arc;
use std::time::SystemTime;

use hyper::body::Bytes;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use crate::call::{Answer, Call, CallOutcome};
use crate::connection::{After, Connection, Exchanged, Outgoing, Unanswered};
use crate::dial::{AddressRule, Dialer};
use crate::failure::{CallFailure, Phase};
use crate::limits::Limits;
use crate::local::LocalOnly;
use crate::network::{Network, SystemNetwork};
use crate::pool::Pool;
use crate::probe::{AnswerHeaders, Probed, Signing};
use crate::retry_after::retry_after;
use crate::url::Origin;

/// A client for signed calls, and for downloads of public files. Calls may run concurrently; each has a connection of its own.
pub struct Client {
    dialer: Dialer,
    pool: Pool<Connection>,
    limits: Limits,
}

/// A client that cannot be created.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum ClientError {
    /// The operating system has no root certificates.
    #[error("The operating system has no root certificates ({0}). Install its package of CA certificates.")]
    NoRoots(String),
    /// TLS cannot be configured.
    #[error("TLS cannot be configured: {0}")]
    Tls(String),
}

impl Client {
    /// Creates a client that trusts the operating system's root certificates.
    ///
    /// # Errors
    /// Returns an error if there are none.
    pub fn new(limits: Limits) -> Result<Self, ClientError> {
        Self::with(limits, AddressRule::GlobalUnicast, Vec::new())
    }

    /// Creates the client of a local stack.
    ///
    /// # Errors
    /// Returns an error if there are no valid root certificates.
    pub fn local(limits: Limits, local: LocalOnly) -> Result<Self, ClientError> {
        Self::with(limits, AddressRule::OrLoopback, local.into_roots())
    }

    fn with(limits: Limits, rule: AddressRule, extra: Vec<CertificateDer<'static>>) -> Result<Self, ClientError> {
        let network = Arc::new(SystemNetwork);
        let dialer = Dialer { network, tls: tls(extra)?, rule };
        Ok(Self { dialer, pool: Pool::new(limits), limits })
    }

    /// Replaces resolver and TCP. The addresses are checked as before.
    #[must_use]
    pub fn with_network(mut self, network: Arc<dyn Network>) -> Self {
        self.dialer.network = network;
        self
    }

    /// Makes a call. The request is sent at most once.
    pub async fn post(&self, call: &Call<'_>) -> CallOutcome {
        self.probe(call, Signing::Signed).await.outcome
    }

    /// Makes a call that a check of an endpoint needs.
    pub async fn probe(&self, call: &Call<'_>, signing: Signing) -> Probed {
        match self.answer(call, signing).await {
            Ok((answer, headers)) => Probed { outcome: CallOutcome::Answered(answer), headers },
            Err(failure) => Probed { outcome: CallOutcome::Failed(failure), headers: AnswerHeaders::default() },
        }
    }

    async fn answer(&self, call: &Call<'_>, signing: Signing) -> Result<(Answer, AnswerHeaders), CallFailure> {
        let deadline = Instant::from_std(call.deadline);
        let begun = Instant::now();
        if deadline <= begun {
            return Err(CallFailure::TimedOut(Phase::Start));
        }
        let request = call.to_request(signing)?;
        let exchanged = self.exchange(call.url.origin(), request, &self.limits, deadline).await?;
        Ok((answer(&exchanged, call.now + begun.elapsed()), AnswerHeaders::new(exchanged.head.headers())))
    }

    /// Sends a request on an idle connection, or on a new one if there is none that takes it.
    pub(crate) async fn exchange(
        &self,
        origin: &Origin,
        mut request: Outgoing,
        limits: &Limits,
        deadline: Instant,
    ) -> Result<Exchanged, CallFailure> {
        while let Some(mut connection) = self.idle(origin).await {
            match connection.exchange(request, limits, deadline).await {
                Ok(exchanged) => return Ok(self.keep(origin, connection, exchanged)),
                Err(Unanswered::Failed(failure)) => return Err(failure),
                Err(Unanswered::Unsent(unsent)) => request = *unsent,
            }
        }
        let until = deadline.min(Instant::now() + limits.connect);
        let mut connection = Connection::start(self.dialer.open(origin, until).await?, limits).await?;
        match connection.exchange(request, limits, deadline).await {
            Ok(exchanged) => Ok(self.keep(origin, connection, exchanged)),
            Err(Unanswered::Failed(failure)) => Err(failure),
            Err(Unanswered::Unsent(_)) => Err(CallFailure::Closed("it was closed before the request".to_owned())),
        }
    }

    /// Keeps the connection of an exchange if it is ready for another request.
    fn keep(&self, origin: &Origin, connection: Connection, exchanged: Exchanged) -> Exchanged {
        if exchanged.after == After::Ready {
            let opened = connection.opened;
            self.pool.put(origin, connection, opened, SystemTime::now());
        }
        exchanged
    }

    /// Returns the limits of a call.
    pub(crate) const fn limits(&self) -> Limits {
        self.limits
    }

    /// Takes an idle connection that the server has not closed.
    async fn idle(&self, origin: &Origin) -> Option<Connection> {
        // After the process was suspended, the drivers of the connections find out which are closed.
        tokio::task::yield_now().await;
        std::iter::from_fn(|| self.pool.take(origin, SystemTime::now())).find(Connection::is_ready)
    }
}

pub(crate) fn answer(exchanged: &Exchanged, now: SystemTime) -> Answer {
    let Exchanged { head, body, .. } = exchanged;
    let body: Bytes = body.clone();
    Answer { status: head.status().as_u16(), retry_after: retry_after(head.headers(), now), body }
}

/// Configures TLS 1.2 and 1.3 with the same cryptography as the AWS SDK, so that a binary has one.
fn tls(extra: Vec<CertificateDer<'static>>) -> Result<TlsConnector, ClientError> {
    let native = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(native.certs.into_iter().chain(extra));
    if roots.is_empty() {
        let errors: Vec<_> = native.errors.iter().map(ToString::to_string).collect();
        return Err(ClientError::NoRoots(errors.join("; ")));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| ClientError::Tls(error.to_string()))?;
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}
