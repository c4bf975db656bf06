//! Free ports, and whether a server is ready.

use anyhow::{Context, Result, bail};
use std::net::TcpListener;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Startup timeout. A program usually starts in a fraction of a second, but takes longer on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Time between two polls of a starting server.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Finds a port that currently has no listener.
///
/// # Errors
/// If no port is free.
pub fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port on 127.0.0.1")?;
    Ok(listener.local_addr()?.port())
}

/// Creates a client that returns every status as a response, including redirects.
pub fn agent() -> ureq::Agent {
    let timeout = Some(Duration::from_secs(30));
    ureq::Agent::config_builder()
        .proxy(None)
        .http_status_as_error(false)
        .timeout_global(timeout)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .build()
        .into()
}

/// Returns true if a server responds at `url` without a server error.
pub fn responds(url: &str) -> bool {
    let request = agent().get(url).config().timeout_global(Some(Duration::from_secs(3))).build();
    request.call().is_ok_and(|response| !response.status().is_server_error())
}

/// Waits until a server responds at `url`. Calls `check` repeatedly, which fails if the server has ended.
pub(crate) fn wait_until_ready(url: &str, mut check: impl FnMut() -> Result<()>) -> Result<()> {
    let deadline = Instant::now() + START_TIMEOUT;
    while !responds(url) {
        check()?;
        if Instant::now() > deadline {
            bail!("no response at {url} within {} s", START_TIMEOUT.as_secs());
        }
        sleep(POLL_INTERVAL);
    }
    Ok(())
}
