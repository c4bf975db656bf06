//! Ports, and the servers behind them.

use anyhow::{Context, Result, bail};
use std::net::TcpListener;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Startup timeout. A program needs a fraction of a second, and longer on a busy machine that has just unpacked it.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// Pause between two looks at a starting server.
const PAUSE: Duration = Duration::from_millis(20);

/// Finds a port without a listener at this moment.
///
/// # Errors
/// If no port is free.
pub fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port on 127.0.0.1")?;
    Ok(listener.local_addr()?.port())
}

/// A client that returns every status as a response, redirects included.
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

/// Returns true if a server answers at `url` without a server error.
pub fn answers(url: &str) -> bool {
    let request = agent().get(url).config().timeout_global(Some(Duration::from_secs(3))).build();
    request.call().is_ok_and(|answer| !answer.status().is_server_error())
}

/// Waits until a server answers at `url`. `check` is called meanwhile, and fails if the server has ended.
pub(crate) fn wait_until_ready(url: &str, mut check: impl FnMut() -> Result<()>) -> Result<()> {
    let deadline = Instant::now() + START_PATIENCE;
    while !answers(url) {
        check()?;
        if Instant::now() > deadline {
            bail!("did not answer at {url} in time");
        }
        sleep(PAUSE);
    }
    Ok(())
}
