//! A PUT to the bucket that is repeated after failures.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use ureq::SendBody;

use crate::api::answer::{Answer, NoAnswer};
use crate::api::client::Api;

/// Number of times that a call is tried.
pub(super) const TRIES: u32 = 6;

/// Delay before the second try; doubled for each further one.
pub(super) const BACK_OFF: Duration = Duration::from_millis(500);

/// A presigned URL, and the headers that must be sent with it.
#[derive(Deserialize, Clone)]
pub(super) struct Target {
    url: String,
    headers: BTreeMap<String, String>,
}

impl Api {
    /// Sends bytes to the bucket, again after failures that may pass, and with another URL if the first has expired.
    pub(super) fn put(
        &self,
        mut target: Target,
        source: &mut (impl Read + Seek),
        size: u64,
        renew: &dyn Fn() -> Result<Target>,
        sent: &(dyn Fn(i64) + Sync),
    ) -> Result<()> {
        let action = "sending the file to the bucket";
        let start = source.stream_position()?;
        for retry in 0.. {
            source.seek(SeekFrom::Start(start))?;
            let mut body = Counted { source: source.by_ref().take(size), sent, bytes: 0 };
            let mut put = ureq::http::Request::put(&target.url).header("content-length", size);
            for (name, value) in &target.headers {
                put = put.header(name, value);
            }
            let response = self.agent.run(put.body(SendBody::from_reader(&mut body))?);
            let bytes = body.bytes;
            let answer = response.map(|response| Answer { response });
            // The object exists: an earlier try has arrived, although its answer has not.
            if answer.as_ref().is_ok_and(|answer| matches!(answer.status(), 200 | 412)) {
                return Ok(());
            }
            sent(-bytes);
            let is_expired = answer.as_ref().is_ok_and(|answer| answer.status() == 403);
            let may_pass = is_expired || answer.as_ref().map_or(true, Answer::is_transient);
            if !may_pass || retry + 1 >= TRIES {
                let url = "the storage".to_owned();
                let answer = answer.map_err(|error| NoAnswer { url, error: Box::new(error) }).context(action)?;
                answer.success(action)?;
                bail!("{action}: the storage refuses it");
            }
            sleep(BACK_OFF * 2_u32.pow(retry));
            if is_expired {
                target = renew()?;
            }
        }
        Ok(())
    }
}

/// A body that reports what is sent of it.
struct Counted<'a, R> {
    source: R,
    sent: &'a (dyn Fn(i64) + Sync),
    bytes: i64,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.source.read(buffer)?;
        self.bytes += length as i64;
        (self.sent)(length as i64);
        Ok(length)
    }
}
