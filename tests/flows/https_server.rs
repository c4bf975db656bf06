//! HTTPS servers in Python. Their ports and certificates are parameters of the deployment.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use longshore_tests::harness::handlers::Endpoint;

use crate::shared::wait_until;

/// A server that the stories run.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Site {
    /// A handler.
    Handler,
    /// A host of images.
    Images,
    /// A receiver of webhooks.
    Webhooks,
    /// The examples of receivers.
    Receivers,
}

impl Site {
    /// Returns its address and its certificate.
    pub(crate) fn endpoint(self) -> &'static Endpoint {
        static ENDPOINTS: OnceLock<[Endpoint; 4]> = OnceLock::new();
        let new = || Endpoint::new().unwrap_or_else(|error| panic!("{error:?}"));
        let [handler, images, webhooks, receivers] = ENDPOINTS.get_or_init(|| {
            let webhooks = new();
            // The variables of a function have room for three certificates.
            let receivers = webhooks.on_another_port().unwrap_or_else(|error| panic!("{error:?}"));
            [new(), new(), webhooks, receivers]
        });
        match self {
            Self::Handler => handler,
            Self::Images => images,
            Self::Webhooks => webhooks,
            Self::Receivers => receivers,
        }
    }

    /// Serves the WSGI application of a module.
    ///
    /// # Errors
    /// If Python does not start.
    pub(crate) fn serve(self, folder: &Path, module: &str, variables: &[(&str, &str)]) -> Result<Running> {
        let (endpoint, files) = (self.endpoint(), tempfile::tempdir()?);
        let (certificate, key) = (files.path().join("certificate.pem"), files.path().join("key.pem"));
        std::fs::write(&certificate, &endpoint.certificate)?;
        std::fs::write(&key, &endpoint.key)?;
        let mut python = Command::new("python3");
        python.args(["-c", SERVE, module, &endpoint.port.to_string()]).current_dir(folder);
        python.env("TLS_CERTIFICATE", certificate).env("TLS_KEY", key).env("PYTHONDONTWRITEBYTECODE", "1");
        python.envs(variables.iter().copied());
        let running = Running(python.stderr(Stdio::null()).spawn().context("cannot run python3")?);
        wait_until(|| Ok(TcpStream::connect(("127.0.0.1", endpoint.port)).is_ok()))?;
        Ok(running)
    }
}

const SERVE: &str = "
import importlib, os, ssl, sys
from wsgiref.simple_server import make_server
sys.path.insert(0, os.getcwd())
application = importlib.import_module(sys.argv[1]).application
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(os.environ['TLS_CERTIFICATE'], os.environ['TLS_KEY'])
server = make_server('127.0.0.1', int(sys.argv[2]), application)
server.socket = tls.wrap_socket(server.socket, server_side=True)
server.serve_forever()
";

/// A server, until it is dropped.
pub(crate) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
