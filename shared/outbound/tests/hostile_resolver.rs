//! Resolvers and networks that answer with malice.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod support;

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use longshore_outbound::address::Purpose;
use longshore_outbound::call::CallOutcome;
use longshore_outbound::client::Client;
use longshore_outbound::failure::CallFailure::{self, Connect, Dns, RefusedAddress, TimedOut};
use longshore_outbound::failure::Phase;
use longshore_outbound::limits::Limits;
use longshore_outbound::network::{Later, Network};
use longshore_outbound::policy::UrlPolicy;
use longshore_outbound::url::HandlerUrl;
use support::{OK, World, failure, limits, post};
use tokio::net::TcpStream;

const TIME: Duration = Duration::from_secs(30);

/// A network with prepared answers of the resolver, which records the addresses that are connected to.
#[derive(Default)]
struct Prepared {
    answers: Mutex<VecDeque<Vec<IpAddr>>>,
    dialed: Mutex<Vec<SocketAddr>>,
    /// Address to which every connection leads, whatever was asked for; none accepts without it.
    leads_to: Option<SocketAddr>,
}

impl Prepared {
    fn new<const N: usize>(answers: [&[&str]; N]) -> Self {
        let parse = |answer: &[&str]| answer.iter().map(|address| address.parse().unwrap()).collect();
        Self { answers: Mutex::new(answers.into_iter().map(parse).collect()), ..Self::default() }
    }

    fn dialed(&self) -> Vec<String> {
        self.dialed.lock().unwrap().iter().map(ToString::to_string).collect()
    }
}

impl Network for Prepared {
    fn resolve<'a>(&'a self, _: &'a str) -> Later<'a, Vec<IpAddr>> {
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(async { answer.ok_or_else(|| io::Error::other("no such host")) })
    }

    fn connect(&self, address: SocketAddr) -> Later<'_, TcpStream> {
        self.dialed.lock().unwrap().push(address);
        Box::pin(async {
            match self.leads_to {
                Some(address) => TcpStream::connect(address).await,
                None => Err(io::ErrorKind::ConnectionRefused.into()),
            }
        })
    }
}

fn url() -> HandlerUrl {
    let policy = UrlPolicy::new(["api.example.com"], []).unwrap();
    HandlerUrl::parse("https://api.example.com/", &policy).unwrap()
}

fn client(network: &Arc<Prepared>) -> Client {
    Client::new(limits()).unwrap().with_network(Arc::clone(network) as Arc<dyn Network>)
}

async fn call(network: &Arc<Prepared>) -> CallFailure {
    failure(post(&client(network), &url(), TIME).await)
}

fn refused(address: &str, purpose: Purpose) -> CallFailure {
    RefusedAddress { address: address.parse().unwrap(), purpose }
}

#[tokio::test]
async fn an_address_that_is_not_global_unicast_is_not_connected_to() {
    for (address, purpose) in [
        ("127.0.0.1", Purpose::Loopback),
        ("10.0.0.1", Purpose::Private),
        ("100.64.0.1", Purpose::Shared),
        ("169.254.1.1", Purpose::LinkLocal),
        ("169.254.169.254", Purpose::Metadata),
        ("169.254.170.2", Purpose::Metadata),
        ("192.0.0.192", Purpose::Protocol),
        ("0.0.0.0", Purpose::Unspecified),
        ("224.0.0.1", Purpose::Multicast),
        ("255.255.255.255", Purpose::Broadcast),
        ("::1", Purpose::Loopback),
        ("::ffff:127.0.0.1", Purpose::EmbeddedIpv4),
        ("::ffff:169.254.169.254", Purpose::EmbeddedIpv4),
        ("::127.0.0.1", Purpose::EmbeddedIpv4),
        ("64:ff9b::a9fe:a9fe", Purpose::Nat64),
        ("2002:a9fe:a9fe::", Purpose::SixToFour),
        ("fd00:ec2::254", Purpose::Metadata),
        ("fe80::1", Purpose::LinkLocal),
    ] {
        let network = Arc::new(Prepared::new([&[address]]));
        assert_eq!(call(&network).await, refused(address, purpose));
        assert_eq!(network.dialed(), [""; 0], "{address}");
    }
}

#[tokio::test]
async fn one_bad_address_refuses_all_wherever_it_is_in_the_answer() {
    let (good, bad) = ("1.1.1.1", "10.0.0.1");
    for answer in [&[good, bad][..], &[bad, good], &[good, good, "2606:4700::1111", bad]] {
        let network = Arc::new(Prepared::new([answer]));
        assert_eq!(call(&network).await, refused(bad, Purpose::Private));
        assert_eq!(network.dialed(), [""; 0]);
    }
}

#[tokio::test]
async fn a_bad_address_behind_those_that_are_tried_refuses_all_too() {
    let mut answer = ["1.1.1.1"; 100];
    answer[99] = "127.0.0.1";
    let network = Arc::new(Prepared::new([&answer]));
    assert_eq!(call(&network).await, refused("127.0.0.1", Purpose::Loopback));
    assert_eq!(network.dialed(), [""; 0]);
}

#[tokio::test]
async fn a_name_that_is_rebound_is_checked_at_every_call_and_resolved_once_per_call() {
    let network = Arc::new(Prepared::new([&["1.1.1.1"], &["127.0.0.1"]]));
    let client = client(&network);
    let first = failure(post(&client, &url(), TIME).await);
    assert!(matches!(first, Connect(_)), "{first:?}");
    assert_eq!(network.dialed(), ["1.1.1.1:443"], "what was checked is what is connected to");
    let second = failure(post(&client, &url(), TIME).await);
    assert_eq!(second, refused("127.0.0.1", Purpose::Loopback));
    assert_eq!(network.dialed(), ["1.1.1.1:443"]);
}

#[tokio::test]
async fn the_address_of_the_connection_is_checked_before_a_byte_is_sent() {
    let world = World::new(limits(), |_| async { panic!("no handshake") }).await;
    let leads_to = Some(SocketAddr::from(([127, 0, 0, 1], world.port)));
    let network = Arc::new(Prepared { leads_to, ..Prepared::new([&["1.1.1.1"]]) });
    assert_eq!(call(&network).await, refused("127.0.0.1", Purpose::Loopback));
    assert_eq!(network.dialed(), ["1.1.1.1:443"]);
}

#[tokio::test]
async fn localhost_is_no_question_for_dns() {
    let world = World::answering(OK).await;
    let leads_to = Some(SocketAddr::from(([127, 0, 0, 1], world.port)));
    let network = Arc::new(Prepared { leads_to, ..Prepared::new([&["1.1.1.1"]]) });
    let world = world.with_network(Arc::clone(&network) as Arc<dyn Network>);
    assert_eq!(world.answer().await.status, 200);
    assert_eq!(network.dialed(), [format!("127.0.0.1:{}", world.port)]);
}

#[tokio::test]
async fn local_permissions_are_for_loopback_only() {
    for (address, purpose) in [("10.0.0.1", Purpose::Private), ("169.254.169.254", Purpose::Metadata)] {
        let world = World::answering(OK).await.with_network(Arc::new(Prepared::new([&[address]])));
        assert_eq!(failure(world.call_host("api.example.com", TIME).await), refused(address, purpose));
    }
}

#[tokio::test]
async fn all_addresses_are_tried_up_to_a_limit() {
    let network = Arc::new(Prepared::new([&["1.1.1.1", "8.8.8.8", "2606:4700::1111"]]));
    assert!(matches!(call(&network).await, Connect(_)));
    assert_eq!(network.dialed(), ["1.1.1.1:443", "8.8.8.8:443", "[2606:4700::1111]:443"]);
    let network = Arc::new(Prepared::new([&["1.1.1.1"; 100]]));
    assert!(matches!(call(&network).await, Connect(_)));
    assert_eq!(network.dialed().len(), 8);
}

#[tokio::test]
async fn a_name_without_addresses_is_a_failure_of_dns() {
    let network = Arc::new(Prepared::new([&[]]));
    assert_eq!(call(&network).await, Dns("the answer is empty".to_owned()));
    assert_eq!(call(&network).await, Dns("no such host".to_owned()));
}

/// A network that never answers.
struct Silent;

impl Network for Silent {
    fn resolve<'a>(&'a self, host: &'a str) -> Later<'a, Vec<IpAddr>> {
        match host {
            "silent.example.com" => Box::pin(std::future::pending()),
            _ => Box::pin(async { Ok(vec![IpAddr::from([1, 1, 1, 1]), IpAddr::from([8, 8, 8, 8])]) }),
        }
    }

    fn connect(&self, _: SocketAddr) -> Later<'_, TcpStream> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_network_that_never_answers_is_cut_off_at_the_connect_limit() {
    let limits = Limits { connect: Duration::from_millis(100), ..limits() };
    let client = Client::new(limits).unwrap().with_network(Arc::new(Silent));
    let policy = UrlPolicy::new(["*.example.com"], []).unwrap();
    for (host, phase) in [("silent.example.com", Phase::Lookup), ("api.example.com", Phase::Connect)] {
        let url = HandlerUrl::parse(&format!("https://{host}/"), &policy).unwrap();
        let begun = Instant::now();
        assert_eq!(post(&client, &url, TIME).await, CallOutcome::Failed(TimedOut(phase)), "{host}");
        assert!(begun.elapsed() < TIME / 2, "long before the deadline");
    }
}
