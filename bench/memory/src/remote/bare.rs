//! A bare client: one connection, on which a loop sends the batches that a job has sent.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, ensure};
use aws_sdk_lambda::primitives::Blob;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST as HOST_HEADER, HeaderValue};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_rustls::TlsConnector;

use super::authority::HOST;
use super::server::PATH;
use super::target::{ALIAS, Kind, Target};

/// Batches that several clients take.
pub(super) struct Batches<'a> {
    batches: &'a [Bytes],
    next: AtomicUsize,
}

impl<'a> Batches<'a> {
    pub(super) fn new(batches: &'a [Bytes]) -> Self {
        Self { batches, next: AtomicUsize::new(0) }
    }

    /// Takes a batch; `None` if none is left.
    fn take(&self) -> Option<Bytes> {
        self.batches.get(self.next.fetch_add(1, Ordering::Relaxed)).cloned()
    }
}

/// A client with its thread's runtime.
pub(super) struct Bare {
    runtime: Runtime,
    client: Client,
}

enum Client {
    Lambda(aws_sdk_lambda::Client),
    Https(SendRequest<Full<Bytes>>),
}

impl Bare {
    pub(super) fn new(target: &Target) -> Result<Self> {
        let runtime = super::measure::runtime()?;
        let client = match target.kind {
            Kind::Function => Client::Lambda(target.lambda()),
            Kind::Endpoint => Client::Https(runtime.block_on(connect(target))?),
        };
        Ok(Self { runtime, client })
    }

    /// Sends batches until all are taken.
    pub(super) fn send(&mut self, batches: &Batches<'_>) -> Result<()> {
        let Self { runtime, client } = self;
        runtime.block_on(async {
            while let Some(batch) = batches.take() {
                let answer = client.call(batch).await?;
                ensure!(answer.starts_with(b"{"), "a batch was not answered");
            }
            Ok(())
        })
    }
}

impl Client {
    async fn call(&mut self, body: Bytes) -> Result<Vec<u8>> {
        match self {
            Self::Lambda(client) => {
                let invoke = client.invoke().function_name(ALIAS).payload(Blob::new(body));
                Ok(invoke.send().await?.payload.map(Blob::into_inner).unwrap_or_default())
            }
            Self::Https(connection) => {
                let mut request = Request::new(Full::new(body));
                (*request.method_mut(), *request.uri_mut()) = (Method::POST, PATH.parse()?);
                request.headers_mut().insert(HOST_HEADER, HeaderValue::from_static(HOST));
                request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                connection.ready().await?;
                let response = connection.send_request(request).await?;
                Ok(response.into_body().collect().await?.to_bytes().to_vec())
            }
        }
    }
}

async fn connect(target: &Target) -> Result<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(("127.0.0.1", target.server().port)).await?;
    stream.set_nodelay(true)?;
    let tls = TlsConnector::from(target.tls()?).connect(ServerName::try_from(HOST)?, stream).await?;
    let (sender, connection) = http1::handshake(TokioIo::new(tls)).await?;
    tokio::spawn(connection);
    Ok(sender)
}
