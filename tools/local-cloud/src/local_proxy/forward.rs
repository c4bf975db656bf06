//! Forwards a request and returns the answer unchanged: method, path, query, headers, body, status.

use super::routes::Routes;
use anyhow::{Context, Result, anyhow};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use longshore_cli::progress;
use std::time::Duration;
use tokio::time::timeout;

/// Timeout of API Gateway, whatever the function does.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Limit of an answer, above Lambda's own (6 MB).
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;

/// Hop-by-hop headers, which are not forwarded; each connection has its own.
const HOP_BY_HOP: [&str; 8] =
    ["connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"];

/// The destination of requests.
pub struct Upstream {
    routes: Routes,
    patience: Duration,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl Upstream {
    /// Forwards everything below `base`. Each answer must arrive within `patience`.
    pub fn new(base: String, patience: Duration) -> Self {
        let client = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(32).build_http();
        Self { routes: Routes::to(base), patience, client }
    }

    /// Forwards requests that match `pattern` (`GET /api/jobs/{jobId}`, as in template.yaml) below `base` instead of
    /// the default.
    #[must_use]
    pub fn with_route(mut self, pattern: &str, base: String) -> Self {
        self.routes.add(pattern, base);
        self
    }

    /// Returns the complete answer to a request; `502` if the upstream does not answer.
    pub(super) async fn forward(&self, request: Request<Bytes>) -> Response<Full<Bytes>> {
        let call = format!("{} {}", request.method(), request.uri());
        self.try_forward(request).await.unwrap_or_else(|error| {
            progress::note(&format!("{call}: {error:#}"));
            message(StatusCode::BAD_GATEWAY, "Service Unavailable")
        })
    }

    async fn try_forward(&self, request: Request<Bytes>) -> Result<Response<Full<Bytes>>> {
        let outgoing = self.outgoing(request)?;
        let answer = async {
            let (head, body) = self.client.request(outgoing).await?.into_parts();
            anyhow::Ok(Response::from_parts(head, complete(body).await?))
        };
        let answer = timeout(self.patience, answer).await;
        let mut answer = answer.with_context(|| format!("no answer within {} s", self.patience.as_secs()))??;
        remove_hop_by_hop(answer.headers_mut());
        Ok(answer)
    }

    /// The request to the upstream. It has a body only with methods that have one: no call of our API has a body with
    /// another method.
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

/// An answer of the proxy itself, in the format of API Gateway.
pub(super) fn message(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::from(format!(r#"{{"message":"{text}"}}"#)));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

async fn complete(body: Incoming) -> Result<Full<Bytes>> {
    let body = Limited::new(body, ANSWER_LIMIT).collect().await.map_err(|error| anyhow!(error))?;
    Ok(Full::new(body.to_bytes()))
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    for name in HOP_BY_HOP {
        headers.remove(HeaderName::from_static(name));
    }
}
