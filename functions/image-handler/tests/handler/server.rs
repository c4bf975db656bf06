//! An HTTPS server on loopback that serves images, good and hostile ones, and faults.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use longshore_outbound::local::LocalOnly;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// What the server does at a path.
#[derive(Clone)]
pub(crate) enum Reaction {
    /// Answers this.
    Answer(Arc<[u8]>),
    /// Answers this after a time.
    After(Duration, Arc<[u8]>),
    /// Never answers.
    Silence,
    /// Closes the connection.
    Close,
}

/// The requested paths, in order.
pub(crate) type Requested = Arc<Mutex<Vec<String>>>;

/// A server.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) local: LocalOnly,
    pub(crate) requested: Requested,
}

/// Returns an answer with a body.
pub(crate) fn ok(body: &[u8]) -> Reaction {
    answer(&format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len()), body)
}

/// Returns an answer without a body.
pub(crate) fn status(status: u16, headers: &str) -> Reaction {
    answer(&format!("HTTP/1.1 {status} X\r\n{headers}content-length: 0\r\n\r\n"), b"")
}

pub(crate) fn answer(head: &str, body: &[u8]) -> Reaction {
    Reaction::Answer([head.as_bytes(), body].concat().into())
}

impl Server {
    /// Starts a server with these paths. Any other one is 404.
    pub(crate) async fn start(paths: BTreeMap<String, Reaction>) -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let local = LocalOnly::new("local", authority.pem().as_bytes()).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = config.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let (port, requested) = (listener.local_addr().unwrap().port(), Requested::default());
        let tls = TlsAcceptor::from(Arc::new(config));
        tokio::spawn(accept(listener, tls, Arc::new(paths), Arc::clone(&requested)));
        Self { port, local, requested }
    }
}

async fn accept(listener: TcpListener, tls: TlsAcceptor, paths: Arc<BTreeMap<String, Reaction>>, requested: Requested) {
    while let Ok((tcp, _)) = listener.accept().await {
        let (tls, paths, requested) = (tls.clone(), Arc::clone(&paths), Arc::clone(&requested));
        tokio::spawn(async move {
            if let Ok(stream) = tls.accept(tcp).await {
                serve(stream, &paths, &requested).await;
            }
        });
    }
}

async fn serve(mut stream: TlsStream<TcpStream>, paths: &BTreeMap<String, Reaction>, requested: &Requested) {
    while let Some(path) = path(&mut stream).await {
        requested.lock().unwrap().push(path.clone());
        let bytes = match paths.get(&path).cloned().unwrap_or_else(|| status(404, "")) {
            Reaction::Answer(bytes) => bytes,
            Reaction::After(time, bytes) => {
                tokio::time::sleep(time).await;
                bytes
            }
            Reaction::Silence => std::future::pending().await,
            Reaction::Close => return,
        };
        if stream.write_all(&bytes).await.is_err() || stream.flush().await.is_err() {
            return;
        }
    }
}

/// Reads a request, and returns its path; `None` at the end of the connection.
async fn path(stream: &mut TlsStream<TcpStream>) -> Option<String> {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        stream.read_buf(&mut read).await.ok().filter(|bytes| *bytes > 0)?;
    }
    String::from_utf8(read).unwrap().split(' ').nth(1).map(str::to_owned)
}
