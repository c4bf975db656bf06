//! The example of an endpoint in Python, behind TLS.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::endpoint::{Certificates, Endpoint};
use super::handler::SECRET;
use super::run::{Checked, command};

/// Prints the port of a server of the example: one thread per connection, on a port that is free.
const SERVER: &str = r#"
import os, ssl, socketserver, sys
from wsgiref.simple_server import WSGIServer, WSGIRequestHandler, make_server
from https_endpoint import application

class Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True

class Quiet(WSGIRequestHandler):
    def log_message(self, *_): pass

server = make_server("127.0.0.1", 0, application, Server, Quiet)
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(os.environ["TLS_CERTIFICATE"], os.environ["TLS_KEY"])
server.socket = tls.wrap_socket(server.socket, server_side=True)
with open(os.environ["PORT_FILE"] + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(os.environ["PORT_FILE"] + ".new", os.environ["PORT_FILE"])
server.serve_forever()
"#;

/// A process that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_example_in_python_has_no_finding() {
    let certificates = Certificates::new();
    let port_file = certificates.file("port");
    let mut python = Command::new("python3");
    python.args(["-B", "-c", SERVER]).stdin(Stdio::null());
    python.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/handlers/python"));
    python.env("LONGSHORE_SECRETS", SECRET).env("PORT_FILE", &port_file);
    python.env("TLS_CERTIFICATE", certificates.file("certificate.pem")).env("TLS_KEY", certificates.file("key.pem"));
    let server = Server(python.stderr(Stdio::null()).spawn().unwrap());
    let begun = Instant::now();
    let port = loop {
        if let Ok(port) = fs::read_to_string(&port_file) {
            break port;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "the server does not start");
        sleep(Duration::from_millis(20));
    };
    TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    let samples = certificates.file("items.jsonl");
    fs::write(&samples, "{\"email\":\"ann@example.com\",\"country\":\"France\"}\n{\"email\":\"bob\"}\n{}\n").unwrap();
    let endpoint = Endpoint { url: format!("https://localhost:{port}/"), certificates };
    let checked =
        Checked::new(&command(&endpoint, &["--json", "--items", samples.to_str().unwrap()]).output().unwrap());
    drop(server);
    assert_eq!(checked.findings(), [""; 0], "{:#}", checked.document);
    assert_eq!(checked.check("codes")["summary"], "\"bad_email\", \"no_email\"");
    let note = checked.check("invalid_items")["notes"][0].as_str().unwrap();
    assert!(note.starts_with("an invalid item was answered `retry`"), "{note}");
}
