//! Calls with a count, and with waits while the handler is busy.

use std::cell::Cell;
use std::time::{Duration, Instant};

use longshore_domain::remote::{Backpressure, CallOutcome, PingOutcome};
use tokio::time::sleep;

use super::exchange::{Exchange, Request, Signature};
use super::transport::Transport;
use super::words;

/// Maximum number of times that a message is sent again to a busy handler.
const BUSY_RETRIES: u32 = 3;
/// Longest wait that is waited. A handler that asks for more is not called again before.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Number of calls after which no other check begins.
const MAX_CALLS: u32 = 60;
/// Time after which no other check begins, and as many calls that time out.
const MAX_TIME: Duration = Duration::from_secs(120);
const MAX_TIMEOUTS: u32 = 4;

/// An outcome that may ask for a later call.
pub(super) trait Verdict {
    /// Returns the request to call later, if this is one.
    fn backpressure(&self) -> Option<&Backpressure>;
}

/// A handler, and the limits of its use.
pub(super) struct Caller {
    transport: Transport,
    timeout: Duration,
    begun: Instant,
    calls: Cell<u32>,
}

/// A message that may be sent more than once.
pub(super) struct Message<'a, Build> {
    /// Start of its ids. Each call has another one, like those of Longshore.
    pub(super) name: &'a str,
    pub(super) signature: Signature,
    /// Builds the body with this id, at the time of a call.
    pub(super) build: Build,
}

/// The last exchange of a message.
pub(super) struct Heard<T> {
    pub(super) exchange: Exchange,
    pub(super) outcome: T,
    /// Number of times that the handler was busy.
    pub(super) busy: u32,
}

impl Caller {
    pub(super) fn new(transport: Transport, timeout: Duration) -> Self {
        Self { transport, timeout, begun: Instant::now(), calls: Cell::new(0) }
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(super) fn calls(&self) -> u32 {
        self.calls.get()
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    pub(super) fn is_https(&self) -> bool {
        matches!(self.transport, Transport::Https(_))
    }

    /// Returns true if no other check may begin.
    pub(super) fn is_spent(&self) -> bool {
        self.calls() >= MAX_CALLS || self.elapsed() > MAX_TIME + self.timeout * MAX_TIMEOUTS
    }

    /// Sends a message until the handler is not busy, and never before the time that it asked for.
    pub(super) async fn send<T: Verdict>(
        &self,
        message: Message<'_, impl Fn(&str) -> Vec<u8>>,
        decide: impl Fn(&Exchange) -> T,
    ) -> Heard<T> {
        let mut busy = 0;
        loop {
            self.calls.set(self.calls() + 1);
            let Message { name, signature, build } = &message;
            let id = id(name, self.calls());
            let request = Request { id: &id, body: build(&id), signature: *signature, timeout: self.timeout };
            let exchange = self.transport.call(request).await;
            let outcome = decide(&exchange);
            let Some(backpressure) = outcome.backpressure() else { return Heard { exchange, outcome, busy } };
            let wait = wait(backpressure, busy);
            busy += 1;
            if busy > BUSY_RETRIES || wait > LONGEST_WAIT {
                return Heard { exchange, outcome, busy };
            }
            sleep(wait).await;
        }
    }
}

/// Returns the id of a message's call. All of them have the same length, so that a batch has the same items with each.
pub(super) fn id(name: &str, call: u32) -> String {
    format!("{name}-{call:06}")
}

/// Returns the wait that the handler asked for, or 1, 2 and 4 seconds.
fn wait(backpressure: &Backpressure, retries: u32) -> Duration {
    backpressure.after.unwrap_or(Duration::from_secs(1 << retries))
}

impl<T> Heard<T> {
    /// Returns a note about the times at which the handler was busy.
    pub(super) fn busy_note(&self) -> Option<String> {
        (self.busy > 0).then(|| format!("busy {} before its answer", words::times(self.busy)))
    }
}

impl Heard<CallOutcome> {
    /// Describes what came back.
    pub(super) fn received(&self) -> String {
        let CallOutcome::Items(items) = &self.outcome else { return words::response(&self.exchange) };
        let (answered, all) = (items.answered(), items.outcomes().len());
        format!("{}: {answered} of {all} results: {}", words::answer(&self.exchange), words::counts(items.outcomes()))
    }
}

impl Verdict for CallOutcome {
    fn backpressure(&self) -> Option<&Backpressure> {
        if let Self::Parked(backpressure) = self { Some(backpressure) } else { None }
    }
}

impl Verdict for PingOutcome {
    fn backpressure(&self) -> Option<&Backpressure> {
        if let Self::Parked(backpressure) = self { Some(backpressure) } else { None }
    }
}
