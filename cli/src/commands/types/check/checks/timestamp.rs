//! A request that was signed an hour ago, which an endpoint must refuse.

use longshore_domain::remote::PingOutcome;

use super::super::exchange::Signature;
use super::super::lab::{Lab, Notebook};
use super::super::options::SECRET;
use super::super::order::Check;
use super::super::problems::Problem;
use super::super::report::{Evidence, Report};
use super::super::words;
use super::{ping, signature};

pub(super) async fn check(lab: &Lab, notebook: &Notebook) -> Report {
    if !lab.has_secret {
        return Report::skipped(Check::Timestamp, format!("{SECRET} is not set"));
    }
    // An endpoint that verifies no signature has that problem, and not this one.
    if !notebook.refuses_bad_signatures {
        return Report::skipped(Check::Timestamp, "the endpoint does not verify signatures");
    }
    let heard = ping::send(lab, Signature::Old, None).await;
    let received = words::response(&heard.exchange);
    let evidence = Evidence { sent: "a ping that was signed an hour ago".to_owned(), received };
    let report = match &heard.outcome {
        PingOutcome::Parked(_) => Report::skipped(Check::Timestamp, "the endpoint was busy"),
        outcome if signature::is_accepted(outcome) => Report::problem(
            Check::Timestamp,
            Problem::OldTimestampAccepted,
            "a ping that was signed an hour ago was accepted",
        ),
        _ => Report::ok(Check::Timestamp, "a request that was signed an hour ago was refused"),
    };
    report.with(evidence)
}
