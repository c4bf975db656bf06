//! The ping: schema, challenge, modes and duration.

use std::time::Duration;

use longshore_domain::remote::{BadPing, FaultCause, Mode, Ping, PingOutcome};
use longshore_domain::timestamp::Timestamp;
use uuid::Uuid;

use super::super::caller::{Heard, Message};
use super::super::exchange::{Exchange, Response, Signature};
use super::super::lab::{Lab, Notebook};
use super::super::order::Check;
use super::super::problems::Problem;
use super::super::report::{Evidence, Report};
use super::super::words;

/// Duration above which a ping is slow, if the second one is slow, too.
const SLOW: Duration = Duration::from_secs(2);

/// Sends a ping with this signature; `schema` replaces that of the contract.
pub(super) async fn send(lab: &Lab, signature: Signature, schema: Option<&str>) -> Heard<PingOutcome> {
    let challenge = Uuid::new_v4().simple().to_string();
    let ping = Ping { challenge: &challenge, stack: &lab.stack };
    let mut document = serde_json::to_value(ping).unwrap_or_default();
    if let Some(schema) = schema {
        document["schema"] = schema.into();
    }
    let body = document.to_string().into_bytes();
    let name = format!("ping-{challenge}");
    let message = Message { name: &name, signature, build: |_: &str| body.clone() };
    lab.caller.send(message, |exchange| ping.outcome(exchange.result(), Timestamp::now())).await
}

pub(super) async fn check(lab: &Lab, notebook: &mut Notebook) -> Report {
    let first = send(lab, Signature::Valid, None).await;
    let slow = first.exchange.took > SLOW && matches!(first.outcome, PingOutcome::Good(_));
    // The first call may have started the handler.
    let heard = if slow { send(lab, Signature::Valid, None).await } else { first };
    let is_bad = matches!(heard.outcome, PingOutcome::Bad(_));
    notebook.unreachable = unreachable(&heard.exchange).filter(|_| is_bad);
    let evidence = Evidence { sent: "a ping".to_owned(), received: words::response(&heard.exchange) };
    let report = match &heard.outcome {
        PingOutcome::Good(modes) => good(lab, notebook, modes, &heard),
        PingOutcome::Bad(bad) => bad_ping(bad, &heard.exchange),
        PingOutcome::Parked(backpressure) => Report::problem(
            Check::Ping,
            Problem::NeverReady,
            format!("busy {}: {}", words::times(heard.busy), backpressure.reason),
        ),
    };
    notebook.facts.is_https = lab.caller.is_https();
    notebook.ping = Some(heard.exchange);
    report.with(evidence)
}

/// Notes the modes, and the mode of the batches: none unless the handler knows it.
fn good(lab: &Lab, notebook: &mut Notebook, modes: &[Mode], heard: &Heard<PingOutcome>) -> Report {
    notebook.facts.mode = Some(lab.mode.unwrap_or(Mode::Validate)).filter(|mode| modes.contains(mode));
    notebook.facts.modes = Some(modes.to_vec());
    let names: Vec<_> = modes.iter().map(|mode| mode.as_str()).collect();
    let took = words::duration(heard.exchange.took);
    let report = if heard.exchange.took > SLOW {
        Report::problem(Check::Ping, Problem::SlowPing, format!("the second ping took {took}, too"))
    } else {
        Report::ok(Check::Ping, format!("answered in {took}; modes {}", names.join(", ")))
    };
    let no_validate = (!modes.contains(&Mode::Validate))
        .then(|| "the mode \"validate\" is not listed: no items are sent without --mode run".to_owned());
    report.note(no_validate).note(heard.busy_note())
}

fn bad_ping(bad: &BadPing, exchange: &Exchange) -> Report {
    let problem = match bad {
        BadPing::Json(_) => Problem::BadPingAnswer,
        BadPing::WrongChallenge => Problem::WrongChallenge,
        BadPing::UnknownSchemas { .. } => Problem::UnknownSchemas,
        BadPing::NoRunMode { .. } => Problem::NoRunMode,
        BadPing::Fault(fault) => {
            return Report::problem(Check::Ping, of_fault(&fault.cause), words::fault(fault, exchange));
        }
    };
    Report::problem(Check::Ping, problem, bad.to_string())
}

fn of_fault(cause: &FaultCause) -> Problem {
    match cause {
        FaultCause::Status(300..=399) => Problem::Redirect,
        FaultCause::Status(401 | 403) => Problem::SignatureRefused,
        FaultCause::BadAnswer(_) => Problem::BadPingAnswer,
        _ => Problem::PingFailed,
    }
}

/// Returns the reason why no call reaches the handler, if this is so.
fn unreachable(exchange: &Exchange) -> Option<String> {
    match &exchange.response {
        Response::Unreachable(_, detail) => Some(detail.clone()),
        Response::LambdaError { message, .. } => Some(message.clone()),
        _ => None,
    }
}
