//! The local proxy: serves the local API at root-level URLs, as on AWS.
//!
//! The emulator serves an HTTP API at `/_aws/execute-api/ID/STAGE/`, but clients, the page and every `Location` header
//! expect it at `/`. This reverse proxy on 127.0.0.1 maps the paths. It reads a complete request before it forwards it,
//! and has the same size limit as API Gateway.

mod routes;
mod server;

use crate::process::{Background, this_program};
use crate::project::Project;
use anyhow::{Result, bail};
use server::RESPONSE_TIMEOUT;
use std::net::TcpStream;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

pub use server::{READY, Upstream, listen, serve};

/// Startup timeout.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs the hidden command: serves the API at `upstream` until the process is killed.
pub fn run(port: u16, upstream: &str) -> Result<()> {
    serve(listen(port)?, Upstream::new(upstream.to_owned(), RESPONSE_TIMEOUT))
}

/// Starts the proxy as a background process and waits until it listens.
pub fn spawn(project: &Project, port: u16, upstream: &str) -> Result<Background> {
    // Fails here if the port is taken; the error of the background process would only be in its log.
    drop(listen(port)?);
    let log = project.log("local-proxy")?;
    let mut command = Command::new(this_program()?);
    command.args(["local-proxy", "--port", &port.to_string(), "--upstream", upstream]);
    let process = Background::spawn(&mut command, &log)?;
    let deadline = Instant::now() + START_TIMEOUT;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if !process.is_alive() || Instant::now() > deadline {
            bail!("the local proxy did not start: see {}", log.display());
        }
        sleep(Duration::from_millis(10));
    }
    Ok(process)
}

/// Returns the port at the end of a URL.
pub fn port_of(url: &str) -> Option<u16> {
    url.rsplit_once(':')?.1.parse().ok()
}
