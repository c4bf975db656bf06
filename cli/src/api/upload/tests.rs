//! A storage that receives no part before several are under way.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use super::Upload;
use super::checksums::Checksums;
use super::sender::Sender;
use crate::api::client::Api;
use crate::api::file::LocalFile;

/// Number of parts that must be under way at once.
const TOGETHER: usize = 4;

/// Time for which a part waits for the others. Later parts do not wait again.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Parts {
    under_way: usize,
    most: usize,
    has_waited: bool,
}

/// The storage, and the API beside it.
#[derive(Default)]
struct Storage {
    parts: Mutex<Parts>,
    changed: Condvar,
}

impl Storage {
    /// Starts a server. Returns its URL. It runs until the test process ends.
    fn start(storage: Arc<Self>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let storage = Arc::clone(&storage);
                thread::spawn(move || storage.answer(&stream.unwrap()));
            }
        });
        url
    }

    fn answer(&self, mut stream: &TcpStream) {
        if read(stream).starts_with("PUT ") {
            self.receive_part();
        }
        let answer = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
        stream.write_all(answer.as_bytes()).unwrap();
    }

    /// Waits until enough parts are under way, or the time is over.
    fn receive_part(&self) {
        let mut parts = self.parts.lock().unwrap();
        parts.under_way += 1;
        parts.most = parts.most.max(parts.under_way);
        self.changed.notify_all();
        let lacks_others = |parts: &mut Parts| parts.most < TOGETHER && !parts.has_waited;
        let (mut parts, wait) = self.changed.wait_timeout_while(parts, PATIENCE, lacks_others).unwrap();
        parts.has_waited |= wait.timed_out();
        parts.under_way -= 1;
    }
}

/// Reads a request with its body. Returns its first line.
fn read(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().unwrap();
        }
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    first
}

#[test]
fn four_parts_are_sent_at_once() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "aaabbbcccdddeeefffggghhh")?;
    let file = LocalFile::open(&path)?;
    let checksums = Checksums::read(&file, Some(3))?;
    let storage = Arc::new(Storage::default());
    let url = Storage::start(Arc::clone(&storage));
    let part =
        |number: u64| json!({ "partNumber": number, "size": 3, "url": format!("{url}/part/{number}"), "headers": {} });
    let parts: Vec<Value> = (1..=8).map(part).collect();
    let upload: Upload = serde_json::from_value(json!({ "fileGuid": "u", "parts": parts }))?;
    let api = Api::new(&url, None);
    let sender = Sender { api: &api, file: &file, checksums: &checksums, upload: &upload, sent: &|_| {} };
    sender.parts(&[])?;
    let most = storage.parts.lock().unwrap().most;
    assert_eq!(most, TOGETHER, "parts under way at once");
    Ok(())
}
