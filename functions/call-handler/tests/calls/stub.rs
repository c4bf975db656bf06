//! A stub of the APIs of AWS on loopback, which answers as a test says, and counts requests and connections.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Reaction to a request.
#[derive(Clone)]
pub(crate) enum Reaction {
    /// These bytes.
    Respond(Vec<u8>),
    /// These bytes, if any, and the others after a time, which passes at once.
    After(Vec<u8>, Duration, Vec<u8>),
    /// These bytes, then one byte in each second, which passes at once.
    Drip(Vec<u8>),
    /// The end of the connection.
    Close,
}

/// A stub.
pub(crate) struct Stub {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

type React = Arc<dyn Fn(&str) -> Reaction + Send + Sync>;

impl Stub {
    pub(crate) async fn new(react: impl Fn(&str) -> Reaction + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (requests, connections) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<AtomicUsize>::default());
        let (seen, opened, react): (_, _, React) = (Arc::clone(&requests), Arc::clone(&connections), Arc::new(react));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                opened.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, Arc::clone(&seen), Arc::clone(&react)));
            }
        });
        Self { url, requests, connections }
    }

    /// Creates a stub that reacts to each request in the same way.
    pub(crate) async fn always(reaction: Reaction) -> Self {
        Self::new(move |_| reaction.clone()).await
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Returns a URL that refuses connections.
pub(crate) async fn refusing() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// Returns a response with these headers, each with its line end.
pub(crate) fn response(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn serve(
    mut stream: TcpStream,
    seen: Arc<Mutex<Vec<String>>>,
    react: React,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        while let Some(request) = read(&mut stream).await {
            let reaction = react(&request);
            seen.lock().unwrap().push(request);
            if !perform(reaction, &mut stream).await {
                return;
            }
        }
    })
}

/// Performs a reaction. Returns false if the connection has ended.
async fn perform(reaction: Reaction, stream: &mut TcpStream) -> bool {
    match reaction {
        Reaction::Respond(bytes) => stream.write_all(&bytes).await.is_ok(),
        Reaction::Close => false,
        Reaction::After(first, time, bytes) => {
            let _ = stream.write_all(&first).await;
            tokio::time::pause();
            tokio::time::sleep(time).await;
            tokio::time::resume();
            stream.write_all(&bytes).await.is_ok()
        }
        Reaction::Drip(bytes) => {
            tokio::time::pause();
            let mut next = &bytes[..];
            while stream.write_all(next).await.is_ok() {
                next = b"x";
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            false
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    while !read.windows(4).any(|end| end == b"\r\n\r\n") {
        stream.read_buf(&mut read).await.ok().filter(|bytes| *bytes > 0)?;
    }
    let text = String::from_utf8_lossy(&read).into_owned();
    let head = text.split("\r\n\r\n").next().unwrap_or_default();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let whole = head.len() + 4 + length.map_or(0, |length| length.parse::<usize>().unwrap());
    while read.len() < whole {
        stream.read_buf(&mut read).await.ok().filter(|bytes| *bytes > 0)?;
    }
    Some(String::from_utf8_lossy(&read).into_owned())
}
