//! Four batches at the same time.

use anyhow::Result;
use longshore_domain::remote::{BadAnswerReason, CallOutcome, FaultCause};

use super::super::caller::Heard;
use super::super::lab::{Batch, Lab, Notebook};
use super::super::order::Check;
use super::super::problems::Problem;
use super::super::report::{Evidence, Report};
use super::super::words;

pub(super) async fn check(lab: &Lab, notebook: &mut Notebook) -> Result<Report> {
    let batches: [Batch; 4] = [0, 1, 2, 3].map(|at| {
        let first = 61 + 5 * at;
        lab.batch(&format!("concurrency_{at}"), first..first + 5)
    });
    let [a, b, c, d] = &batches;
    let begun = lab.caller.elapsed();
    let heard: (_, _, _, _) =
        tokio::join!(lab.send(a, notebook), lab.send(b, notebook), lab.send(c, notebook), lab.send(d, notebook));
    let took = words::duration(lab.caller.elapsed() - begun);
    let heard = [heard.0?, heard.1?, heard.2?, heard.3?];
    for (batch, heard) in batches.iter().zip(&heard) {
        if let CallOutcome::Fault(fault) = &heard.outcome {
            let evidence = evidence(batch, heard, notebook);
            let reason = words::fault(fault, &heard.exchange);
            return Ok(Report::problem(Check::Concurrency, problem(&fault.cause), reason).with(evidence));
        }
        if let Err(report) = notebook.results(Check::Concurrency, batch, heard) {
            return Ok(*report);
        }
    }
    let busy: u32 = heard.iter().map(|heard| heard.busy).sum();
    let note = (busy > 0)
        .then(|| format!("busy {} before the answers: Longshore then sends less at a time", words::times(busy)));
    let sent = "4 batches of 5 items at the same time".to_owned();
    let evidence = Evidence { sent, received: format!("4 answers in {took}") };
    Ok(Report::ok(Check::Concurrency, format!("4 batches at the same time were answered in {took}"))
        .note(note)
        .with(evidence))
}

fn evidence(batch: &Batch, heard: &Heard<CallOutcome>, notebook: &Notebook) -> Evidence {
    let evidence = batch.evidence(heard, notebook);
    Evidence { sent: format!("{}, and 3 other batches at the same time", evidence.sent), ..evidence }
}

fn problem(cause: &FaultCause) -> Problem {
    match cause {
        FaultCause::BadAnswer(BadAnswerReason::UnknownKey { .. } | BadAnswerReason::DoubledKey { .. }) => {
            Problem::MixedAnswers
        }
        _ => Problem::ConcurrentCallFailed,
    }
}
