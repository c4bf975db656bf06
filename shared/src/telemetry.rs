//! Logs as JSON lines on standard output, and one line with the cost at the end of every invocation.
//!
//! Lambda turns each line into a log event. The last line is written regardless of `RUST_LOG`, because benchmarks and
//! dashboards read it.

use std::error::Error;
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};
use tracing_subscriber::EnvFilter;

use crate::config::Calls;

/// Build settings of this binary, as a text that `deploy-check` finds in it. Only the panic strategy `unwind`
/// compiles.
const BUILD: &str = if cfg!(debug_assertions) {
    "longshore build: panic=unwind; profile=debug;"
} else {
    "longshore build: panic=unwind; profile=release;"
};

/// Start of the process's set-up.
static STARTED: OnceLock<Instant> = OnceLock::new();

/// True once the set-up time has been reported.
static INIT_REPORTED: AtomicBool = AtomicBool::new(false);

/// Starts logging, filtered by `RUST_LOG` (`info` if unset). The first line of every `main`; idempotent.
pub fn init() {
    STARTED.get_or_init(Instant::now);
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let subscriber =
        tracing_subscriber::fmt().json().flatten_event(true).with_current_span(false).with_env_filter(filter);
    // Fails in a test that has already installed a subscriber.
    let _ = subscriber.try_init();
    tracing::debug!(build = BUILD, "process started");
}

/// Writes the last line of an invocation of `function` that started at `started` and made these `calls`.
///
/// Fields: `invocation.duration_ms`, `invocation.max_rss_kib` (of the process until now), `invocation.calls` (by
/// operation), and once per process `invocation.init_ms`, from [`init`] to the first `started`.
pub fn record_invocation(function: &str, started: Instant, calls: &Calls) {
    let line = invocation(function, started, calls);
    // An error of standard output cannot be logged.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

fn invocation(function: &str, started: Instant, calls: &Calls) -> Value {
    let mut line = json!({
        "timestamp": Timestamp::now().to_rfc3339(),
        "level": "INFO",
        "message": "invocation ended",
        "target": "longshore::telemetry",
        "invocation.function": function,
        "invocation.duration_ms": started.elapsed().as_secs_f64() * 1000.0,
        "invocation.max_rss_kib": max_rss_kib(),
        "invocation.calls": calls,
    });
    if let Some(init_started) = STARTED.get().filter(|_| !INIT_REPORTED.swap(true, Ordering::Relaxed)) {
        line["invocation.init_ms"] = json!(started.saturating_duration_since(*init_started).as_secs_f64() * 1000.0);
    }
    line
}

/// Formats an error and all its causes in one line, for logs: adapters keep the service's own message in the causes.
pub fn chain(error: &dyn Error) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Returns the peak memory of this process, on Linux; `None` elsewhere.
fn max_rss_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_contains_the_cost_of_an_invocation() {
        init();
        let calls = Calls::from([("DynamoDB.UpdateItem".to_owned(), 3)]);
        let first = invocation("process-item", Instant::now(), &calls);
        assert_eq!(first["invocation.calls"]["DynamoDB.UpdateItem"], 3);
        assert!(first["invocation.max_rss_kib"].as_u64().is_some_and(|kib| kib > 100));
        assert!(first["invocation.init_ms"].is_number());
        let second = invocation("process-item", Instant::now(), &calls);
        assert_eq!(second.get("invocation.init_ms"), None);
    }

    #[test]
    fn a_chain_contains_every_cause() {
        let cause = std::io::Error::other("connection reset");
        let error =
            longshore_domain::ports::PortError { service: "store", operation: "commit", source: Box::new(cause) };
        assert_eq!(chain(&error), "store: commit failed: connection reset");
    }
}
