//! A minimal Lambda runtime API, which gives one process one event and measures its response time.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Timeout for a process's answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time from the spawn of `bootstrap` until it asks for its first event.
pub(super) fn first_poll(bootstrap: &Path, environment: &BTreeMap<String, String>) -> Result<Duration> {
    measure(bootstrap, environment, None)
}

/// Time from the spawn of `bootstrap` until it has answered its first event, `event`.
pub(super) fn first_answer(bootstrap: &Path, environment: &BTreeMap<String, String>, event: &str) -> Result<Duration> {
    measure(bootstrap, environment, Some(event))
}

fn measure(bootstrap: &Path, environment: &BTreeMap<String, String>, event: Option<&str>) -> Result<Duration> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut command = Command::new(bootstrap);
    command
        .env_clear()
        .envs(environment)
        .env("AWS_LAMBDA_RUNTIME_API", listener.local_addr()?.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let began = Instant::now();
    let child = command.spawn().with_context(|| format!("cannot start {}", bootstrap.display()))?;
    let _end = EndOnDrop(child);
    converse(&listener, began, event)
}

struct EndOnDrop(Child);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn converse(listener: &TcpListener, began: Instant, event: Option<&str>) -> Result<Duration> {
    loop {
        let mut stream = listener.accept()?.0;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut reader = BufReader::new(stream.try_clone()?);
        while let Some(request) = read(&mut reader)? {
            let now = began.elapsed();
            if request.contains("/response") {
                return Ok(now);
            }
            ensure!(
                request.starts_with("GET ") && request.contains("/invocation/next"),
                "the process failed: {request}"
            );
            match event {
                None => return Ok(now),
                Some(event) => give(&mut stream, event)?,
            }
        }
    }
}

fn give(stream: &mut TcpStream, event: &str) -> Result<()> {
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nlambda-runtime-aws-request-id: bench-1\r\n\
         lambda-runtime-deadline-ms: 4102444800000\r\n\
         lambda-runtime-invoked-function-arn: arn:aws:lambda:us-east-1:000000000000:function:bench\r\n\
         content-length: {}\r\n\r\n{event}",
        event.len()
    );
    Ok(stream.write_all(answer.as_bytes())?)
}

/// Reads a request and returns its first line; `None` at the end of the connection. The body is consumed.
fn read(reader: &mut BufReader<TcpStream>) -> Result<Option<String>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let (mut line, mut length, mut chunked) = (String::new(), 0_u64, false);
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let lower = line.trim().to_ascii_lowercase();
        if lower.is_empty() {
            break;
        }
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        chunked |= lower.starts_with("transfer-encoding:") && lower.contains("chunked");
    }
    if chunked {
        skip_chunks(reader)?;
    } else {
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink())?;
    }
    Ok(Some(first.trim().to_owned()))
}

fn skip_chunks(reader: &mut BufReader<TcpStream>) -> Result<()> {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = u64::from_str_radix(line.trim(), 16).context("a chunk without a size")?;
        // Each chunk ends with a line break, including the last, empty one.
        std::io::copy(&mut reader.by_ref().take(size + 2), &mut std::io::sink())?;
        if size == 0 {
            return Ok(());
        }
    }
}
