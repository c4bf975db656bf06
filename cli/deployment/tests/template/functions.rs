//! Chains of messages that lead back to their first function.

use deployment::roles::functions;
use deployment::template::Template;

use super::TEMPLATE;

/// Lists the functions whose messages may lead back to them and that do not set `RecursiveLoop: Allow`.
fn stopped_by_lambda(template: &str) -> Vec<String> {
    let functions = functions(&Template::parse(template).unwrap()).unwrap();
    let stopped = functions.values().filter(|function| function.leads_to_itself(&functions));
    let stopped = stopped.filter(|function| function.recursive_loop.as_deref() != Some("Allow"));
    stopped.map(|function| function.id.clone()).collect()
}

#[test]
fn every_function_whose_messages_may_lead_back_to_it_allows_recursive_loops() {
    assert_eq!(stopped_by_lambda(TEMPLATE), [""; 0]);
}

#[test]
fn a_function_that_does_not_say_so_is_found() {
    let silent = TEMPLATE.replace("      RecursiveLoop: Allow # see Globals\n", "");
    let found = stopped_by_lambda(&silent);
    assert!(["CreateJob", "ProcessItem"].iter().all(|id| found.iter().any(|found| found == id)), "{found:?}");
}

/// A loop through another function's queue also counts.
#[test]
fn a_loop_through_another_function_is_found() {
    let statement = "              # Its own queue is for continuations.\n";
    assert!(TEMPLATE.contains(statement));
    let through = "                Resource: !GetAtt CompleteJobQueue.Arn\n\n  CompleteJob:\n";
    assert!(TEMPLATE.contains(through));
    let replies = "                Resource: !GetAtt CompleteJobQueue.Arn\n              - Effect: Allow\n                \
                   Action: sqs:SendMessage\n                Resource: !GetAtt ChunkQueue.Arn\n\n  CompleteJob:\n";
    let looping = TEMPLATE.replace(through, replies).replace("      RecursiveLoop: Allow # see Globals\n", "");
    assert!(stopped_by_lambda(&looping).contains(&"CompleteJob".to_owned()), "{:?}", stopped_by_lambda(&looping));
}
