//! A client of a local stack, and HTTPS servers on loopback that answer as a test says.
#![allow(
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "a failed step fails the test; shared by several tests"
)]

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use hyper::body::Bytes;
use longshore_outbound::call::{Answer, Call, CallOutcome};
use longshore_outbound::client::Client;
use longshore_outbound::failure::CallFailure;
use longshore_outbound::fetch::{Fetch, FetchFailure};
use longshore_outbound::limits::Limits;
use longshore_outbound::local::LocalOnly;
use longshore_outbound::network::Network;
use longshore_outbound::policy::UrlPolicy;
use longshore_outbound::probe::{Probed, Signing};
use longshore_outbound::public_url::PublicUrls;
use longshore_outbound::secret::{RootSecret, Secrets};
use longshore_outbound::signature::MessageId;
use longshore_outbound::url::HandlerUrl;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

pub const BODY: &[u8] = br#"{"test": 2432232314}"#;
pub const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

/// The requests that a server has received.
pub type Requests = Arc<Mutex<Vec<String>>>;

/// A certificate authority, made for one test.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new() -> Self {
        Self::named("authority")
    }

    pub fn named(name: &str) -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub fn local_only(&self) -> LocalOnly {
        LocalOnly::new("local", self.0.pem().as_bytes()).unwrap()
    }

    /// Returns the TLS of a server with a certificate for this name.
    pub fn tls(&self, name: &str) -> ServerConfig {
        self.tls_with(CertificateParams::new(vec![name.to_owned()]).unwrap())
    }

    /// Returns the TLS of a server that requires a certificate of its clients.
    pub fn tls_requiring_clients(&self, name: &str) -> ServerConfig {
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_client_cert_verifier(clients.build().unwrap());
        config.with_cert_resolver(self.tls(name).cert_resolver)
    }

    pub fn tls_with(&self, params: CertificateParams) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        config.with_single_cert(vec![certificate.der().clone()], key).unwrap()
    }
}

/// A connection that a server has accepted.
pub struct Accepted {
    pub stream: TlsStream<TcpStream>,
    /// Number of the connection, from 1.
    pub number: usize,
}

impl Accepted {
    /// Reads a request with its body; `None` at the end of the connection.
    pub async fn request(&mut self) -> Option<String> {
        let mut read = Vec::new();
        while !read.windows(4).any(|end| end == b"\r\n\r\n") {
            self.stream.read_buf(&mut read).await.ok().filter(|bytes| *bytes > 0)?;
        }
        let head = String::from_utf8(read.clone()).unwrap();
        let (head, _) = head.split_once("\r\n\r\n").unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let whole = head.len() + 4 + length.map_or(0, |length| length.parse::<usize>().unwrap());
        while read.len() < whole {
            self.stream.read_buf(&mut read).await.ok().filter(|bytes| *bytes > 0)?;
        }
        Some(String::from_utf8(read).unwrap())
    }

    /// Sends bytes; false if the client has closed the connection.
    pub async fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok() && self.stream.flush().await.is_ok()
    }

    /// Waits until the client closes the connection.
    pub async fn closed(&mut self) {
        while self.stream.read_u8().await.is_ok() {}
    }
}

/// A server, and a client that trusts it.
pub struct World {
    pub client: Client,
    pub port: u16,
    policy: UrlPolicy,
    connections: Arc<AtomicUsize>,
}

/// Limits of time that no test reaches by accident.
pub fn limits() -> Limits {
    Limits { connect: Duration::from_secs(20), idle: Duration::from_secs(20), ..Limits::default() }
}

impl World {
    /// Starts a server with a valid certificate for `localhost`, which treats each connection so.
    pub async fn new<F, Ended>(limits: Limits, serve: F) -> Self
    where
        F: Fn(Accepted) -> Ended + Send + Sync + 'static,
        Ended: Future<Output = ()> + Send + 'static,
    {
        let authority = Authority::new();
        let tls = authority.tls("localhost");
        Self::with(authority.local_only(), tls, limits, serve).await
    }

    pub async fn with<F, Ended>(local: LocalOnly, tls: ServerConfig, limits: Limits, serve: F) -> Self
    where
        F: Fn(Accepted) -> Ended + Send + Sync + 'static,
        Ended: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let policy = UrlPolicy::new(["*.example.com"], [port]).unwrap().with_localhost(&local);
        tokio::spawn(accept(listener, TlsAcceptor::from(Arc::new(tls)), Arc::clone(&connections), serve));
        Self { client: Client::local(limits, local).unwrap(), port, policy, connections }
    }

    /// Starts a server that answers each request with the same bytes, and then waits for the next.
    pub async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer = Arc::new(answer.into());
        Self::new(limits(), move |mut accepted| {
            let answer = Arc::clone(&answer);
            async move { while accepted.request().await.is_some() && accepted.send(&answer).await {} }
        })
        .await
    }

    /// Starts a server that answers each path as the function says, and records the requests.
    pub async fn routing(limits: Limits, answer: fn(&str) -> Vec<u8>) -> (Self, Requests) {
        let requests = Requests::default();
        let recorded = Arc::clone(&requests);
        let world = Self::new(limits, move |mut accepted| {
            let recorded = Arc::clone(&recorded);
            async move {
                while let Some(request) = accepted.request().await {
                    let path = request.split(' ').nth(1).unwrap().to_owned();
                    recorded.lock().unwrap().push(request);
                    if !accepted.send(&answer(&path)).await {
                        return;
                    }
                }
            }
        })
        .await;
        (world, requests)
    }

    /// Replaces resolver and TCP of the client.
    pub fn with_network(self, network: Arc<dyn Network>) -> Self {
        Self { client: self.client.with_network(network), ..self }
    }

    /// Directs calls to another server.
    pub fn use_port(&mut self, port: u16) {
        let local = Authority::new().local_only();
        (self.port, self.policy) = (port, UrlPolicy::new([], [port]).unwrap().with_localhost(&local));
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Makes a call that has time enough.
    pub async fn call(&self) -> CallOutcome {
        self.call_within(Duration::from_secs(60)).await
    }

    pub async fn call_within(&self, time: Duration) -> CallOutcome {
        self.call_host("localhost", time).await
    }

    pub async fn call_host(&self, host: &str, time: Duration) -> CallOutcome {
        post(&self.client, &self.url(host), time).await
    }

    pub async fn call_with(&self, body: Bytes, time: Duration) -> CallOutcome {
        post_body(&self.client, &self.url("localhost"), body, time).await
    }

    pub async fn probe(&self, signing: Signing) -> Probed {
        let body = Bytes::from_static(BODY);
        probe_body(&self.client, &self.url("localhost"), body, Duration::from_secs(60), signing).await
    }

    /// Downloads a file of this server of at most so many bytes.
    pub async fn get(&self, path: &str, body_bytes: usize) -> Result<Answer, FetchFailure> {
        self.get_within(path, body_bytes, Duration::from_secs(60)).await
    }

    pub async fn get_within(&self, path: &str, body_bytes: usize, time: Duration) -> Result<Answer, FetchFailure> {
        let allowed = PublicUrls::local(&[self.port], &Authority::new().local_only());
        let url = allowed.parse(&format!("https://localhost:{}{path}", self.port)).unwrap();
        let (now, deadline) = (SystemTime::UNIX_EPOCH, Instant::now() + time);
        let fetch = Fetch { url: &url, allowed: &allowed, accept: "image/webp,image/*", body_bytes, now, deadline };
        self.client.get(&fetch).await
    }

    pub fn url(&self, host: &str) -> HandlerUrl {
        HandlerUrl::parse(&format!("https://{host}:{}/hook?x=1", self.port), &self.policy).unwrap()
    }

    pub async fn answer(&self) -> Answer {
        match self.call().await {
            CallOutcome::Answered(answer) => answer,
            CallOutcome::Failed(failure) => panic!("{failure:?}"),
        }
    }

    pub async fn failure(&self) -> CallFailure {
        failure(self.call().await)
    }
}

pub async fn post(client: &Client, url: &HandlerUrl, time: Duration) -> CallOutcome {
    post_body(client, url, Bytes::from_static(BODY), time).await
}

async fn post_body(client: &Client, url: &HandlerUrl, body: Bytes, time: Duration) -> CallOutcome {
    probe_body(client, url, body, time, Signing::Signed).await.outcome
}

async fn probe_body(client: &Client, url: &HandlerUrl, body: Bytes, time: Duration, signing: Signing) -> Probed {
    let secrets = Secrets::One(RootSecret::from_bytes(&[7; 32]).unwrap().derive("invite", 1).unwrap());
    let call = Call {
        url,
        id: &MessageId::new("batch-1").unwrap(),
        secrets: &secrets,
        body,
        traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap()),
        now: SystemTime::UNIX_EPOCH + Duration::from_secs(1_614_265_330),
        deadline: Instant::now() + time,
    };
    client.probe(&call, signing).await
}

pub fn failure(outcome: CallOutcome) -> CallFailure {
    match outcome {
        CallOutcome::Failed(failure) => failure,
        CallOutcome::Answered(answer) => panic!("{answer:?}"),
    }
}

async fn accept<F, Ended>(listener: TcpListener, tls: TlsAcceptor, connections: Arc<AtomicUsize>, serve: F)
where
    F: Fn(Accepted) -> Ended,
    Ended: Future<Output = ()> + Send + 'static,
{
    while let Ok((tcp, _)) = listener.accept().await {
        let number = connections.fetch_add(1, Ordering::SeqCst) + 1;
        if let Ok(stream) = tls.accept(tcp).await {
            tokio::spawn(serve(Accepted { stream, number }));
        }
    }
}
