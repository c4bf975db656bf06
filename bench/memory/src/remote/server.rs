//! A server in this process whose handler does nothing: it answers each batch with the same bytes. It also answers for
//! Invoke and for the root secret.
//!
//! Each connection has a thread of its own, and nothing is parsed but the length of a request, so that the server costs
//! little and is the same for all clients.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::mem::take;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The answer to a batch.
pub(super) const ANSWER: &str = r#"{"all":"ok"}"#;

/// ARN of the root secret.
pub(super) const SECRET_ARN: &str = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:root";

/// Path of an HTTPS handler.
pub(super) const PATH: &str = "/items";

/// Bytes of a connection's buffer: more than a batch.
const BUFFER_BYTES: usize = 64 << 10;

/// The bodies of batches.
type Batches = Arc<Mutex<Vec<Vec<u8>>>>;

/// The server.
pub(super) struct Server {
    pub(super) port: u16,
    batches: Batches,
}

impl Server {
    /// Starts a server without TLS.
    pub(super) fn plain() -> io::Result<Self> {
        Self::start(Ok)
    }

    /// Starts a server with TLS.
    pub(super) fn with_tls(config: Arc<ServerConfig>) -> io::Result<Self> {
        Self::start(move |stream| {
            let connection = ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
            Ok(StreamOwned::new(connection, stream))
        })
    }

    fn start<S: Read + Write>(
        accept: impl Fn(TcpStream) -> io::Result<S> + Clone + Send + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let (port, batches) = (listener.local_addr()?.port(), Batches::default());
        let received = Arc::clone(&batches);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (accept, received) = (accept.clone(), Arc::clone(&received));
                // It ends with its connection. A client reports the error of a broken one.
                thread::spawn(move || {
                    stream.set_nodelay(true)?;
                    serve(accept(stream)?, &received)
                });
            }
        });
        Ok(Self { port, batches })
    }

    /// Takes the batches that were received.
    pub(super) fn take(&self) -> Vec<Vec<u8>> {
        take(&mut self.batches.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn serve(stream: impl Read + Write, batches: &Mutex<Vec<Vec<u8>>>) -> io::Result<()> {
    let secret = format!(r#"{{"ARN":"{SECRET_ARN}","SecretString":"{}"}}"#, "0123456789abcdef".repeat(4));
    let mut stream = BufReader::with_capacity(BUFFER_BYTES, stream);
    while let Some(Request { line, body }) = read(&mut stream)? {
        let answer = if line.contains("/invocations ") || line.contains(PATH) {
            batches.lock().unwrap_or_else(PoisonError::into_inner).push(body);
            ANSWER
        } else {
            &secret
        };
        let length = answer.len();
        let response =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{answer}");
        stream.get_mut().write_all(response.as_bytes())?;
        stream.get_mut().flush()?;
    }
    Ok(())
}

struct Request {
    line: String,
    body: Vec<u8>,
}

/// Reads a request; `None` at the end of the connection.
fn read(stream: &mut impl BufRead) -> io::Result<Option<Request>> {
    let (mut line, mut header, mut length) = (String::new(), String::new(), 0);
    if stream.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    loop {
        header.clear();
        stream.read_line(&mut header)?;
        let Some((name, value)) = header.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Some(Request { line, body }))
}
