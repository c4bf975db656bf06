//! A server in this process with a handler that does nothing. It also answers for Invoke and for the root secret.
//!
//! Some threads wait for connections, and each serves one at a time, so that neither a runtime nor the start of a thread
//! is measured.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::mem::take;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The answer for a whole batch.
const ALL: &str = r#"{"all":"ok"}"#;

/// Number of threads: more than open connections.
const THREADS: usize = 12;

/// ARN of the root secret.
pub(super) const SECRET_ARN: &str = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:root";

/// Path of an HTTPS handler.
pub(super) const PATH: &str = "/items";

/// Bytes of a connection's buffer: more than a batch.
const BUFFER_BYTES: usize = 64 << 10;

/// The bodies of batches.
type Batches = Arc<Mutex<Vec<Vec<u8>>>>;

/// What the handler does with a batch.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Handler {
    /// Answers for all items at once, without reading them.
    Unread,
    /// Parses the items, and answers for each.
    EachItem,
}

/// The server.
pub(super) struct Server {
    pub(super) port: u16,
    batches: Batches,
}

impl Server {
    /// Starts a server without TLS.
    pub(super) fn plain(handler: Handler) -> io::Result<Self> {
        Self::start(handler, Ok)
    }

    /// Starts a server with TLS.
    pub(super) fn with_tls(handler: Handler, config: Arc<ServerConfig>) -> io::Result<Self> {
        Self::start(handler, move |stream| {
            let connection = ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
            Ok(StreamOwned::new(connection, stream))
        })
    }

    fn start<S: Read + Write>(
        handler: Handler,
        accept: impl Fn(TcpStream) -> io::Result<S> + Clone + Send + 'static,
    ) -> io::Result<Self> {
        let listener = Arc::new(TcpListener::bind(("127.0.0.1", 0))?);
        let (port, batches) = (listener.local_addr()?.port(), Batches::default());
        for _ in 0..THREADS {
            let (listener, received, accept) = (Arc::clone(&listener), Arc::clone(&batches), accept.clone());
            thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    // A client reports the error of a broken connection.
                    let _ = stream.set_nodelay(true);
                    let _ = accept(stream).and_then(|stream| serve(stream, handler, &received));
                }
            });
        }
        Ok(Self { port, batches })
    }

    /// Takes the batches that were received.
    pub(super) fn take(&self) -> Vec<Vec<u8>> {
        take(&mut self.batches.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn serve(stream: impl Read + Write, handler: Handler, batches: &Mutex<Vec<Vec<u8>>>) -> io::Result<()> {
    let secret = format!(r#"{{"ARN":"{SECRET_ARN}","SecretString":"{}"}}"#, "0123456789abcdef".repeat(4));
    let mut stream = BufReader::with_capacity(BUFFER_BYTES, stream);
    while let Some(Request { line, body }) = read(&mut stream)? {
        let answer = if line.contains("/invocations ") || line.contains(PATH) {
            let answer = handler.answer(&body)?;
            batches.lock().unwrap_or_else(PoisonError::into_inner).push(body);
            answer
        } else {
            secret.clone()
        };
        let length = answer.len();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
        stream.get_mut().write_all((head + &answer).as_bytes())?;
        stream.get_mut().flush()?;
    }
    Ok(())
}

#[derive(Deserialize)]
struct Batch {
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    key: String,
    #[serde(rename = "value")]
    _value: Value,
}

#[derive(Serialize)]
struct Results {
    results: Vec<ItemResult>,
}

#[derive(Serialize)]
struct ItemResult {
    key: String,
    outcome: &'static str,
}

impl Handler {
    fn answer(self, batch: &[u8]) -> io::Result<String> {
        if self == Self::Unread {
            return Ok(ALL.to_owned());
        }
        let batch: Batch = serde_json::from_slice(batch)?;
        let results = batch.items.into_iter().map(|item| ItemResult { key: item.key, outcome: "ok" }).collect();
        Ok(serde_json::to_string(&Results { results })?)
    }
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
