//! Name resolution and TCP: the two operations that leave the process.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;

use tokio::net::{TcpStream, lookup_host};

/// A result that arrives later.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send + 'a>>;

/// Name resolution and TCP. Neither is trusted: the client checks the addresses that a name resolves to, and the address
/// that a connection has.
pub trait Network: Send + Sync {
    /// Resolves the name of a host.
    fn resolve<'a>(&'a self, host: &'a str) -> Later<'a, Vec<IpAddr>>;

    /// Connects to an address.
    fn connect(&self, address: SocketAddr) -> Later<'_, TcpStream>;
}

/// The resolver and the network of the operating system.
#[derive(Copy, Clone, Debug)]
pub struct SystemNetwork;

impl Network for SystemNetwork {
    /// Resolves a name by `getaddrinfo` on a thread of its own. The thread ends with the resolver's own time-out, even
    /// if the call has ended before.
    fn resolve<'a>(&'a self, host: &'a str) -> Later<'a, Vec<IpAddr>> {
        Box::pin(async move {
            // The dot at the end keeps the resolver from appending its search domains.
            let found = lookup_host((format!("{host}."), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }

    fn connect(&self, address: SocketAddr) -> Later<'_, TcpStream> {
        Box::pin(TcpStream::connect(address))
    }
}
