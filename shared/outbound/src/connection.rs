//! One HTTP/1.1 connection, and the exchange of a request for an answer.

use std::time::{Duration, SystemTime};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::body::BodyReader;
use crate::budget::{Metered, ReadBudget};
use crate::failure::{CallFailure, Part, Phase};
use crate::limits::Limits;

/// Maximum wait for a connection to become ready for another request, after a complete answer. It takes microseconds,
/// unless the endpoint answered without reading the request.
const READY: Duration = Duration::from_millis(50);

/// A request with its whole body.
pub(crate) type Outgoing = Request<Full<Bytes>>;

/// A connection. Dropped, it closes the socket at once, whatever the state of the exchange is.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    budget: ReadBudget,
    driver: JoinHandle<()>,
    /// Time at which it was opened.
    pub(crate) opened: SystemTime,
}

/// An answer whose body was read.
pub(crate) struct Exchanged {
    pub(crate) head: Response<()>,
    pub(crate) body: Bytes,
    /// State of the connection afterwards.
    pub(crate) after: After,
}

/// The state of a connection after an exchange.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum After {
    /// Ready for another request.
    Ready,
    /// To be closed.
    Spent,
}

/// An exchange without an answer.
pub(crate) enum Unanswered {
    /// No byte of the request was sent: the connection was closed while it was idle.
    Unsent(Box<Outgoing>),
    /// A failure.
    Failed(CallFailure),
}

impl Connection {
    /// Starts HTTP/1.1 on a stream.
    pub(crate) async fn start<S>(stream: S, limits: &Limits) -> Result<Self, CallFailure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let budget = ReadBudget::new(0);
        let stream = TokioIo::new(Metered::new(stream, budget.clone()));
        let mut http = Builder::new();
        http.max_headers(limits.headers).max_header_size(limits.head_bytes).max_buf_size(limits.buffer_bytes());
        let started = http.handshake(stream).await;
        let (sender, connection) = started.map_err(|error| CallFailure::of_http(&error, Part::Head))?;
        // The sender reports the error of the connection.
        let driver = tokio::spawn(async move { drop(connection.await) });
        Ok(Self { sender, budget, driver, opened: SystemTime::now() })
    }

    /// Returns true if the connection waits for a request.
    pub(crate) fn is_ready(&self) -> bool {
        self.sender.is_ready()
    }

    /// Sends a request and reads its answer.
    pub(crate) async fn exchange(
        &mut self,
        request: Outgoing,
        limits: &Limits,
        deadline: Instant,
    ) -> Result<Exchanged, Unanswered> {
        self.budget.set(limits.head_budget());
        let answer = self.send(request, deadline).await?;
        self.read(answer, limits, deadline).await.map_err(Unanswered::Failed)
    }

    async fn send(&mut self, request: Outgoing, deadline: Instant) -> Result<Response<Incoming>, Unanswered> {
        let sent = timeout_at(deadline, self.sender.try_send_request(request)).await;
        match sent.map_err(|_| Unanswered::Failed(CallFailure::TimedOut(Phase::Head)))? {
            Ok(answer) => Ok(answer),
            Err(mut failed) => Err(match failed.take_message() {
                Some(request) => Unanswered::Unsent(Box::new(request)),
                None => Unanswered::Failed(CallFailure::of_http(failed.error(), Part::Head)),
            }),
        }
    }

    /// Reads the body. That of an answer other than 2xx is read as far as it goes: its status is the answer.
    async fn read(
        &mut self,
        answer: Response<Incoming>,
        limits: &Limits,
        deadline: Instant,
    ) -> Result<Exchanged, CallFailure> {
        let (head, incoming) = answer.into_parts();
        if head.status == StatusCode::SWITCHING_PROTOCOLS {
            return Err(CallFailure::Protocol("it switches to another protocol".to_owned()));
        }
        let whole = head.status.is_success();
        let limit = if whole { limits.body_bytes } else { limits.excerpt_bytes };
        self.budget.set(limits.body_budget(limit));
        let mut body = BodyReader::new(incoming, limit);
        if whole && body.is_announced_too_large() {
            return Err(CallFailure::TooLarge(Part::Body));
        }
        let after = match body.read_to_end(limits, deadline).await {
            Ok(()) => self.after().await,
            Err(failure) if whole => return Err(failure),
            Err(_) => After::Spent,
        };
        Ok(Exchanged { head: Response::from_parts(head, ()), body: body.into_bytes(), after })
    }

    async fn after(&mut self) -> After {
        match timeout(READY, self.sender.ready()).await {
            Ok(Ok(())) => After::Ready,
            _ => After::Spent,
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}
