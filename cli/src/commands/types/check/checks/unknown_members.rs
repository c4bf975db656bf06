//! Members that the contract does not have yet, which a handler must ignore.

use anyhow::Result;
use longshore_domain::remote::CallOutcome;

use super::super::lab::{Lab, Notebook};
use super::super::messages::with_unknown_members;
use super::super::order::Check;
use super::super::problems::Problem;
use super::super::report::Report;
use super::super::words;

pub(super) async fn check(lab: &Lab, notebook: &mut Notebook) -> Result<Report> {
    let mut batch = lab.batch("unknown_members", [41]);
    batch.change = Some(with_unknown_members);
    let heard = lab.send(&batch, notebook).await?;
    let mut evidence = batch.evidence(&heard, notebook);
    evidence.sent.push_str(", with the unknown member \"xLaterVersion\" in every object");
    if let CallOutcome::Fault(fault) = &heard.outcome {
        let reason = words::fault(fault, &heard.exchange);
        return Ok(Report::problem(Check::UnknownMembers, Problem::UnknownMembersRefused, reason).with(evidence));
    }
    match notebook.results(Check::UnknownMembers, &batch, &heard) {
        Ok(_) => Ok(Report::ok(Check::UnknownMembers, "unknown members were ignored").with(evidence)),
        Err(report) => Ok(*report),
    }
}
