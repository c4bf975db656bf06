//! HTTPS, with a certificate of the system.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};

#[test]
fn a_deployment_is_called_by_https_and_its_certificate_is_checked() {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = Arc::new(config.with_single_cert(vec![cert.der().clone()], key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut connection) = (stream.unwrap(), ServerConnection::new(Arc::clone(&config)).unwrap());
            let mut tls = Stream::new(&mut connection, &mut stream);
            // A client that does not trust the certificate ends the connection.
            if tls.read(&mut [0; 4096]).is_ok() {
                let body = r#"{"jobs":[],"nextCursor":null}"#;
                let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
                tls.write_all(format!("{head}{body}").as_bytes()).unwrap();
            }
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let roots = folder.path().join("roots.pem");
    let list = |pem: &str| {
        std::fs::write(&roots, pem).unwrap();
        let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
        longshore.args(["jobs", "list", "--json", "--api-url", &url]).env("SSL_CERT_FILE", &roots);
        longshore.env_remove("LONGSHORE_TOKEN").output().unwrap()
    };
    let output = list(&cert.pem());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let other = generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let output = list(&other.cert.pem());
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
}
