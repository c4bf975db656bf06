//! A minimal Lambda runtime API. It sends a process one event and measures its time.

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

/// Timeout of the process's next call.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);

/// Measures the time from the spawn of `bootstrap` until it polls for its first event.
pub(crate) fn first_poll(bootstrap: &Path, environment: &BTreeMap<String, String>) -> Result<Duration> {
    measure(bootstrap, environment, End::Poll)
}

/// Measures the time from the spawn of `bootstrap` until its response to the first event, `event`.
pub(crate) fn first_response(
    bootstrap: &Path,
    environment: &BTreeMap<String, String>,
    event: &str,
) -> Result<Duration> {
    measure(bootstrap, environment, End::Response { event })
}

/// The call that ends a measurement.
#[derive(Clone, Copy)]
enum End<'a> {
    Poll,
    Response { event: &'a str },
}

/// A call by the process, with its time since the spawn.
enum Call {
    /// A poll for an event.
    Poll(Duration),
    /// The response to the event.
    Response(Duration),
    /// Any other call, such as the report of a failure.
    Other(String),
}

/// The API of one process.
struct RuntimeApi {
    started_at: Instant,
    event: Option<String>,
    calls: UnboundedSender<Call>,
}

fn measure(bootstrap: &Path, environment: &BTreeMap<String, String>, end: End<'_>) -> Result<Duration> {
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
        let (calls, receiver) = unbounded_channel();
        let started_at = Instant::now();
        let child = command.spawn().with_context(|| format!("cannot start {}", bootstrap.display()))?;
        let _child = KillOnDrop(child);
        let event = match end {
            End::Poll => None,
            End::Response { event } => Some(event.to_owned()),
        };
        let api = RuntimeApi { started_at, event, calls };
        let router = Router::new().fallback(respond).with_state(Arc::new(api));
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        tokio::spawn(axum::serve(listener, router).into_future());
        wait_for(end, receiver).await
    })
}

struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for the call that ends the measurement. Returns its time.
async fn wait_for(end: End<'_>, mut calls: UnboundedReceiver<Call>) -> Result<Duration> {
    loop {
        let call = timeout(CALL_TIMEOUT, calls.recv()).await.context("the process makes no calls")?;
        match call.context("the runtime API has ended")? {
            Call::Poll(time) if matches!(end, End::Poll) => return Ok(time),
            Call::Poll(_) => {}
            Call::Response(time) => return Ok(time),
            Call::Other(call) => bail!("the process failed: {call}"),
        }
    }
}

async fn respond(State(api): State<Arc<RuntimeApi>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let is_complete = to_bytes(body, usize::MAX).await.is_ok();
    let (time, path) = (api.started_at.elapsed(), head.uri.path());
    let call = if is_complete && path.ends_with("/response") {
        Call::Response(time)
    } else if head.method == Method::GET && path.ends_with("/invocation/next") {
        Call::Poll(time)
    } else {
        Call::Other(format!("{} {path}", head.method))
    };
    let is_poll = matches!(call, Call::Poll(_));
    // After the end of the measurement, the channel is closed.
    let _ = api.calls.send(call);
    match &api.event {
        Some(event) if is_poll => event_response(event),
        _ => StatusCode::ACCEPTED.into_response(),
    }
}

fn event_response(event: &str) -> Response {
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

    /// Writes a function as a shell script that makes these calls to the runtime API.
    fn function(folder: &Path, calls: &[&str]) -> Result<std::path::PathBuf> {
        let path = folder.join("bootstrap");
        let calls: String = calls.iter().map(|call| format!("curl -s {call}\n")).collect();
        fs::write(&path, format!("#!/bin/sh\napi=http://$AWS_LAMBDA_RUNTIME_API/2018-06-01/runtime\n{calls}"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(path)
    }

    #[test]
    fn the_times_of_the_first_poll_and_the_first_response_are_measured() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = BTreeMap::from([("PATH".to_owned(), std::env::var("PATH")?)]);
        let next = "$api/invocation/next";
        let echo = "-T - $api/invocation/bench-1/response <<E\nx\nE";
        let bootstrap = function(folder.path(), &[next, &format!("-X POST {echo}")])?;
        assert!(first_poll(&bootstrap, &path)? > Duration::ZERO);
        assert!(first_response(&bootstrap, &path, "{}")? > Duration::ZERO);
        let bootstrap = function(folder.path(), &["-d x $api/init/error"])?;
        let error = first_poll(&bootstrap, &path).map_or_else(|error| error.to_string(), |_| String::new());
        assert!(error.contains("the process failed: POST"), "{error}");
        Ok(())
    }
}
