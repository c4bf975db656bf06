//! Downloads of public files, and servers that redirect them with malice.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step fails the test")]

mod support;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use longshore_outbound::address::Purpose;
use longshore_outbound::failure::CallFailure::{RefusedAddress, TimedOut, TooLarge};
use longshore_outbound::failure::{Part, Phase};
use longshore_outbound::fetch::FetchFailure::{self, Call, Redirect, TooManyRedirects};
use longshore_outbound::limits::Limits;
use longshore_outbound::network::{Later, Network};
use longshore_outbound::url::UrlError;
use support::{World, limits};
use tokio::net::TcpStream;

const KIB: usize = 1024;

fn redirect(status: u16, location: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n").into_bytes()
}

fn body(bytes: usize) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n").as_bytes(), &vec![b'x'; bytes]].concat()
}

/// Answers by the path: `/r/STATUS/TARGET` redirects, `/hops/N` redirects N times, anything else is a file.
fn answer(path: &str) -> Vec<u8> {
    if let Some((status, target)) = path.strip_prefix("/r/").and_then(|rest| rest.split_once('/')) {
        return redirect(status.parse().unwrap(), &target.replace("%20", " "));
    }
    match path.strip_prefix("/hops/").map(|hops| hops.parse::<u32>().unwrap()) {
        Some(0) | None if path == "/none" => b"HTTP/1.1 302 X\r\ncontent-length: 0\r\n\r\n".to_vec(),
        Some(0) | None => body(10),
        Some(hops) => redirect(302, &format!("/hops/{}", hops - 1)),
    }
}

async fn refusal(world: &World, path: &str) -> FetchFailure {
    world.get(path, KIB).await.expect_err(path)
}

#[tokio::test]
async fn a_download_is_an_unsigned_get_without_a_body_cookies_or_referrer() {
    let (world, requests) = World::routing(limits(), answer).await;
    assert_eq!(world.get("/a.jpg?w=1#top", KIB).await.unwrap().body.len(), 10);
    let request = requests.lock().unwrap()[0].clone();
    let mut lines: Vec<_> = request.trim_end().lines().collect();
    assert_eq!(lines.remove(0), "GET /a.jpg?w=1 HTTP/1.1");
    let names: Vec<_> = lines.iter().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(names, ["host", "accept", "accept-encoding", "user-agent"]);
    assert!(lines.contains(&"accept: image/webp,image/*") && lines.contains(&"accept-encoding: identity"));
}

#[tokio::test]
async fn a_redirect_is_followed_with_a_get() {
    let (world, requests) = World::routing(limits(), answer).await;
    for status in [301, 302, 303, 307, 308] {
        assert_eq!(world.get(&format!("/r/{status}//a"), KIB).await.unwrap().body.len(), 10);
        assert!(requests.lock().unwrap().last().unwrap().starts_with("GET /a HTTP/1.1"));
    }
    for (path, status) in [("/r/300//a", 300), ("/r/304//a", 304), ("/r/201//a", 201), ("/none", 302)] {
        assert_eq!(world.get(path, KIB).await.unwrap().status, status, "{path} is no redirect that can be followed");
    }
}

#[tokio::test]
async fn three_redirects_are_followed_and_a_loop_ends() {
    let (world, requests) = World::routing(limits(), answer).await;
    assert_eq!(world.get("/hops/3", KIB).await.unwrap().status, 200);
    requests.lock().unwrap().clear();
    for path in ["/hops/4", "/r/302/"] {
        assert_eq!(refusal(&world, path).await, TooManyRedirects);
        assert_eq!(std::mem::take(&mut *requests.lock().unwrap()).len(), 4, "{path}");
    }
}

#[tokio::test]
async fn a_redirect_to_a_url_that_is_not_allowed_is_not_followed() {
    let (world, _) = World::routing(limits(), answer).await;
    for (target, expected) in [
        ("http://localhost/", UrlError::NotHttps),
        ("http://169.254.169.254/latest/meta-data/", UrlError::NotHttps),
        ("file:///etc/passwd", UrlError::NotHttps),
        ("https://127.0.0.1/", UrlError::NumericHost),
        ("https://169.254.169.254/", UrlError::NumericHost),
        ("//2852039166/latest/", UrlError::NumericHost),
        ("https://[::ffff:127.0.0.1]/", UrlError::NumericHost),
        ("https://a@localhost/", UrlError::UserInfo),
        ("https://example.com:22/", UrlError::PortNotAllowed(22)),
        ("https://intranet/", UrlError::HostName("intranet".into())),
        ("/a%20b", UrlError::Character(' ')),
    ] {
        assert_eq!(refusal(&world, &format!("/r/302/{target}")).await, Redirect(expected), "{target}");
    }
    assert_eq!(world.connections(), 1, "no other server was called");
    let latin = World::answering(&b"HTTP/1.1 302 X\r\nlocation: /\xe4\r\ncontent-length: 0\r\n\r\n"[..]).await;
    assert!(matches!(refusal(&latin, "/").await, Redirect(UrlError::Invalid(_))));
}

/// A resolver that knows two private hosts, and one whose address is public at first.
#[derive(Default)]
struct Hostile {
    asked: Mutex<Vec<String>>,
}

impl Network for Hostile {
    fn resolve<'a>(&'a self, host: &'a str) -> Later<'a, Vec<IpAddr>> {
        self.asked.lock().unwrap().push(host.to_owned());
        let address = match host {
            "metadata.example.com" => "169.254.169.254",
            "private.example.com" => "10.0.0.1",
            _ => "::ffff:127.0.0.1",
        };
        Box::pin(async move { Ok(vec![address.parse().unwrap()]) })
    }

    fn connect(&self, address: SocketAddr) -> Later<'_, TcpStream> {
        Box::pin(async move {
            if address.ip().is_loopback() { TcpStream::connect(address).await } else { Err(io::Error::other("dialed")) }
        })
    }
}

#[tokio::test]
async fn the_addresses_of_every_hop_are_checked() {
    let (world, _) = World::routing(limits(), answer).await;
    let network = Arc::new(Hostile::default());
    let world = world.with_network(Arc::clone(&network) as Arc<dyn Network>);
    for (host, address, purpose) in [
        ("metadata.example.com", "169.254.169.254", Purpose::Metadata),
        ("private.example.com", "10.0.0.1", Purpose::Private),
        ("mapped.example.com", "::ffff:127.0.0.1", Purpose::EmbeddedIpv4),
    ] {
        let refused = RefusedAddress { address: address.parse().unwrap(), purpose };
        assert_eq!(refusal(&world, &format!("/r/302/https://{host}/latest/")).await, Call(refused), "{host}");
    }
    assert_eq!(network.asked.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn the_limit_of_a_file_is_that_of_its_download() {
    fn sized(path: &str) -> Vec<u8> {
        let (kind, bytes) = path[1..].split_once('/').unwrap();
        let bytes: usize = bytes.parse().unwrap();
        match kind {
            "counted" => body(bytes),
            "announced" => format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n").into_bytes(),
            _ => {
                let head = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{bytes:x}\r\n");
                [head.as_bytes(), &vec![b'x'; bytes], b"\r\n0\r\n\r\n"].concat()
            }
        }
    }
    let (world, _) = World::routing(limits(), sized).await;
    let above_default = Limits::default().body_bytes + KIB;
    for (path, limit, fits) in [
        ("/counted/1024".to_owned(), KIB, true),
        ("/counted/1025".to_owned(), KIB, false),
        ("/chunked/1024".to_owned(), KIB, true),
        ("/chunked/1025".to_owned(), KIB, false),
        ("/announced/99999999999".to_owned(), KIB, false),
        (format!("/counted/{above_default}"), above_default, true),
    ] {
        match world.get(&path, limit).await {
            Ok(answer) => assert!(fits && answer.body.len() <= limit, "{path}"),
            Err(failure) => assert!(!fits && failure == Call(TooLarge(Part::Body)), "{path}: {failure:?}"),
        }
    }
}

#[tokio::test]
async fn all_hops_share_one_deadline() {
    let world = World::new(limits(), |mut accepted| async move {
        while let Some(request) = accepted.request().await {
            if request.starts_with("GET /slow") {
                return accepted.closed().await;
            }
            accepted.send(&redirect(302, "/slow")).await;
        }
    })
    .await;
    let failure = world.get_within("/", KIB, Duration::from_secs(3)).await.unwrap_err();
    assert_eq!(failure, Call(TimedOut(Phase::Head)));
    let late = world.get_within("/", KIB, Duration::ZERO).await.unwrap_err();
    assert_eq!(late, Call(TimedOut(Phase::Start)));
}
