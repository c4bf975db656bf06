//! A ping of a later version, which the handler must not answer as if it knew it.

use longshore_domain::remote::PingOutcome;

use super::super::exchange::{Response, Signature};
use super::super::lab::Lab;
use super::super::order::Check;
use super::super::problems::Problem;
use super::super::report::{Evidence, Report};
use super::super::words;
use super::{ping, signature};

/// A schema that no version of the contract has.
const SCHEMA: &str = "longshore.ping/999";

pub(super) async fn check(lab: &Lab) -> Report {
    let heard = ping::send(lab, Signature::Valid, Some(SCHEMA)).await;
    let received = words::response(&heard.exchange);
    let evidence = Evidence { sent: format!("a ping with the schema {SCHEMA:?}"), received };
    let problem = |problem, summary| Report::problem(Check::UnknownPing, problem, summary);
    let report = match (&heard.outcome, &heard.exchange.response) {
        (PingOutcome::Parked(_), _) => Report::skipped(Check::UnknownPing, "the handler was busy"),
        (outcome, _) if signature::is_accepted(outcome) => {
            problem(Problem::UnknownPingAccepted, "a ping of an unknown version was answered as one of version 1")
        }
        (_, Response::TimedOut(_) | Response::Broken(_) | Response::Unreachable(..)) => {
            problem(Problem::UnknownPingUnanswered, "a ping of an unknown version got no answer")
        }
        _ => Report::ok(Check::UnknownPing, "a ping of an unknown version was refused"),
    };
    report.with(evidence)
}
