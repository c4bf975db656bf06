//! The proxy's server: HTTP/1.1 connections, with API Gateway's limits.

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

/// Path at which the proxy itself responds when it is ready.
pub const READY: &str = "/_local_proxy/ready";

/// Idle timeout of a connection.
const IDLE_TIMEOUT: Duration = Duration::from_secs(75);

/// API Gateway's payload limit.
const BODY_LIMIT: usize = 10 * 1024 * 1024;

/// Size limit of URL and headers. It is larger than API Gateway's limit of 10,240 bytes, because browsers send the
/// cookies of all local projects to localhost.
const HEAD_LIMIT: usize = 64 * 1024;

/// Limit of the number of headers, so high that the limit of bytes applies first.
const HEADER_LIMIT: usize = 10_000;

/// Opens the port.
///
/// # Errors
/// If the port is in use.
pub fn listen(port: u16) -> Result<TcpListener> {
    TcpListener::bind(("127.0.0.1", port)).with_context(|| {
        format!("port {port} on 127.0.0.1 is in use: pass another one with --port, or omit --port to use a free one")
    })
}

/// Serves the connections of the listener. Blocks.
pub fn serve(listener: TcpListener, upstream: Upstream) -> Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = Builder::new_current_thread().enable_all().build().context("cannot start a runtime")?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let upstream = Arc::new(upstream);
        loop {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(serve_connection(stream, Arc::clone(&upstream)));
        }
    })
}

/// Serves the requests of a connection until the client or an error ends it. Hyper itself refuses requests that are not
/// valid HTTP.
async fn serve_connection(stream: TcpStream, upstream: Arc<Upstream>) {
    let _ = stream.set_nodelay(true);
    let respond = |request| {
        let upstream = Arc::clone(&upstream);
        async move { Ok::<_, Infallible>(respond(request, &upstream).await) }
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_TIMEOUT)
        .max_buf_size(HEAD_LIMIT)
        .max_headers(HEADER_LIMIT)
        .half_close(true)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service_fn(respond));
    // A client that closes the connection early is not an error of the proxy.
    let _ = connection.await;
}

async fn respond(request: Request<Incoming>, upstream: &Upstream) -> Response<Full<Bytes>> {
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
        Err(refusal) => refusal,
    }
}

/// Returns the size of URL and headers, with the `: ` and the line end of each header. Hyper limits only the size of
/// one read, so it sometimes accepts more.
fn head_bytes(request: &Request<Incoming>) -> usize {
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum::<usize>();
    request.uri().path_and_query().map_or(0, |path| path.as_str().len()) + headers
}

/// Reads a body. Fails with the response that refuses it.
async fn read(mut body: Incoming) -> Result<Bytes, Response<Full<Bytes>>> {
    let too_large = || refuse(StatusCode::PAYLOAD_TOO_LARGE, "Request Too Long");
    if body.size_hint().lower() > BODY_LIMIT as u64 {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    loop {
        let Ok(frame) = timeout(IDLE_TIMEOUT, body.frame()).await else {
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

/// Builds a response that refuses a request and closes its connection, because the rest of the request is not read.
fn refuse(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut response = message(status, text);
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
