//! HTTPS servers in Python, with the certificate of a local authority. Their ports and the certificate are parameters of
//! the deployment.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use data_encoding::BASE64;
use local_cloud::process::free_port;

use crate::shared::wait_until;

/// What the servers of a process have in common.
struct Local {
    certificate: String,
    key: String,
    endpoint: u16,
    images: u16,
}

fn local() -> &'static Local {
    static LOCAL: OnceLock<Local> = OnceLock::new();
    LOCAL.get_or_init(|| {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
        let made = made.unwrap_or_else(|error| panic!("no certificate can be made: {error}"));
        let port = || free_port().unwrap_or_else(|error| panic!("no port is free: {error}"));
        let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        Local { certificate, key, endpoint: port(), images: port() }
    })
}

/// A server.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Site {
    /// A handler.
    Endpoint,
    /// A host of images.
    Images,
}

impl Site {
    fn port(self) -> u16 {
        match self {
            Self::Endpoint => local().endpoint,
            Self::Images => local().images,
        }
    }

    /// Its URL, which ends with a slash.
    pub(crate) fn url(self) -> String {
        format!("https://localhost:{}/", self.port())
    }

    /// Serves the WSGI application of a module.
    ///
    /// # Errors
    /// If Python does not start.
    pub(crate) fn serve(self, folder: &Path, module: &str, variables: &[(&str, &str)]) -> Result<Running> {
        let files = tempfile::tempdir()?;
        let (certificate, key) = (files.path().join("certificate.pem"), files.path().join("key.pem"));
        std::fs::write(&certificate, &local().certificate)?;
        std::fs::write(&key, &local().key)?;
        let mut python = Command::new("python3");
        python.args(["-c", SERVE, module, &self.port().to_string()]).current_dir(folder);
        python.env("TLS_CERTIFICATE", certificate).env("TLS_KEY", key).env("PYTHONDONTWRITEBYTECODE", "1");
        python.envs(variables.iter().copied());
        let running = Running(python.stderr(Stdio::null()).spawn().context("cannot run python3")?);
        wait_until(|| Ok(TcpStream::connect(("127.0.0.1", self.port())).is_ok()))?;
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

/// Parameters of a stack that may call these servers.
pub(crate) fn parameters() -> [(&'static str, String); 2] {
    let Local { endpoint, images, certificate, .. } = local();
    // Without padding, whose signs end a value on the command line.
    let padding = "\n".repeat((3 - certificate.len() % 3) % 3);
    let certificate = BASE64.encode(format!("{certificate}{padding}").as_bytes());
    [("HandlerPorts", format!("{endpoint},{images}")), ("LocalHandlerCa", certificate)]
}
