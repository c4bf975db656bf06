//! Reads HTTP/1.1 requests from a connection, within API Gateway's limits.

use std::io::{self, BufRead, Read, Write};

/// API Gateway's payload limit.
const BODY_LIMIT: u64 = 10 * 1024 * 1024;

/// Limit of request line and headers. API Gateway's is 10,240 bytes; this one is larger, because browsers on
/// localhost send the cookies of every other local project.
const HEAD_LIMIT: u64 = 64 * 1024;

/// The next event of a connection.
pub(super) enum Incoming {
    /// A complete request.
    Request(Request),
    /// The client has closed the connection, or was idle for too long.
    End,
    /// A request that is refused; the connection must be closed.
    Refused(Refusal),
}

/// The reason why a request is not forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Malformed,
    TooLarge,
    HeadersTooLarge,
}

/// A complete request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// Path and query as sent, still percent-encoded.
    pub(super) target: String,
    /// Names in lower case, in the order sent.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// True if the client keeps the connection open for more requests.
    pub(super) keep_alive: bool,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Reads one request. `writer` is for the `100 Continue` that some clients expect before they send a body.
pub(super) fn read(reader: &mut impl BufRead, writer: &mut impl Write) -> io::Result<Incoming> {
    let Some(head) = read_head(reader)? else {
        return Ok(Incoming::End);
    };
    if head.len() as u64 >= HEAD_LIMIT {
        return Ok(Incoming::Refused(Refusal::HeadersTooLarge));
    }
    let Some(mut request) = parse_head(&head) else {
        return Ok(Incoming::Refused(Refusal::Malformed));
    };
    if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let chunked = request.header("transfer-encoding").is_some();
    let length = request.header("content-length").map_or(Ok(0), str::parse::<u64>);
    let body = match length {
        _ if chunked => read_chunks(reader)?,
        Ok(length) if length > BODY_LIMIT => Err(Refusal::TooLarge),
        Ok(length) => read_exactly(reader, length).map(Ok)?,
        Err(_) => Err(Refusal::Malformed),
    };
    Ok(match body {
        Ok(body) => {
            request.body = body;
            Incoming::Request(request)
        }
        Err(refusal) => Incoming::Refused(refusal),
    })
}

/// Reads everything up to the empty line. `None` if the connection ends or times out before that line.
fn read_head(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut head = Vec::new();
    let mut limited = reader.take(HEAD_LIMIT);
    loop {
        match limited.read_until(b'\n', &mut head) {
            Ok(0) if head.len() as u64 >= HEAD_LIMIT => break,
            Ok(0) | Err(_) => return Ok(None),
            // Empty lines before a request are ignored.
            Ok(_) if matches!(head.as_slice(), b"\r\n" | b"\n") => head.clear(),
            Ok(_) if head.ends_with(b"\r\n\r\n") || head.ends_with(b"\n\n") => break,
            Ok(_) => {}
        }
    }
    Ok(Some(String::from_utf8_lossy(&head).into_owned()))
}

fn parse_head(head: &str) -> Option<Request> {
    let mut lines = head.lines();
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if !target.starts_with('/') || !version.starts_with("HTTP/1.") || words.next().is_some() {
        return None;
    }
    let mut headers = Vec::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request =
        Request { method: method.to_owned(), target: target.to_owned(), headers, body: Vec::new(), keep_alive: true };
    request.keep_alive = match request.header("connection").map(str::to_ascii_lowercase) {
        Some(value) if value.contains("close") => false,
        Some(value) if value.contains("keep-alive") => true,
        _ => version != "HTTP/1.0",
    };
    Some(request)
}

fn read_exactly(reader: &mut impl BufRead, length: u64) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    if body.len() as u64 == length { Ok(body) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Reads a chunked body; trailers are dropped.
fn read_chunks(reader: &mut impl BufRead) -> io::Result<Result<Vec<u8>, Refusal>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.take(1024).read_line(&mut line)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let Ok(size) = u64::from_str_radix(size, 16) else {
            return Ok(Err(Refusal::Malformed));
        };
        if size > BODY_LIMIT - body.len() as u64 {
            return Ok(Err(Refusal::TooLarge));
        }
        body.append(&mut read_exactly(reader, size)?);
        if size == 0 {
            return skip_trailers(reader).map(|()| Ok(body));
        }
        read_exactly(reader, 2)?;
    }
}

fn skip_trailers(reader: &mut impl BufRead) -> io::Result<()> {
    let mut line = String::new();
    while reader.take(HEAD_LIMIT).read_line(&mut line)? > 2 {
        line.clear();
    }
    Ok(())
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
