//! What the functions say they cost: the line that each invocation ends with, read from the emulator's own output.
//!
//! Reading a file costs the machine nothing while it is measured, unlike asking the emulator for its logs. Functions and
//! emulator write to it at the same time, so a line may begin or end in the middle of another.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Attempts at AWS calls by service and operation, such as `DynamoDB.UpdateItem`.
pub(super) type Calls = BTreeMap<String, u64>;

/// How every such line begins: its first key.
const BEGINNING: &str = "{\"invocation.";

/// After a job has ended its last functions still write their lines.
const QUIET: Duration = Duration::from_millis(400);

/// The longest wait for quiet.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "invocation.function")]
    function: String,
    #[serde(rename = "invocation.duration_ms")]
    duration_ms: f64,
    #[serde(rename = "invocation.init_ms", default)]
    init_ms: f64,
    #[serde(rename = "invocation.max_rss_kib")]
    max_rss_kib: Option<u64>,
    #[serde(rename = "invocation.calls")]
    calls: Calls,
}

/// All invocations of one function.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage {
    pub(super) invocations: u64,
    /// Handlers' time, and the set-up of new processes: both are billed.
    pub(super) duration_ms: f64,
    /// Of the largest process.
    pub(super) max_rss_kib: u64,
    pub(super) calls: Calls,
}

impl Usage {
    pub(super) fn all_calls(&self) -> u64 {
        self.calls.values().sum()
    }
}

/// Usage by function.
pub(super) type ByFunction = BTreeMap<String, Usage>;

/// The emulator's output, from a moment on.
pub(super) struct Log {
    path: PathBuf,
    from: u64,
}

impl Log {
    /// Everything from now on.
    pub(super) fn from_now(path: &Path) -> Result<Self> {
        let from = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?.len();
        Ok(Self { path: path.to_owned(), from })
    }

    /// Waits until nothing is written any more, then adds up what was.
    pub(super) fn usage(&self) -> Result<ByFunction> {
        self.wait_for_quiet()?;
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.from))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(add_up(&String::from_utf8_lossy(&bytes)))
    }

    fn wait_for_quiet(&self) -> Result<()> {
        let began = Instant::now();
        let mut size = 0;
        loop {
            let now = fs::metadata(&self.path)?.len();
            if now == size || began.elapsed() > PATIENCE {
                return Ok(());
            }
            size = now;
            sleep(QUIET);
        }
    }
}

fn add_up(text: &str) -> ByFunction {
    let mut all = ByFunction::new();
    for (at, _) in text.match_indices(BEGINNING) {
        let rest = text.get(at..).unwrap_or_default();
        let Some(Ok(line)) = serde_json::Deserializer::from_str(rest).into_iter::<Line>().next() else { continue };
        let usage = all.entry(line.function).or_default();
        usage.invocations += 1;
        usage.duration_ms += line.duration_ms + line.init_ms;
        usage.max_rss_kib = usage.max_rss_kib.max(line.max_rss_kib.unwrap_or(0));
        for (call, count) in line.calls {
            *usage.calls.entry(call).or_default() += count;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_the_middle_of_others() {
        let line = |init: &str| {
            format!(
                r#"{{"invocation.calls":{{"S3.GetObject":1}},"invocation.duration_ms":2.5,"invocation.function":"f"{init},"invocation.max_rss_kib":9,"level":"INFO"}}"#
            )
        };
        let text = format!("2026-11-21{}\nnoise {}18:00 INFO", line(r#","invocation.init_ms":1.5"#), line(""));
        let all = add_up(&text);
        let usage = &all["f"];
        assert_eq!((usage.invocations, usage.all_calls(), usage.max_rss_kib), (2, 2, 9));
        assert!((usage.duration_ms - 6.5).abs() < 1e-9);
    }
}
