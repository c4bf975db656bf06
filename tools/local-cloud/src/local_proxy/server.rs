//! The proxy's server: HTTP/1.1 connections, with API Gateway's limits.
//!
//! It forwards requests to the upstream and returns the responses unchanged, except for hop-by-hop headers.

use super::routes::Routes;
use anyhow::{Context, Result, anyhow};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use longshore_cli::progress;
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

/// Response timeout of API Gateway.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// Time after which an idle connection is closed: before the emulator closes it, after 75 seconds.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Size limit of a response, above Lambda's own limit of 6 MB.
const RESPONSE_LIMIT: usize = 64 * 1024 * 1024;

/// Hop-by-hop headers. They are not forwarded, because they belong to a single connection.
const HOP_BY_HOP: [&str; 8] =
    ["connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"];

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
    match read_request(body).await {
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

/// Reads the body of a request. Fails with the response that refuses it.
async fn read_request(mut body: Incoming) -> Result<Bytes, Response<Full<Bytes>>> {
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

/// The destination of requests.
pub struct Upstream {
    routes: Routes,
    timeout: Duration,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl Upstream {
    /// Forwards all requests to `base`. Each response must arrive within `timeout`.
    pub fn new(base: String, timeout: Duration) -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(32)
            .pool_idle_timeout(POOL_IDLE_TIMEOUT)
            .pool_timer(TokioTimer::new())
            .build_http();
        Self { routes: Routes::new(base), timeout, client }
    }

    /// Forwards requests that match `pattern` to this `base` instead. The pattern is as in template.yaml, such as
    /// `GET /api/jobs/{jobId}`.
    #[must_use]
    pub fn with_route(mut self, pattern: &str, base: String) -> Self {
        self.routes.add(pattern, base);
        self
    }

    /// Returns the complete response to a request, or `502` if the upstream does not respond.
    async fn forward(&self, request: Request<Bytes>) -> Response<Full<Bytes>> {
        let call = format!("{} {}", request.method(), request.uri());
        self.try_forward(request).await.unwrap_or_else(|error| {
            progress::note(&format!("{call}: {error:#}"));
            message(StatusCode::BAD_GATEWAY, "Service Unavailable")
        })
    }

    async fn try_forward(&self, request: Request<Bytes>) -> Result<Response<Full<Bytes>>> {
        let outgoing = self.outgoing(request)?;
        let response = async {
            let (head, body) = self.client.request(outgoing).await?.into_parts();
            anyhow::Ok(Response::from_parts(head, read_response(body).await?))
        };
        let response = timeout(self.timeout, response).await;
        let mut response = response.with_context(|| format!("no response within {} s", self.timeout.as_secs()))??;
        remove_hop_by_hop(response.headers_mut());
        Ok(response)
    }

    /// Builds the request to the upstream. It has a body only for methods with which calls of the API have one.
    fn outgoing(&self, request: Request<Bytes>) -> Result<Request<Full<Bytes>>> {
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        let uri = format!("{}{target}", self.routes.base_for(&request)).parse()?;
        let (head, body) = request.into_parts();
        let has_body = matches!(head.method, Method::POST | Method::PUT | Method::PATCH);
        let mut outgoing = Request::new(if has_body { Full::new(body) } else { Full::default() });
        *outgoing.method_mut() = head.method;
        *outgoing.uri_mut() = uri;
        *outgoing.headers_mut() = head.headers;
        remove_hop_by_hop(outgoing.headers_mut());
        Ok(outgoing)
    }
}

/// Builds a response of the proxy itself, in the format of API Gateway.
fn message(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(format!(r#"{{"message":"{text}"}}"#)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

async fn read_response(body: Incoming) -> Result<Full<Bytes>> {
    let body = Limited::new(body, RESPONSE_LIMIT).collect().await.map_err(|error| anyhow!(error))?;
    Ok(Full::new(body.to_bytes()))
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    for name in HOP_BY_HOP {
        headers.remove(HeaderName::from_static(name));
    }
}
