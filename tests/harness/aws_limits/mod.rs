//! A proxy in front of the emulator that refuses what AWS refuses and the emulator takes, by the table and the checks of
//! [`longshore::aws_limits`].
//!
//! It runs in threads of this process. Only requests are read; answers are passed on as they come. A refusal is written
//! in the service's own form, so that a client cannot tell it from AWS's, and is kept for [`LimitsProxy::refusals`].

mod check;
mod dynamodb;
mod request;
mod s3;
mod sqs;

use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};

use check::Checks;
use request::{Body, Head};

/// A running proxy; it ends with this process.
#[derive(Clone, Debug)]
pub struct LimitsProxy {
    /// Where it answers, without a slash at the end.
    pub endpoint: String,
    refusals: Arc<Mutex<Vec<String>>>,
}

impl LimitsProxy {
    /// A proxy in front of `upstream`, which need not run yet.
    ///
    /// # Errors
    /// If there is no port.
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
                    // A connection that breaks is broken for both sides.
                    let _ = Connection { client, checks, refusals }.serve(&upstream);
                });
            }
        });
        Ok(proxy)
    }

    /// Calls that were refused so far: operation, code and message.
    pub fn refusals(&self) -> Vec<String> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A client's connection, with one to the emulator for its requests alone.
struct Connection {
    client: TcpStream,
    checks: Arc<Checks>,
    refusals: Arc<Mutex<Vec<String>>>,
}

impl Connection {
    fn serve(&self, upstream: &str) -> Result<()> {
        self.client.set_nodelay(true)?;
        let upstream = TcpStream::connect(upstream)?;
        upstream.set_nodelay(true)?;
        let (mut answers, mut back) = (upstream.try_clone()?, self.client.try_clone()?);
        let returns = thread::spawn(move || {
            // Clients send a request only after the answer to the one before: what comes is the answer to the last one.
            let _ = std::io::copy(&mut answers, &mut back);
            let _ = back.shutdown(Shutdown::Write);
        });
        let served = self.requests(&upstream);
        let _ = upstream.shutdown(Shutdown::Write);
        let _ = returns.join();
        served
    }

    fn requests(&self, mut upstream: &TcpStream) -> Result<()> {
        let mut client = BufReader::new(&self.client);
        while let Some(head) = Head::read(&mut client)? {
            match head.body() {
                Body::Whole(length) => {
                    let mut body = vec![0; length];
                    client.read_exact(&mut body)?;
                    if let Some(refused) = self.checks.refuse(&head, &body) {
                        self.note(&refused.call);
                        (&self.client).write_all(&refused.answer)?;
                        continue;
                    }
                    upstream.write_all(&[&head.bytes, body.as_slice()].concat())?;
                }
                Body::Passed(length) => {
                    if let Some(refused) = self.checks.refuse(&head, &[]) {
                        self.note(&refused.call);
                        std::io::copy(&mut (&mut client).take(length), &mut std::io::sink())?;
                        (&self.client).write_all(&refused.answer)?;
                        continue;
                    }
                    self.checks.note_part(&head, length);
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

    fn note(&self, refused: &str) {
        eprintln!("AWS would refuse: {refused}");
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).push(refused.to_owned());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests;
