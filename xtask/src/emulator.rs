//! The local AWS: starts MiniStack, or attaches to a running one.
//!
//! Functions inherit the emulator's environment, so MiniStack starts with an almost empty one. A variable that is
//! missing in the template is then missing here, as on AWS.

use crate::process::Background;
use crate::progress;
use crate::project::Project;
use crate::tools::Tools;
use anyhow::{Context, Result, bail};
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Startup timeout. Startup takes 0.3 s, and longer on a busy machine that has just unpacked the tools.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// A running emulator.
pub(crate) struct Emulator {
    /// Endpoint, without a trailing slash.
    pub(crate) url: String,
    /// Process; `None` if the emulator was already running.
    pub(crate) process: Option<Background>,
}

/// Starts MiniStack on a free port and waits until it answers. Calls `started` as soon as the process exists.
pub(crate) fn start(
    project: &Project,
    tools: &Tools,
    started: impl FnOnce(&Emulator) -> Result<()>,
) -> Result<Emulator> {
    let step = progress::step("Starting the local AWS");
    let port = free_port()?;
    let url = format!("http://127.0.0.1:{port}");
    // Functions are unpacked here, where `down` finds and removes them.
    let scratch = project.state_dir()?.join("tmp");
    fs::create_dir_all(&scratch)?;
    let log = project.log("emulator")?;
    let mut command = tools.command("ministack");
    command
        .env("BIND_HOST", "127.0.0.1")
        .env("GATEWAY_PORT", port.to_string())
        .env("AWS_ENDPOINT_URL", &url)
        // Its MQTT listener has a fixed port, which would conflict with the emulator of a second checkout.
        .env("IOT_MTLS_ENABLED", "0")
        .env("PYTHONPATH", project.root.join("infra/local"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TMPDIR", &scratch);
    let process = Background::spawn(&mut command, &log)?;
    let emulator = Emulator { url, process: Some(process) };
    started(&emulator)?;
    wait_until_ready(&emulator, &log)?;
    step.done_with(&emulator.url);
    Ok(emulator)
}

/// Attaches to an emulator that the caller runs.
pub(crate) fn attach(url: &str) -> Result<Emulator> {
    let url = url.trim_end_matches('/').to_owned();
    if !answers(&url) {
        bail!("no emulator answers at {url}: start it first, or leave --endpoint out and one is started for you");
    }
    Ok(Emulator { url, process: None })
}

fn wait_until_ready(emulator: &Emulator, log: &Path) -> Result<()> {
    let deadline = Instant::now() + START_PATIENCE;
    while !answers(&format!("{}/_ministack/ready", emulator.url)) {
        let dead = emulator.process.as_ref().is_some_and(|process| !process.is_alive());
        if dead || Instant::now() > deadline {
            let what = if dead { "died" } else { "did not answer in time" };
            bail!("the emulator {what}. The end of {}:\n{}", log.display(), tail(log, 20));
        }
        sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Returns true if a server answers at `url` without a server error.
pub(crate) fn answers(url: &str) -> bool {
    let config = ureq::Agent::config_builder()
        .proxy(None)
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(3)))
        .build();
    let answer = ureq::Agent::new_with_config(config).get(url).call();
    answer.is_ok_and(|answer| !answer.status().is_server_error())
}

/// Finds a free port.
pub(crate) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port on 127.0.0.1")?;
    Ok(listener.local_addr()?.port())
}

/// Returns the last lines of a log.
pub(crate) fn tail(log: &Path, lines: usize) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let all: Vec<&str> = text.lines().collect();
    let last = all.len().saturating_sub(lines);
    all.get(last..).unwrap_or_default().join("\n")
}
