//! The local proxy: serves the local API at the root-level URLs that it has on AWS.
//!
//! The emulator serves an HTTP API below `/_aws/execute-api/ID/STAGE/`; clients, the page and every `Location` header
//! expect it at `/`. This reverse proxy on 127.0.0.1 maps one to the other. It reads a whole request before it
//! forwards it, with the same size limit as API Gateway. One thread per connection is enough for one developer.

mod forward;
mod request;

pub(crate) use forward::Upstream;

use crate::process::{self, Background};
use crate::project::Project;
use anyhow::{Context, Result, bail};
use forward::PATIENCE;
use request::{Incoming, Refusal};
use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Path that the proxy answers itself, to signal that it is ready.
pub(crate) const READY: &str = "/_local_proxy/ready";

/// Idle timeout of a connection.
const IDLE: Duration = Duration::from_secs(75);

/// Options of the hidden command.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Port on 127.0.0.1
    #[arg(long)]
    port: u16,
    /// URL that `/` is mapped to
    #[arg(long)]
    upstream: String,
}

/// Runs the hidden command: serves until it is killed.
pub(crate) fn run(options: &Options) -> Result<()> {
    let upstream = Upstream::new(options.upstream.clone(), PATIENCE);
    serve(&listen(options.port)?, &Arc::new(upstream))
}

/// Opens the port. The error names the port and the conflict.
pub(crate) fn listen(port: u16) -> Result<TcpListener> {
    TcpListener::bind(("127.0.0.1", port)).with_context(|| {
        format!("port {port} on 127.0.0.1 is taken: name another with --port, or none to get a free one")
    })
}

/// Serves every connection in its own thread.
pub(crate) fn serve(listener: &TcpListener, upstream: &Arc<Upstream>) -> Result<()> {
    for stream in listener.incoming() {
        let stream = stream?;
        let upstream = Arc::clone(upstream);
        // A client that hangs up early is not an error of the proxy.
        thread::spawn(move || converse(&stream, &upstream));
    }
    Ok(())
}

/// Starts the proxy as a background process and waits until it listens.
pub(crate) fn spawn(project: &Project, port: u16, upstream: &str) -> Result<Background> {
    // For a clear error message: in the background, the same failure would only reach a log.
    drop(listen(port)?);
    let log = project.log("local-proxy")?;
    let mut command = Command::new(process::this_program()?);
    command.args(["local-proxy", "--port", &port.to_string(), "--upstream", upstream]);
    let process = Background::spawn(&mut command, &log)?;
    let deadline = Instant::now() + Duration::from_secs(5);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if !process.is_alive() || Instant::now() > deadline {
            bail!("the local proxy did not start: see {}", log.display());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(process)
}

/// The port at the end of a URL.
pub(crate) fn port_of(url: &str) -> Option<u16> {
    url.rsplit_once(':')?.1.parse().ok()
}

/// Serves the requests of one connection, one after the other, until the client or an error ends it.
fn converse(stream: &TcpStream, upstream: &Upstream) -> Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(IDLE))?;
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let incoming = match request::read(&mut reader, &mut writer)? {
            Incoming::Request(request) => request,
            Incoming::End => return Ok(()),
            Incoming::Refused(refusal) => return Ok(writer.write_all(&refuse(refusal))?),
        };
        let answer = if incoming.target == READY { ready() } else { upstream.forward(&incoming) };
        writer.write_all(&answer)?;
        if !incoming.keep_alive {
            return Ok(());
        }
    }
}

fn ready() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec()
}

fn refuse(refusal: Refusal) -> Vec<u8> {
    let (status, text) = match refusal {
        Refusal::Malformed => ("400 Bad Request", "Bad request"),
        Refusal::TooLarge => ("413 Content Too Large", "Request Too Long"),
        Refusal::HeadersTooLarge => ("431 Request Header Fields Too Large", "Headers too long"),
    };
    let body = format!(r#"{{"message":"{text}"}}"#);
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}
