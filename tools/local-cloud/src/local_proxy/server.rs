//! The proxy's server: HTTP/1.1 connections, within API Gateway's limits.

use super::forward::{Upstream, message};
use anyhow::{Context, Result};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::time::timeout;

/// Path that the proxy answers itself, to signal that it is ready.
pub const READY: &str = "/_local_proxy/ready";

/// Idle timeout of a connection.
const IDLE: Duration = Duration::from_secs(75);

/// API Gateway's payload limit.
const BODY_LIMIT: usize = 10 * 1024 * 1024;

/// Limit of request line and headers. API Gateway's is 10,240 bytes; this one is larger, because browsers on
/// localhost send the cookies of every other local project.
const HEAD_LIMIT: usize = 64 * 1024;

/// Opens the port. The error names the port and the conflict.
pub fn listen(port: u16) -> Result<TcpListener> {
    TcpListener::bind(("127.0.0.1", port)).with_context(|| {
        format!("port {port} on 127.0.0.1 is taken: name another with --port, or none to get a free one")
    })
}

/// Serves every connection of the listener; blocks.
pub fn serve(listener: TcpListener, upstream: Upstream) -> Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = Builder::new_current_thread().enable_all().build().context("cannot start a runtime")?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let upstream = Arc::new(upstream);
        loop {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(converse(stream, Arc::clone(&upstream)));
        }
    })
}

/// Serves the requests of one connection, one after the other, until the client or an error ends it. Requests that are
/// not HTTP, or whose headers are too long, are refused by the server itself.
async fn converse(stream: TcpStream, upstream: Arc<Upstream>) {
    let _ = stream.set_nodelay(true);
    let answer = |request| {
        let upstream = Arc::clone(&upstream);
        async move { Ok::<_, Infallible>(answer(request, &upstream).await) }
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .max_buf_size(HEAD_LIMIT)
        .half_close(true)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service_fn(answer));
    // A client that hangs up early is not an error of the proxy.
    let _ = connection.await;
}

async fn answer(request: Request<Incoming>, upstream: &Upstream) -> Response<Full<Bytes>> {
    if request.uri().path() == READY {
        return Response::default();
    }
    if request.uri().authority().is_some() || !request.uri().path().starts_with('/') {
        return refuse(StatusCode::BAD_REQUEST, "Bad request");
    }
    if head_bytes(&request) > HEAD_LIMIT {
        return refuse(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "Request Header Fields Too Large");
    }
    let (head, body) = request.into_parts();
    match read(body).await {
        Ok(body) => upstream.forward(Request::from_parts(head, body)).await,
        Err(refused) => refused,
    }
}

/// Size of the request's URL and headers, with the `: ` and line end of each header. The server's own bound is on what
/// one read holds, so that a longer head sometimes passes.
fn head_bytes(request: &Request<Incoming>) -> usize {
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum::<usize>();
    request.uri().path_and_query().map_or(0, |path| path.as_str().len()) + headers
}

/// Reads a body, or returns the answer that refuses it.
async fn read(mut body: Incoming) -> Result<Bytes, Response<Full<Bytes>>> {
    let too_large = || refuse(StatusCode::PAYLOAD_TOO_LARGE, "Request Too Long");
    if body.size_hint().lower() > BODY_LIMIT as u64 {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    loop {
        let Ok(frame) = timeout(IDLE, body.frame()).await else {
            return Err(refuse(StatusCode::REQUEST_TIMEOUT, "Request timed out"));
        };
        match frame {
            None => return Ok(bytes.into()),
            Some(Err(_)) => return Err(refuse(StatusCode::BAD_REQUEST, "Bad request")),
            Some(Ok(frame)) => bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data)),
        }
        if bytes.len() > BODY_LIMIT {
            return Err(too_large());
        }
    }
}

/// Refuses a request and closes its connection, because the rest of the request is not read.
fn refuse(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut answer = message(status, text);
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}
