//! A large batch with a deadline in two seconds: the answer has to arrive before.

use std::time::Duration;

use anyhow::Result;
use longshore_domain::remote::{CallOutcome, FaultCause};

use super::super::lab::{Lab, Notebook};
use super::super::order::Check;
use super::super::problems::Problem;
use super::super::report::Report;
use super::super::words;
use super::large_batch;

/// Time until the deadline.
const AHEAD: Duration = Duration::from_secs(2);

pub(super) async fn check(lab: &Lab, notebook: &mut Notebook) -> Result<Report> {
    let mut batch = large_batch::batch(lab, "deadline");
    batch.deadline = AHEAD;
    let heard = lab.send(&batch, notebook).await?;
    let mut evidence = batch.evidence(&heard, notebook);
    evidence.sent.push_str(", with a deadline in 2 s");
    let took = heard.exchange.took;
    let is_timed_out =
        matches!(&heard.outcome, CallOutcome::Fault(fault) if matches!(fault.cause, FaultCause::TimedOut));
    if is_timed_out || took > AHEAD && matches!(heard.outcome, CallOutcome::Items(_)) {
        let summary = format!("no answer before the deadline: after {}", words::duration(took));
        return Ok(Report::problem(Check::Deadline, Problem::LateAnswer, summary).with(evidence));
    }
    match notebook.results(Check::Deadline, &batch, &heard) {
        Ok(items) => {
            let summary =
                format!("{} of {} items in {}", items.answered(), items.outcomes().len(), words::duration(took));
            Ok(Report::ok(Check::Deadline, format!("{summary}, before a deadline of 2 s")).with(evidence))
        }
        Err(report) => Ok(*report),
    }
}
