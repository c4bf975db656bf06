//! Requests without a valid signature, which an endpoint must refuse.

use longshore_domain::remote::{BadPing, PingOutcome};

use super::super::exchange::Signature;
use super::super::lab::{Lab, Notebook};
use super::super::options::SECRET;
use super::super::order::Check;
use super::super::problems::Problem;
use super::super::report::{Evidence, Report};
use super::super::words;
use super::ping;

/// Returns true if a ping was answered, even badly: its signature was not what refused it.
pub(super) fn is_accepted(outcome: &PingOutcome) -> bool {
    !matches!(outcome, PingOutcome::Parked(_) | PingOutcome::Bad(BadPing::Fault(_) | BadPing::Json(_)))
}

pub(super) async fn check(lab: &Lab, notebook: &mut Notebook) -> Report {
    const CASES: [(Signature, Problem, &str); 2] = [
        (Signature::Absent, Problem::UnsignedAccepted, "a ping without a signature"),
        (Signature::Wrong, Problem::WrongSignatureAccepted, "a ping with the signature of another secret"),
    ];
    let mut received = Vec::new();
    for (signature, problem, sent) in CASES {
        let heard = ping::send(lab, signature, None).await;
        let evidence = Evidence { sent: sent.to_owned(), received: words::response(&heard.exchange) };
        if matches!(heard.outcome, PingOutcome::Parked(_)) {
            return Report::skipped(Check::Signature, "the endpoint was busy").with(evidence);
        }
        if is_accepted(&heard.outcome) {
            let note =
                (!lab.has_secret).then(|| format!("{SECRET} is not set: calls were signed with a random secret"));
            return Report::problem(Check::Signature, problem, format!("{sent} was accepted"))
                .with(evidence)
                .note(note);
        }
        received.push(evidence.received);
    }
    notebook.refuses_bad_signatures = true;
    let evidence = Evidence { sent: CASES.map(|case| case.2).join(", then "), received: received.join(", then ") };
    Report::ok(Check::Signature, "requests without a valid signature were refused").with(evidence)
}
