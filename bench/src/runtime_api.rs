//! A minimal Lambda runtime API, which gives one process one event and measures its response time.

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// Timeout for a process's next call.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time from the spawn of `bootstrap` until it asks for its first event.
pub(crate) fn first_poll(bootstrap: &Path, environment: &BTreeMap<String, String>) -> Result<Duration> {
    measure(bootstrap, environment, None)
}

/// Time from the spawn of `bootstrap` until it has answered its first event, `event`.
pub(crate) fn first_answer(bootstrap: &Path, environment: &BTreeMap<String, String>, event: &str) -> Result<Duration> {
    measure(bootstrap, environment, Some(event))
}

/// A call by the process.
enum Call {
    /// A request for an event.
    Next(Duration),
    /// The response to the event.
    Answer(Duration),
    /// Another call, such as a report of a failure.
    Other(String),
}

/// The API of one process.
struct RuntimeApi {
    began: Instant,
    event: Option<String>,
    calls: UnboundedSender<Call>,
}

fn measure(bootstrap: &Path, environment: &BTreeMap<String, String>, event: Option<&str>) -> Result<Duration> {
    let runtime = Builder::new_current_thread().enable_all().build().context("cannot start a runtime")?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let mut command = Command::new(bootstrap);
        command
            .env_clear()
            .envs(environment)
            .env("AWS_LAMBDA_RUNTIME_API", listener.local_addr()?.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let (calls, received) = unbounded_channel();
        let began = Instant::now();
        let child = command.spawn().with_context(|| format!("cannot start {}", bootstrap.display()))?;
        let _end = EndOnDrop(child);
        let api = RuntimeApi { began, event: event.map(str::to_owned), calls };
        let router = Router::new().fallback(answer).with_state(Arc::new(api));
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        tokio::spawn(axum::serve(listener, router).into_future());
        wait(received, event.is_some()).await
    })
}

struct EndOnDrop(Child);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for the call that ends the measurement: the answer if there is an event, else the first poll.
async fn wait(mut calls: UnboundedReceiver<Call>, has_event: bool) -> Result<Duration> {
    loop {
        let call = timeout(PATIENCE, calls.recv()).await.context("the process makes no call")?;
        match call.context("the runtime API has ended")? {
            Call::Next(at) if !has_event => return Ok(at),
            Call::Next(_) => {}
            Call::Answer(at) => return Ok(at),
            Call::Other(call) => bail!("the process failed: {call}"),
        }
    }
}

async fn answer(State(api): State<Arc<RuntimeApi>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let is_complete = to_bytes(body, usize::MAX).await.is_ok();
    let (at, path) = (api.began.elapsed(), head.uri.path());
    let call = if is_complete && path.ends_with("/response") {
        Call::Answer(at)
    } else if head.method == Method::GET && path.ends_with("/invocation/next") {
        Call::Next(at)
    } else {
        Call::Other(format!("{} {path}", head.method))
    };
    let is_next = matches!(call, Call::Next(_));
    // Nobody receives calls after the one that ended the measurement.
    let _ = api.calls.send(call);
    match &api.event {
        Some(event) if is_next => next(event),
        _ => StatusCode::ACCEPTED.into_response(),
    }
}

fn next(event: &str) -> Response {
    let headers = [
        ("content-type", "application/json"),
        ("lambda-runtime-aws-request-id", "bench-1"),
        ("lambda-runtime-deadline-ms", "4102444800000"),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:us-east-1:000000000000:function:bench"),
    ];
    (headers, event.to_owned()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// A function in shell, which makes these calls of the runtime API.
    fn function(folder: &Path, calls: &[&str]) -> Result<std::path::PathBuf> {
        let path = folder.join("bootstrap");
        let calls: String = calls.iter().map(|call| format!("curl -s {call}\n")).collect();
        fs::write(&path, format!("#!/bin/sh\napi=http://$AWS_LAMBDA_RUNTIME_API/2018-06-01/runtime\n{calls}"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(path)
    }

    #[test]
    fn a_process_is_measured_to_its_poll_and_to_its_answer() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = BTreeMap::from([("PATH".to_owned(), std::env::var("PATH")?)]);
        let next = "$api/invocation/next";
        let echo = "-T - $api/invocation/bench-1/response <<E\nx\nE";
        let bootstrap = function(folder.path(), &[next, &format!("-X POST {echo}")])?;
        assert!(first_poll(&bootstrap, &path)? > Duration::ZERO);
        assert!(first_answer(&bootstrap, &path, "{}")? > Duration::ZERO);
        let bootstrap = function(folder.path(), &["-d x $api/init/error"])?;
        let failed = first_poll(&bootstrap, &path).map_or_else(|error| error.to_string(), |_| String::new());
        assert!(failed.contains("the process failed: POST"), "{failed}");
        Ok(())
    }
}
