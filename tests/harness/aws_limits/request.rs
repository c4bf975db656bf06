//! The head of an HTTP/1.1 request.

use std::io::{BufRead, Read};

use anyhow::{Context, Result, ensure};

/// Maximum size of a head: more than any client sends.
const HEAD_BYTES: u64 = 64 * 1024;

/// Maximum size in bytes of a body that is checked.
const BODY_BYTES: u64 = 32 << 20;

/// Request line and headers.
#[derive(Clone, Debug, Default)]
pub(super) struct Head {
    pub(super) method: String,
    /// Path and query, as sent.
    pub(super) target: String,
    /// Headers, with names in lower case.
    headers: Vec<(String, String)>,
    /// The bytes as received.
    pub(super) bytes: Vec<u8>,
}

/// The body that follows a head.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Body {
    /// A body of this many bytes that is read and checked.
    Checked(usize),
    /// A body of this many bytes that is forwarded without a check: rows of a file.
    Forwarded(u64),
    /// A body of unknown length.
    Unknown,
}

impl Head {
    /// Reads the next head. Returns `None` if the connection has ended.
    pub(super) fn read(reader: &mut impl BufRead) -> Result<Option<Self>> {
        let mut bytes = Vec::new();
        let mut limited = reader.take(HEAD_BYTES);
        while !bytes.ends_with(b"\r\n\r\n") {
            if limited.read_until(b'\n', &mut bytes)? == 0 {
                ensure!(bytes.is_empty(), "the connection ends within a head");
                return Ok(None);
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut lines = text.lines();
        let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
        let (method, target) =
            (words.next().context("the request has no method")?, words.next().context("the request has no target")?);
        let header =
            |line: &str| line.split_once(':').map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
        Ok(Some(Self { method, target, headers: lines.filter_map(header).collect(), bytes }))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Service and operation of a call of DynamoDB or SQS: `DynamoDB_20120810.PutItem`.
    pub(super) fn operation(&self) -> Option<(&str, &str)> {
        self.header("x-amz-target")?.split_once('.')
    }

    /// A parameter of the query, as received.
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        query.split('&').find_map(|parameter| parameter.strip_prefix(name)?.strip_prefix('='))
    }

    pub(super) fn body(&self) -> Body {
        if self.header("transfer-encoding").is_some() {
            return Body::Unknown;
        }
        let length = self.header("content-length").map_or(Ok(0), str::parse::<u64>);
        match length {
            Err(_) => Body::Unknown,
            Ok(length) if self.method == "PUT" || length > BODY_BYTES => Body::Forwarded(length),
            Ok(length) => Body::Checked(length as usize),
        }
    }
}
