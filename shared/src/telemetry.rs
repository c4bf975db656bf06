//! Logs as JSON lines on standard output. At the end of every invocation, its metrics, and one line with its cost.
//!
//! Lambda turns each line into a log event. These lines are written regardless of `RUST_LOG`, because benchmarks and
//! dashboards read them.
//!
//! The log records of work on a job have its id as `job.id` in `span`, and the id of its trace as `trace.id`, so that
//! those of all functions join. A request, a message and a push of the sweeper each have a span with these fields.

use std::error::Error;
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::trace::TraceId;
use serde_json::{Value, json};
use tracing::Span;
use tracing::field::{Empty, display};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::SubscriberBuilder;
use tracing_subscriber::fmt::format::{Format, Json, JsonFields};

use crate::config::Calls;
use crate::metrics;

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
    // Fails in a test that has already installed a subscriber.
    let _ = lines().with_env_filter(filter).try_init();
    tracing::debug!(build = BUILD, "process started");
}

/// Writes each record as a line of JSON: its own fields, the innermost span as `span`, and all spans as `spans`.
fn lines() -> SubscriberBuilder<JsonFields, Format<Json>> {
    tracing_subscriber::fmt().json().flatten_event(true)
}

/// Returns the span of work on a job. [`record_job`] adds the job's trace once the job is read.
pub fn job_span(job_id: JobId) -> Span {
    tracing::error_span!("job", job.id = %job_id, trace.id = Empty)
}

/// Adds the ids of a job and of its trace to the current span: a request, a message, or [`job_span`].
pub fn record_job(job: &Job) {
    record_job_id(job.job_id);
    record_trace(job.trace_id());
}

/// Adds the id of a job that is not read to the current span.
pub fn record_job_id(id: JobId) {
    Span::current().record("job.id", display(id));
}

/// Adds the id of a trace to the current span.
pub fn record_trace(id: TraceId) {
    Span::current().record("trace.id", display(id));
}

/// Writes the metrics of an invocation of `function` that started at `started` and made these `calls`, and its last line.
///
/// Fields: `invocation.duration_ms`, `invocation.max_rss_kib` (of the process until now), `invocation.calls` (by
/// operation), and once per process `invocation.init_ms`, from [`init`] to the first `started`.
pub fn record_invocation(function: &str, started: Instant, calls: &Calls) {
    let line = invocation(function, started, calls);
    let mut output = std::io::stdout().lock();
    // An error of standard output cannot be logged.
    let _ = metrics::write(&mut output, &metrics::take(), &stack(function), Timestamp::now());
    let _ = writeln!(output, "{line}");
}

/// Returns the name of the stack: the functions are named after it.
fn stack(function: &str) -> String {
    let name = std::env::var("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_default();
    name.strip_suffix(function).and_then(|stack| stack.strip_suffix('-')).unwrap_or(&name).to_owned()
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
    use std::sync::{Arc, Mutex};

    use longshore_domain::tenant::TenantId;

    use super::*;

    /// The lines that were written.
    #[derive(Clone, Debug, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_records_of_work_on_a_job_have_its_id_and_that_of_its_trace() {
        let trace = TraceId::generate();
        let new = || Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(0));
        for job in [new(), Job { trace: Some(trace), ..new() }] {
            let written = Written::default();
            let writer = written.clone();
            let subscriber = lines().with_writer(move || writer.clone()).finish();
            tracing::subscriber::with_default(subscriber, || {
                job_span(job.job_id).in_scope(|| {
                    record_job(&job);
                    tracing::error!(group = 7, "a record");
                });
            });
            let line: Value = serde_json::from_slice(&written.0.lock().unwrap()).unwrap();
            let ids = json!({ "name": "job", "job.id": job.job_id, "trace.id": job.trace_id() });
            assert_eq!((&line["message"], &line["group"], &line["span"]), (&json!("a record"), &json!(7), &ids));
            assert_eq!(line["spans"], json!([ids]));
        }
    }

    #[test]
    fn the_last_line_contains_the_cost_of_an_invocation() {
        init();
        let calls = Calls::from([("DynamoDB.UpdateItem".to_owned(), 3)]);
        let first = invocation("process-item", Instant::now(), &calls);
        assert_eq!(first["invocation.calls"]["DynamoDB.UpdateItem"], 3);
        assert!(first["invocation.max_rss_kib"].as_u64().is_some_and(|kib| kib > 100));
        assert!(first["invocation.init_ms"].is_number() && first["invocation.duration_ms"].is_number());
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
