//! A proxy in front of the emulator that refuses what AWS refuses and the emulator accepts. It uses the table and the
//! checks of [`longshore::aws_limits`].
//!
//! The proxy runs in threads of this process. It reads requests only; responses are forwarded as they arrive. A
//! refusal has the service's own form, so a client cannot tell it from AWS's. [`LimitsProxy::refusals`] returns the
//! refusals caused by a limit; [`LimitsProxy::conflicts`] counts conflicts of transactions.

mod check;
mod conflicts;
mod dynamodb;
mod refused;
mod request;
mod s3;
mod sqs;

use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};

use check::Checks;
use conflicts::InFlight;
use refused::Refused;
use request::{Body, Head};

/// Size of the blocks in which a response is forwarded.
const ANSWER_BYTES: usize = 64 * 1024;

/// A running proxy. It ends with this process.
#[derive(Clone, Debug)]
pub struct LimitsProxy {
    /// Base URL of the proxy, without a trailing slash.
    pub endpoint: String,
    refusals: Arc<Refusals>,
}

/// Refusals so far.
#[derive(Debug, Default)]
struct Refusals {
    limits: Mutex<Vec<String>>,
    conflicts: AtomicUsize,
}

impl LimitsProxy {
    /// Starts a proxy in front of `upstream`, which need not run yet.
    ///
    /// # Errors
    /// If no port is free.
    pub fn start(upstream: &str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no port for the proxy")?;
        let upstream = upstream.strip_prefix("http://").context("the upstream is no http:// URL")?.to_owned();
        let proxy = Self { endpoint: format!("http://{}", listener.local_addr()?), refusals: Arc::default() };
        let checks = Arc::new(Checks::default());
        let refusals = Arc::clone(&proxy.refusals);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (upstream, checks, refusals) = (upstream.clone(), Arc::clone(&checks), Arc::clone(&refusals));
                thread::spawn(move || {
                    // An error on the connection closes both sides.
                    let _ = Connection { client, checks, refusals, in_flight: Arc::default() }.serve(&upstream);
                });
            }
        });
        Ok(proxy)
    }

    /// Calls that have been refused so far: operation, code and message.
    pub fn refusals(&self) -> Vec<String> {
        self.refusals.limits.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Number of calls that have been refused so far because of a conflict with a transaction.
    pub fn conflicts(&self) -> usize {
        self.refusals.conflicts.load(Ordering::Relaxed)
    }
}

/// A client's connection, with its own connection to the emulator.
struct Connection {
    client: TcpStream,
    checks: Arc<Checks>,
    refusals: Arc<Refusals>,
    /// The write that has not been answered yet.
    in_flight: Arc<Mutex<Option<InFlight>>>,
}

impl Connection {
    fn serve(&self, upstream: &str) -> Result<()> {
        self.client.set_nodelay(true)?;
        let upstream = TcpStream::connect(upstream)?;
        upstream.set_nodelay(true)?;
        let (mut answers, mut back) = (upstream.try_clone()?, self.client.try_clone()?);
        let in_flight = Arc::clone(&self.in_flight);
        let returns = thread::spawn(move || {
            // Clients send a request only after the response to the previous one: incoming bytes belong to the
            // response to the last request.
            let mut bytes = vec![0; ANSWER_BYTES];
            while let Some(read) = answers.read(&mut bytes).ok().filter(|read| *read > 0) {
                drop(hold(&in_flight, None));
                if back.write_all(&bytes[..read]).is_err() {
                    break;
                }
            }
            let _ = back.shutdown(Shutdown::Write);
        });
        let served = self.requests(&upstream);
        let _ = upstream.shutdown(Shutdown::Write);
        let _ = returns.join();
        hold(&self.in_flight, None);
        served
    }

    fn requests(&self, mut upstream: &TcpStream) -> Result<()> {
        let mut client = BufReader::new(&self.client);
        while let Some(head) = Head::read(&mut client)? {
            match head.body() {
                Body::Whole(length) => {
                    let mut body = vec![0; length];
                    client.read_exact(&mut body)?;
                    match self.checks.pass(&head, &body) {
                        Ok(write) => drop(hold(&self.in_flight, write)),
                        Err(refused) => {
                            self.refuse(&refused)?;
                            continue;
                        }
                    }
                    upstream.write_all(&[&head.bytes, body.as_slice()].concat())?;
                }
                Body::Passed(length) => {
                    if let Err(refused) = self.checks.pass(&head, &[]) {
                        std::io::copy(&mut (&mut client).take(length), &mut std::io::sink())?;
                        self.refuse(&refused)?;
                        continue;
                    }
                    self.checks.record_part(&head, length);
                    upstream.write_all(&head.bytes)?;
                    std::io::copy(&mut (&mut client).take(length), &mut upstream)?;
                }
                Body::Unknown => {
                    upstream.write_all(&head.bytes)?;
                    std::io::copy(&mut client, &mut upstream)?;
                }
            }
        }
        Ok(())
    }

    fn refuse(&self, refused: &Refused) -> Result<()> {
        match &refused.limit {
            Some(limit) => {
                eprintln!("AWS would refuse: {limit}");
                self.refusals.limits.lock().unwrap_or_else(PoisonError::into_inner).push(limit.clone());
            }
            None => drop(self.refusals.conflicts.fetch_add(1, Ordering::Relaxed)),
        }
        Ok((&self.client).write_all(&refused.answer)?)
    }
}

/// Stores a write, or none. Returns the write that was stored before.
fn hold(place: &Mutex<Option<InFlight>>, write: Option<InFlight>) -> Option<InFlight> {
    std::mem::replace(&mut place.lock().unwrap_or_else(PoisonError::into_inner), write)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests;
