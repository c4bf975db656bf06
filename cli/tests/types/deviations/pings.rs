//! Pings and signatures.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use super::super::endpoint::{Endpoint, Request, Response};
use super::super::handler::{self, answer, is_signed, pong};
use super::super::run::{Checked, command};
use super::{each_has_its_finding, is_ping, message, ping, with};

#[test]
fn pings() {
    each_has_its_finding(vec![
        ("ping failed wrong_challenge", ping(|pong| pong["challenge"] = "fixed".into())),
        ("ping failed unknown_schemas", ping(|pong| pong["schemas"] = json!(["longshore.items/2"]))),
        ("ping failed no_run_mode", ping(|pong| pong["modes"] = json!(["validate"]))),
        ("ping failed bad_ping_answer", ping(|pong| *pong = json!({"ok": true}))),
        ("ping failed ping_failed", Box::new(|_| Response::json(500, "no"))),
        ("ping failed signature_refused", Box::new(|_| Response::json(401, "no"))),
        (
            "ping failed redirect",
            Box::new(|_| Response {
                headers: vec![("location", "https://a.example/".into())],
                ..Response::json(308, "")
            }),
        ),
        (
            "ping failed never_ready",
            Box::new(|_| Response { headers: vec![("retry-after", "60".into())], ..Response::json(503, "") }),
        ),
        (
            "ping warning slow_ping",
            with(|message| {
                if message["schema"] == "longshore.ping/1" {
                    sleep(Duration::from_millis(2_100));
                }
                None
            }),
        ),
        (
            "unknown_ping warning unknown_ping_accepted",
            with(|message| is_ping(message).then(|| Response::json(200, pong(message).to_string()))),
        ),
        (
            "content_type warning content_type",
            Box::new(|request| Response {
                headers: vec![("content-type", "text/plain".into())],
                ..handler::perfect(request)
            }),
        ),
    ]);
}

#[test]
fn signatures() {
    let verified = |request: &Request| answer(&message(request));
    each_has_its_finding(vec![
        ("signature warning unsigned_accepted", Box::new(verified)),
        (
            "signature warning unsigned_accepted",
            Box::new(move |request| match request.header("webhook-signature") {
                Some(_) => handler::perfect(request),
                None => verified(request),
            }),
        ),
        (
            "signature warning wrong_signature_accepted",
            Box::new(move |request| match request.header("webhook-signature") {
                Some(_) => verified(request),
                None => Response::json(401, "{}"),
            }),
        ),
        (
            "timestamp warning old_timestamp_accepted",
            Box::new(move |request| if is_signed(request) { verified(request) } else { Response::json(401, "{}") }),
        ),
    ]);
}

#[test]
fn without_a_secret_an_endpoint_that_verifies_says_so() {
    let endpoint = Endpoint::start(handler::perfect);
    let mut longshore = command(&endpoint, &["--json"]);
    let checked = Checked::new(&longshore.env_remove("LONGSHORE_HANDLER_SECRET").output().unwrap());
    assert_eq!(checked.findings(), ["ping failed signature_refused"]);
    assert!(checked.check("ping")["fix"].as_str().unwrap().contains("LONGSHORE_HANDLER_SECRET"));
}
