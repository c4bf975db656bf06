//! The queues, and the functions that consume them.

use crate::operators::doctor::facts::Facts;

/// Queues, each with the function that consumes it, by their ids in the template.
pub(super) const CONSUMERS: [(&str, &str); 8] = [
    ("CreateJobQueue", "CreateJob"),
    ("PrepareQueue", "Prepare"),
    ("HighChunkQueue", "ProcessItem"),
    ("ChunkQueue", "ProcessItem"),
    ("LowChunkQueue", "ProcessItem"),
    ("HandlerChunkQueue", "CallHandler"),
    ("CompleteJobQueue", "CompleteJob"),
    ("WebhookQueue", "Deliver"),
];

/// Returns the id of the function that consumes a queue.
pub(super) fn consumer_of(queue: &str) -> Option<&'static str> {
    CONSUMERS.iter().find(|(id, _)| *id == queue).map(|(_, function)| *function)
}

/// Returns the name of a function; its id in the template if it was not observed.
pub(super) fn function_name<'a>(facts: &'a Facts, id: &'a str) -> &'a str {
    facts.functions.iter().find(|function| function.id == id).map_or(id, |function| function.name.as_str())
}

/// Returns the command that shows the errors of a function, by its id in the template.
pub(super) fn errors_of(facts: &Facts, id: &str) -> String {
    facts.stack.errors_of(function_name(facts, id))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use deployment::roles;

    use super::super::tests::template;
    use super::*;

    #[test]
    fn consumers_are_those_of_the_template() {
        let functions = roles::functions(&template()).unwrap();
        let consumers: BTreeSet<_> = functions
            .values()
            .flat_map(|function| function.consumes.iter().map(|queue| (queue.as_str(), function.id.as_str())))
            .collect();
        assert_eq!(consumers, BTreeSet::from(CONSUMERS));
    }
}
