//! A local server that imitates AWS and records every call.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A call to AWS.
pub(crate) struct Call {
    /// Operation of DynamoDB or Cognito, from the header `x-amz-target`; otherwise method and path.
    pub(crate) name: String,
    /// Bearer token; empty without one.
    pub(crate) token: String,
    pub(crate) body: serde_json::Value,
}

/// Status and JSON document of a response. A link to itself is also the header `Location`, and a member `retryAfter` the
/// header `Retry-After`.
pub(crate) type Response = (u16, serde_json::Value);

/// A running server.
pub(crate) struct Server {
    pub(crate) url: String,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Server {
    /// Starts a server that responds to every call with the result of `respond`. It runs until the test process ends.
    pub(crate) fn start(respond: impl FnMut(&Call) -> Response + Send + 'static) -> Self {
        let respond = Mutex::new(respond);
        Self::start_concurrent(move |call| (respond.lock().unwrap())(call))
    }

    /// Starts a server like [`Server::start`], but one that responds to several calls at once.
    pub(crate) fn start_concurrent(respond: impl Fn(&Call) -> Response + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (respond, calls) = (Arc::new(respond), Arc::new(Mutex::new(Vec::new())));
        let record = Arc::clone(&calls);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, respond, record) = (stream.unwrap(), Arc::clone(&respond), Arc::clone(&record));
                thread::spawn(move || {
                    let call = read(&stream);
                    let response = respond(&call);
                    record.lock().unwrap().push(call);
                    write(&stream, &response);
                });
            }
        });
        Self { url, calls }
    }

    /// Describes every call.
    pub(crate) fn calls(&self, describe: impl Fn(&Call) -> String) -> Vec<String> {
        self.calls.lock().unwrap().iter().map(describe).collect()
    }
}

fn read(stream: &TcpStream) -> Call {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length, mut name, mut token) = (String::new(), 0, None, String::new());
    reader.read_line(&mut head).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((header, value)) = line.trim_end().split_once(": ") else { break };
        match header.to_ascii_lowercase().as_str() {
            "authorization" => token = value.trim_start_matches("Bearer ").to_owned(),
            "content-length" => length = value.parse().unwrap(),
            "transfer-encoding" => panic!("a body of unknown length"),
            "x-amz-target" => name = value.rsplit('.').next().map(str::to_owned),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let path = || head.split(['?', ' ']).take(2).collect::<Vec<_>>().join(" ");
    Call { name: name.unwrap_or_else(path), token, body: serde_json::from_slice(&body).unwrap_or_default() }
}

fn write(mut stream: &TcpStream, (status, document): &Response) {
    let text = document.to_string();
    let length = text.len();
    let location = document["links"]["self"].as_str().map(|path| format!("location: {path}\r\n")).unwrap_or_default();
    let retry = document["retryAfter"].as_u64().map(|s| format!("retry-after: {s}\r\n")).unwrap_or_default();
    let head = format!("HTTP/1.1 {status} x\r\n{location}{retry}connection: close\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{text}").as_bytes()).unwrap();
}
