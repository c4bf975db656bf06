//! Forwards requests to the upstream and returns the responses unchanged, except for hop-by-hop headers.

use super::routes::Routes;
use anyhow::{Context, Result, anyhow};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use longshore_cli::progress;
use std::time::Duration;
use tokio::time::timeout;

/// Response timeout of API Gateway.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// Time after which an idle connection is closed: before the emulator closes it, after 75 seconds.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Size limit of a response, above Lambda's own limit of 6 MB.
const RESPONSE_LIMIT: usize = 64 * 1024 * 1024;

/// Hop-by-hop headers. They are not forwarded, because they belong to a single connection.
const HOP_BY_HOP: [&str; 8] =
    ["connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"];

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
    pub(super) async fn forward(&self, request: Request<Bytes>) -> Response<Full<Bytes>> {
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
            anyhow::Ok(Response::from_parts(head, read_body(body).await?))
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
pub(super) fn message(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(format!(r#"{{"message":"{text}"}}"#)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

async fn read_body(body: Incoming) -> Result<Full<Bytes>> {
    let body = Limited::new(body, RESPONSE_LIMIT).collect().await.map_err(|error| anyhow!(error))?;
    Ok(Full::new(body.to_bytes()))
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    for name in HOP_BY_HOP {
        headers.remove(HeaderName::from_static(name));
    }
}
