//! Loops of messages between functions.

use deployment::roles::functions;
use deployment::template::Template;

use super::TEMPLATE;

/// Lists the functions that Lambda's loop detection would stop.
fn stopped_by_lambda(template: &str) -> Vec<String> {
    let functions = functions(&Template::parse(template).unwrap()).unwrap();
    let stopped = functions.values().filter(|function| function.is_stopped_by_loop_detection(&functions));
    stopped.map(|function| function.id.clone()).collect()
}

#[test]
fn every_function_in_a_message_loop_allows_recursive_loops() {
    assert_eq!(stopped_by_lambda(TEMPLATE), [""; 0]);
}

#[test]
fn a_function_in_a_loop_without_the_setting_is_found() {
    let template = TEMPLATE.replace("      RecursiveLoop: Allow # see Globals\n", "");
    let stopped = stopped_by_lambda(&template);
    assert!(
        ["CreateJob", "ProcessItem", "CallHandler"].iter().all(|id| stopped.iter().any(|stopped| stopped == id)),
        "{stopped:?}"
    );
}

/// A loop through another function's queue also counts.
#[test]
fn a_loop_through_another_function_is_found() {
    let statement = "              # Its own queue is for continuations.\n";
    assert!(TEMPLATE.contains(statement));
    let through =
        "                Resource: [!GetAtt CompleteJobQueue.Arn, !GetAtt WebhookQueue.Arn]\n\n  CompleteJob:\n";
    assert!(TEMPLATE.contains(through));
    let replies = "                Resource: [!GetAtt CompleteJobQueue.Arn, !GetAtt WebhookQueue.Arn]\n              - \
                   Effect: Allow\n                Action: sqs:SendMessage\n                \
                   Resource: !GetAtt ChunkQueue.Arn\n\n  CompleteJob:\n";
    let looping = TEMPLATE.replace(through, replies).replace("      RecursiveLoop: Allow # see Globals\n", "");
    assert!(stopped_by_lambda(&looping).contains(&"CompleteJob".to_owned()), "{:?}", stopped_by_lambda(&looping));
}
