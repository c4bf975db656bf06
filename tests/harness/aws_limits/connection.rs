//! A client's connection, and its requests.

use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::Result;

use super::check::Checks;
use super::conflicts::InFlight;
use super::refused::{Refusals, Refused};
use super::request::{Body, Head};

/// Size of the blocks in which a response is forwarded.
const BLOCK_BYTES: usize = 64 * 1024;

/// A client's connection, with its own connection to the emulator.
pub(super) struct Connection {
    client: TcpStream,
    checks: Arc<Checks>,
    refusals: Arc<Refusals>,
    /// The write that has not been answered yet.
    in_flight: Arc<Mutex<Option<InFlight>>>,
}

impl Connection {
    pub(super) fn new(client: TcpStream, checks: Arc<Checks>, refusals: Arc<Refusals>) -> Self {
        Self { client, checks, refusals, in_flight: Arc::default() }
    }

    /// Forwards requests and responses until the client closes the connection.
    pub(super) fn serve(&self, upstream: &str) -> Result<()> {
        self.client.set_nodelay(true)?;
        let upstream = TcpStream::connect(upstream)?;
        upstream.set_nodelay(true)?;
        let (mut from_upstream, mut to_client) = (upstream.try_clone()?, self.client.try_clone()?);
        let in_flight = Arc::clone(&self.in_flight);
        let responses = thread::spawn(move || {
            // A client sends a request only after the response to the previous one, so these bytes belong to the
            // response to the last request.
            let mut bytes = vec![0; BLOCK_BYTES];
            while let Some(read) = from_upstream.read(&mut bytes).ok().filter(|read| *read > 0) {
                drop(replace(&in_flight, None));
                if to_client.write_all(&bytes[..read]).is_err() {
                    break;
                }
            }
            let _ = to_client.shutdown(Shutdown::Write);
        });
        let result = self.forward_requests(&upstream);
        let _ = upstream.shutdown(Shutdown::Write);
        let _ = responses.join();
        replace(&self.in_flight, None);
        result
    }

    fn forward_requests(&self, mut upstream: &TcpStream) -> Result<()> {
        let mut client = BufReader::new(&self.client);
        while let Some(head) = Head::read(&mut client)? {
            match head.body() {
                Body::Checked(length) => {
                    let mut body = vec![0; length];
                    client.read_exact(&mut body)?;
                    match self.checks.pass(&head, &body) {
                        Ok(write) => drop(replace(&self.in_flight, write)),
                        Err(refused) => {
                            self.refuse(&refused)?;
                            continue;
                        }
                    }
                    upstream.write_all(&[&head.bytes, body.as_slice()].concat())?;
                }
                Body::Forwarded(length) => {
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
        self.refusals.record(refused);
        Ok((&self.client).write_all(&refused.answer)?)
    }
}

/// Replaces the write in flight. Returns the previous one.
fn replace(in_flight: &Mutex<Option<InFlight>>, write: Option<InFlight>) -> Option<InFlight> {
    std::mem::replace(&mut in_flight.lock().unwrap_or_else(PoisonError::into_inner), write)
}
