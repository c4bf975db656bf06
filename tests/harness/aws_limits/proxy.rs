//! The proxy's listener.

use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result};

use super::check::Checks;
use super::connection::Connection;
use super::refused::Refusals;

/// A running proxy. It ends with this process.
#[derive(Clone, Debug)]
pub struct LimitsProxy {
    /// Base URL of the proxy, without a trailing slash.
    pub endpoint: String,
    refusals: Arc<Refusals>,
}

impl LimitsProxy {
    /// Starts a proxy in front of `upstream`, which need not run yet.
    ///
    /// # Errors
    /// If no port is free.
    pub fn start(upstream: &str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no port is free for the proxy")?;
        let upstream = upstream.strip_prefix("http://").context("the upstream is not an http:// URL")?.to_owned();
        let proxy = Self { endpoint: format!("http://{}", listener.local_addr()?), refusals: Arc::default() };
        let checks = Arc::new(Checks::default());
        let refusals = Arc::clone(&proxy.refusals);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (upstream, checks, refusals) = (upstream.clone(), Arc::clone(&checks), Arc::clone(&refusals));
                thread::spawn(move || {
                    // An error on the connection closes both sides.
                    let _ = Connection::new(client, checks, refusals).serve(&upstream);
                });
            }
        });
        Ok(proxy)
    }

    /// Calls that have been refused so far because of a limit: operation, code and message.
    pub fn refusals(&self) -> Vec<String> {
        self.refusals.limits()
    }

    /// Number of calls that have been refused so far because of a conflict with a transaction.
    pub fn conflicts(&self) -> usize {
        self.refusals.conflicts()
    }
}
