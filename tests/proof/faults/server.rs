//! HTTPS servers in Python that record their calls.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::handlers::Endpoint;

/// Maximum time until a condition is met on a busy machine, with faults in each call.
const PATIENCE: Duration = Duration::from_secs(200);

/// A running server. It ends when this value is dropped, or with this process.
pub(crate) struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// Serves an endpoint by `python3 SCRIPT PORT ARGUMENTS…`. `secrets` is its variable
    /// `LONGSHORE_SECRETS`. `folder` gets its certificate.
    ///
    /// # Errors
    /// If it cannot be reached.
    pub(crate) fn start(
        endpoint: &Endpoint,
        folder: &Path,
        secrets: &str,
        script: &str,
        arguments: &[&str],
    ) -> Result<Self> {
        let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
        fs::write(&certificate, &endpoint.certificate)?;
        fs::write(&key, &endpoint.key)?;
        let mut python = Command::new("python3");
        python.arg(source(script)).arg(endpoint.port.to_string()).args(arguments);
        // A pipe to its input closes with this process. It has no output, because whoever reads that of this process waits
        // until nobody can write to it.
        python.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        python.env("LONGSHORE_SECRETS", secrets).env("TLS_CERTIFICATE", certificate).env("TLS_KEY", key);
        python.env("PYTHONPATH", source("examples/handlers/python")).env("PYTHONDONTWRITEBYTECODE", "1");
        let server = Self(python.spawn().context("cannot run python3")?);
        wait_until("the endpoint is reachable", || Ok(TcpStream::connect(("127.0.0.1", endpoint.port)).is_ok()))?;
        Ok(server)
    }
}

/// A file of the checkout.
pub(crate) fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Waits until a condition is met.
pub(crate) fn wait_until(condition: &str, is_met: impl Fn() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !is_met()? {
        ensure!(Instant::now() < deadline, "not in time: {condition}");
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}
