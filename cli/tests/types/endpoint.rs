//! An HTTPS server with a certificate of its own authority.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

/// A request with its headers in lower case.
pub(crate) struct Request {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// A response; its connection is closed after it.
#[derive(Clone)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn json(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: vec![("content-type", "application/json".into())], body: body.into() }
    }
}

/// Certificates for `localhost`.
pub(crate) struct Certificates {
    folder: TempDir,
    config: ServerConfig,
}

impl Certificates {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new(vec!["localhost".into()]).unwrap().signed_by(&key, &authority).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let files =
            [("roots.pem", authority.pem()), ("certificate.pem", certificate.pem()), ("key.pem", key.serialize_pem())];
        files.iter().for_each(|(name, pem)| fs::write(folder.path().join(name), pem).unwrap());
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = config.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        Self { folder, config }
    }

    /// Returns the path of `roots.pem`, `certificate.pem` or `key.pem`.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A running server.
pub(crate) struct Endpoint {
    pub(crate) url: String,
    pub(crate) certificates: Certificates,
}

impl Endpoint {
    /// Starts a server with a thread per connection. It runs until the test process ends.
    pub(crate) fn start(respond: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Self {
        let certificates = Certificates::new();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://localhost:{}/hook", listener.local_addr().unwrap().port());
        let (config, respond) = (Arc::new(certificates.config.clone()), Arc::new(respond));
        thread::spawn(move || {
            for tcp in listener.incoming() {
                let (config, respond) = (Arc::clone(&config), Arc::clone(&respond));
                thread::spawn(move || serve(tcp.unwrap(), config, &*respond));
            }
        });
        Self { url, certificates }
    }
}

fn serve(tcp: TcpStream, config: Arc<ServerConfig>, respond: &dyn Fn(&Request) -> Response) -> Option<()> {
    let mut stream = BufReader::new(StreamOwned::new(ServerConnection::new(config).unwrap(), tcp));
    let request = read(&mut stream)?;
    let Response { status, headers, body } = respond(&request);
    let mut head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    let stream = stream.get_mut();
    stream.write_all(format!("{head}\r\n").as_bytes()).ok()?;
    stream.write_all(&body).ok()?;
    stream.conn.send_close_notify();
    stream.flush().ok()
}

fn read(stream: &mut impl BufRead) -> Option<Request> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let pair = |line: &String| line.split_once(": ").map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
    let mut request = Request { headers: lines.iter().skip(1).filter_map(pair).collect(), body: Vec::new() };
    request.body = vec![0; request.header("content-length")?.parse().ok()?];
    stream.read_exact(&mut request.body).ok()?;
    Some(request)
}
