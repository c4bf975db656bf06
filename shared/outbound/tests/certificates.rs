//! Certificates and TLS.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use longshore_outbound::failure::CallFailure::{self, TimedOut, Tls};
use longshore_outbound::failure::Phase;
use longshore_outbound::limits::Limits;
use rcgen::{CertificateParams, date_time_ymd};
use rustls::ServerConfig;
use rustls::crypto::ring;
use support::{Accepted, Authority, OK, World, failure, limits};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

async fn answer(mut accepted: Accepted) {
    while accepted.request().await.is_some() && accepted.send(OK).await {}
}

async fn refused(authority: &Authority, tls: ServerConfig) -> CallFailure {
    let world = World::with(authority.local_only(), tls, limits(), |accepted| async move {
        assert_eq!({ accepted }.request().await, None, "nothing is sent to a server with another certificate");
    })
    .await;
    world.failure().await
}

#[tokio::test]
async fn a_valid_certificate_is_accepted() {
    let authority = Authority::new();
    let world = World::with(authority.local_only(), authority.tls("localhost"), limits(), answer).await;
    assert_eq!(world.answer().await.status, 200);
}

#[tokio::test]
async fn a_certificate_that_is_not_valid_for_the_host_is_refused() {
    let authority = Authority::new();
    let mut expired = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    expired.not_after = date_time_ymd(2020, 1, 1);
    let mut future = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    future.not_before = date_time_ymd(4000, 1, 1);
    for (name, tls, expected) in [
        ("unknown authority", Authority::named("unknown").tls("localhost"), "UnknownIssuer"),
        ("another authority of the same name", Authority::new().tls("localhost"), "BadSignature"),
        ("other host", authority.tls("other.example.com"), "not valid for name"),
        ("address", authority.tls("127.0.0.1"), "not valid for name"),
        ("expired", authority.tls_with(expired), "expired"),
        ("not yet valid", authority.tls_with(future), "not valid yet"),
    ] {
        let Tls(reason) = refused(&authority, tls).await else { panic!("{name}") };
        assert!(reason.contains(expected), "{name}: {reason}");
    }
}

#[tokio::test]
async fn a_server_that_requires_a_clients_certificate_is_a_failure_of_tls() {
    let authority = Authority::new();
    let tls = authority.tls_requiring_clients("localhost");
    let failure = refused(&authority, tls).await;
    assert!(matches!(failure, Tls(_)), "{failure:?}");
}

/// Returns a world whose server is replaced by one that speaks no TLS.
async fn without_tls(limits: Limits, sent: &'static [u8]) -> World {
    let mut world = World::new(limits, answer).await;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    world.use_port(listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((mut tcp, _)) = listener.accept().await {
            tokio::spawn(async move {
                tcp.write_all(sent).await.unwrap();
                tokio::io::copy(&mut tcp, &mut tokio::io::sink()).await.ok();
            });
        }
    });
    world
}

#[tokio::test]
async fn a_server_without_tls_gets_no_request() {
    let failure = without_tls(limits(), OK).await.failure().await;
    assert!(matches!(failure, Tls(_)), "{failure:?}");
}

#[tokio::test]
async fn a_handshake_that_does_not_end_is_cut_off_at_the_connect_limit() {
    let limits = Limits { connect: Duration::from_secs(1), ..limits() };
    let world = without_tls(limits, b"").await;
    assert_eq!(world.failure().await, TimedOut(Phase::Handshake));
    let world = without_tls(support::limits(), b"").await;
    assert_eq!(failure(world.call_within(Duration::from_secs(2)).await), TimedOut(Phase::Handshake));
}

#[tokio::test]
async fn old_tls_is_not_offered() {
    // rustls has no TLS below 1.2; both versions that it has are used.
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let authority = Authority::new();
        let mut tls = authority.tls("localhost");
        let provider = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let versioned = provider.with_protocol_versions(&[version]).unwrap().with_no_client_auth();
        tls = versioned.with_cert_resolver(tls.cert_resolver);
        let world = World::with(authority.local_only(), tls, limits(), answer).await;
        assert_eq!(world.answer().await.status, 200, "{version:?}");
    }
}
