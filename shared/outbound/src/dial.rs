//! Connections to endpoints: resolution, the checks of addresses, TCP, TLS.
//!
//! Addresses are checked twice. Every address that a name resolves to is checked before any is connected to, and only
//! those are connected to, so that a second resolution cannot replace them. Then the address of the connection itself
//! is checked, before a byte is sent.
//!
//! **One bad address refuses all.** A public name with a private address beside public ones is a mistake or an attack.
//! Using only the public ones would hide it, and would make the result depend on the order of an answer.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::address::{AddressClass, Purpose};
use crate::failure::{CallFailure, Phase, reason};
use crate::network::Network;
use crate::policy::LOCALHOST;
use crate::url::Origin;

/// Maximum number of a host's addresses that are tried.
const ADDRESSES: usize = 8;

/// The addresses that may be connected to.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum AddressRule {
    /// Global unicast.
    GlobalUnicast,
    /// Global unicast and loopback, in a local stack.
    OrLoopback,
}

impl AddressRule {
    fn check(self, address: IpAddr) -> Result<(), CallFailure> {
        match (AddressClass::of(address), self) {
            (AddressClass::GlobalUnicast, _) | (AddressClass::Special(Purpose::Loopback), Self::OrLoopback) => Ok(()),
            (AddressClass::Special(purpose), _) => Err(CallFailure::RefusedAddress { address, purpose }),
        }
    }
}

/// Opens connections.
pub(crate) struct Dialer {
    pub(crate) network: Arc<dyn Network>,
    pub(crate) tls: TlsConnector,
    pub(crate) rule: AddressRule,
}

impl Dialer {
    /// Opens a TLS connection to a checked address of the origin.
    pub(crate) async fn open(&self, origin: &Origin, until: Instant) -> Result<TlsStream<TcpStream>, CallFailure> {
        let addresses = within(until, Phase::Lookup, self.lookup(origin)).await?;
        let tcp = self.connect_any(&addresses, origin.port, until).await?;
        let peer = tcp.peer_addr().map_err(|error| CallFailure::Connect(reason(&error)))?;
        self.rule.check(peer.ip())?;
        within(until, Phase::Handshake, self.handshake(origin, tcp)).await
    }

    async fn lookup(&self, origin: &Origin) -> Result<Vec<IpAddr>, CallFailure> {
        if origin.host == LOCALHOST {
            // Never a question for DNS (RFC 6761).
            return self.checked(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        let found = self.network.resolve(&origin.host).await;
        self.checked(found.map_err(|error| CallFailure::Dns(reason(&error)))?)
    }

    /// Returns the addresses if there are any and all of them may be connected to.
    fn checked(&self, addresses: Vec<IpAddr>) -> Result<Vec<IpAddr>, CallFailure> {
        if addresses.is_empty() {
            return Err(CallFailure::Dns("the answer is empty".to_owned()));
        }
        addresses.iter().try_for_each(|address| self.rule.check(*address))?;
        Ok(addresses)
    }

    /// Connects to the first address that accepts. Each has an equal share of the time that is left.
    async fn connect_any(&self, addresses: &[IpAddr], port: u16, until: Instant) -> Result<TcpStream, CallFailure> {
        let tried = addresses.len().min(ADDRESSES);
        let mut failure = CallFailure::TimedOut(Phase::Connect);
        for (at, address) in addresses.iter().take(tried).enumerate() {
            let left = (tried - at) as u32;
            let share = until.saturating_duration_since(Instant::now()) / left;
            match self.connect(SocketAddr::new(*address, port), share).await {
                Ok(stream) => return Ok(stream),
                Err(failed) => failure = failed,
            }
        }
        Err(failure)
    }

    async fn connect(&self, address: SocketAddr, limit: Duration) -> Result<TcpStream, CallFailure> {
        within(Instant::now() + limit, Phase::Connect, async {
            let stream = self.network.connect(address).await.map_err(|error| CallFailure::Connect(reason(&error)))?;
            stream.set_nodelay(true).map_err(|error| CallFailure::Connect(reason(&error)))?;
            Ok(stream)
        })
        .await
    }

    async fn handshake(&self, origin: &Origin, tcp: TcpStream) -> Result<TlsStream<TcpStream>, CallFailure> {
        let failed = |error: io::Error| CallFailure::Tls(reason(&error));
        let name = ServerName::try_from(origin.host.clone()).map_err(|error| failed(io::Error::other(error)))?;
        self.tls.connect(name, tcp).await.map_err(failed)
    }
}

/// Runs a step of a call until this time.
pub(crate) async fn within<T>(
    until: Instant,
    phase: Phase,
    step: impl Future<Output = Result<T, CallFailure>>,
) -> Result<T, CallFailure> {
    timeout_at(until, step).await.unwrap_or(Err(CallFailure::TimedOut(phase)))
}
