//! The local proxy over real sockets, in front of an upstream that echoes each request.

use anyhow::{Context, Result};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use local_cloud::local_proxy::{READY, Upstream, listen, serve};
use std::convert::Infallible;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Read timeout. A proxy that does not respond fails the test.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// A response as received from the socket.
#[derive(Debug)]
struct RawResponse {
    status: u16,
    head: String,
    body: String,
}

/// Starts an upstream at `/base`, and a proxy in front of it.
fn proxy() -> Result<SocketAddr> {
    let upstream = TcpListener::bind("127.0.0.1:0")?;
    let base = format!("http://{}/base", upstream.local_addr()?);
    upstream.set_nonblocking(true)?;
    thread::spawn(move || -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let upstream = tokio::net::TcpListener::from_std(upstream)?;
            loop {
                let stream = TokioIo::new(upstream.accept().await?.0);
                tokio::spawn(http1::Builder::new().serve_connection(stream, service_fn(echo)));
            }
        })
    });
    proxy_of(base)
}

fn proxy_of(base: String) -> Result<SocketAddr> {
    let listener = listen(0)?;
    let address = listener.local_addr()?;
    thread::spawn(move || serve(listener, Upstream::new(base, Duration::from_secs(5))));
    Ok(address)
}

async fn echo(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("-").to_owned();
    let text = format!(
        "{} {} host={} x={} te={} {}",
        head.method,
        head.uri,
        header("host"),
        header("x"),
        header("te"),
        if body.len() > 100 { body.len().to_string() } else { String::from_utf8_lossy(&body).into_owned() },
    );
    let status = if head.uri.path().ends_with("/unchanged") { 304 } else { 200 };
    let response = Response::builder().status(status).header("x-kept", "yes").header("keep-alive", "timeout=1");
    Ok(response.body(Full::from(text)).unwrap_or_default())
}

/// Sends bytes on one connection, and reads a response for each method.
fn send(proxy: SocketAddr, bytes: &[u8], methods: &[&str]) -> Result<Vec<RawResponse>> {
    let mut stream = TcpStream::connect(proxy)?;
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    // The proxy can close the connection of a refused request before it is sent.
    let _ = stream.write_all(bytes);
    let mut reader = BufReader::new(stream);
    methods.iter().map(|method| read(&mut reader, method)).collect()
}

fn read(reader: &mut BufReader<TcpStream>, method: &str) -> Result<RawResponse> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        anyhow::ensure!(reader.read_line(&mut head)? > 0, "the connection has ended: {head}");
    }
    let status = head.split(' ').nth(1).context("no status")?.parse()?;
    let head = head.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; if method == "HEAD" { 0 } else { length.unwrap_or(0) }];
    reader.read_exact(&mut body)?;
    Ok(RawResponse { status, head, body: String::from_utf8(body)? })
}

#[test]
fn two_requests_of_one_connection_are_forwarded_separately() -> Result<()> {
    let proxy = proxy()?;
    let bytes = b"POST /a?b=%2F HTTP/1.1\r\nHost: h\r\nX: 1\r\nTE: trailers\r\ncontent-length: 3\r\n\r\nx\n\n\
        GET /api HTTP/1.1\r\nHost: h\r\n\r\n";
    let responses = send(proxy, bytes, &["POST", "GET"])?;
    assert_eq!(responses[0].body, "POST /base/a?b=%2F host=h x=1 te=- x\n\n");
    assert_eq!(responses[1].body, "GET /base/api host=h x=- te=- ");
    assert!(responses[0].head.contains("x-kept: yes") && !responses[0].head.contains("keep-alive"), "{responses:?}");
    Ok(())
}

#[test]
fn a_chunked_body_is_joined() -> Result<()> {
    let bytes = b"POST / HTTP/1.1\r\nHost: h\r\ntransfer-encoding: chunked\r\n\r\n\
        3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nt: v\r\n\r\nGET /next HTTP/1.1\r\nHost: h\r\n\r\n";
    let responses = send(proxy()?, bytes, &["POST", "GET"])?;
    assert!(responses[0].body.ends_with(" abc0123456789"), "{responses:?}");
    assert!(responses[1].body.starts_with("GET /base/next "), "{responses:?}");
    Ok(())
}

#[test]
fn invalid_or_too_large_requests_are_refused() -> Result<()> {
    let proxy = proxy()?;
    let long = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(70_000));
    for (bytes, status) in [
        ("hello\r\n\r\n", 400),
        ("GET http://elsewhere.example/ HTTP/1.1\r\nhost: h\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\ncontent-length: 10485761\r\n\r\n", 413),
        (long.as_str(), 431),
    ] {
        let responses = send(proxy, bytes.as_bytes(), &["GET"])?;
        assert_eq!(responses[0].status, status, "{}", bytes.lines().next().unwrap_or_default());
        assert!(responses[0].head.contains("connection: close"), "{responses:?}");
    }
    Ok(())
}

#[test]
fn a_body_can_be_as_large_as_the_gateway_allows() -> Result<()> {
    let mut bytes = b"PUT / HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 10485760\r\n\r\n".to_vec();
    bytes.resize(bytes.len() + (10 << 20), b'x');
    // The first response is `100 Continue`, for which some clients wait.
    let responses = send(proxy()?, &bytes, &["PUT", "PUT"])?;
    assert_eq!((responses[0].status, responses[1].status), (100, 200));
    assert!(responses[1].body.ends_with(" 10485760"), "{}", responses[1].body);
    Ok(())
}

#[test]
fn responses_without_a_body_stay_without_a_body() -> Result<()> {
    let bytes = b"HEAD / HTTP/1.1\r\nhost: h\r\n\r\nGET /unchanged HTTP/1.1\r\nhost: h\r\n\r\nGET / HTTP/1.1\r\nhost: h\r\n\r\n";
    let responses = send(proxy()?, bytes, &["HEAD", "HEAD", "GET"])?;
    assert_eq!(responses.iter().map(|response| response.status).collect::<Vec<_>>(), [200, 304, 200]);
    assert!(responses[2].body.starts_with("GET /base/ "), "{responses:?}");
    Ok(())
}

#[test]
fn a_connection_is_kept_unless_the_client_closes_it() -> Result<()> {
    let proxy = proxy()?;
    for (head, kept) in [
        ("GET / HTTP/1.1\r\nhost: h\r\n\r\n", true),
        ("GET / HTTP/1.1\r\nhost: h\r\nConnection: Close\r\n\r\n", false),
        ("GET / HTTP/1.0\r\n\r\n", false),
        ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true),
    ] {
        let responses = send(proxy, head.repeat(2).as_bytes(), &["GET", "GET"]);
        assert_eq!(responses.is_ok(), kept, "{head}");
    }
    Ok(())
}

#[test]
fn the_proxy_itself_responds_when_it_is_ready_or_has_no_upstream() -> Result<()> {
    let proxy = proxy_of("http://127.0.0.1:9".to_owned())?;
    let request = format!("GET {READY} HTTP/1.1\r\nhost: h\r\n\r\nGET / HTTP/1.1\r\nhost: h\r\n\r\n");
    let responses = send(proxy, request.as_bytes(), &["GET", "GET"])?;
    assert_eq!((responses[0].status, responses[1].status), (200, 502));
    assert_eq!(responses[1].body, r#"{"message":"Service Unavailable"}"#);
    Ok(())
}
