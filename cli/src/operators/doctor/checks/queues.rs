//! Dead letters, old messages, full queues, and the mappings of queues to functions.

use std::time::Duration;

use deployment::finding::{Finding, counted};
use indicatif::HumanDuration;

use super::code::Code;
use super::consumers::{consumer_of, errors_of};
use super::preparations;
use crate::operators::doctor::facts::{Facts, Mapping, Queue};

/// Age of the oldest message of the queue of low priority that raises its alarm, in seconds.
const LOW_PRIORITY_AGE: u64 = 86_400;

/// Runs the checks.
pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    for queue in &facts.queues {
        if queue.is_for_dead_letters() {
            found.extend(dead_letters(facts, queue));
        } else {
            found.extend(old_messages(facts, queue));
            found.extend(full(facts, queue));
            found.extend(without_dead_letters(queue));
        }
    }
    if let Some(mappings) = &facts.mappings {
        found.extend(facts.queues.iter().filter_map(|queue| mapping(facts, queue, mappings)));
    }
    found.extend(facts.foreign_readers.iter().flatten().filter_map(|reader| foreign_reader(facts, reader)));
    found
}

/// Returns true if an alarm is raised, so that its finding says the same.
fn is_raised(facts: &Facts, id: &str) -> bool {
    facts.alarms.iter().any(|alarm| alarm.id == id && alarm.state == "ALARM")
}

fn dead_letters(facts: &Facts, queue: &Queue) -> Option<Finding> {
    let code = format!("{}Alarm", queue.id);
    if queue.messages() == 0 || is_raised(facts, &code) {
        return None;
    }
    let fix = match queue.id.as_str() {
        "WebhookDeadLetters" => errors_of(facts, "Deliver"),
        _ => facts.stack.dead_letters(),
    };
    let problem = format!("it has {}", counted(queue.messages(), "message"));
    let finding = Finding::error(&queue.id, problem, fix).with_code(code);
    Some(finding.with_consequence("each one failed at every delivery; it is kept for 14 days"))
}

fn old_messages(facts: &Facts, queue: &Queue) -> Option<Finding> {
    let code = format!("{}AgeAlarm", queue.id);
    let limit = match queue.id.as_str() {
        "LowChunkQueue" => LOW_PRIORITY_AGE,
        _ => facts.stack.parameter("OldestMessageAlarmSeconds").parse().ok()?,
    };
    let age = queue.oldest_seconds.filter(|age| *age > limit && !is_raised(facts, &code))?;
    let function = consumer_of(&queue.id)?;
    let problem = format!("its oldest message waits for {}", HumanDuration(Duration::from_secs(age)));
    let fix = errors_of(facts, function);
    let finding = if queue.id == preparations::QUEUE {
        preparations::old_messages(facts, &queue.id, problem, fix)
    } else {
        let consequence = format!("{function} fails, is throttled, or has not enough concurrency: jobs wait");
        Finding::error(&queue.id, problem, fix).with_consequence(consequence)
    };
    Some(finding.with_code(code))
}

/// Finds a queue of chunks that is so full that creates are refused.
fn full(facts: &Facts, queue: &Queue) -> Option<Finding> {
    let limit: u64 = facts.stack.parameter("MaxQueuedChunks").parse().ok()?;
    let is_full = queue.id.ends_with("ChunkQueue") && queue.messages() > limit;
    is_full.then(|| {
        let problem = format!("it has {} messages, and MaxQueuedChunks is {limit}", queue.messages());
        let fix =
            "wait until the workers have caught up, or raise limits of the mapping Concurrency and run: sam deploy";
        let finding = Finding::error(&queue.id, problem, fix).with_code(Code::QueueFull);
        finding.with_consequence("tenants with five or more active jobs get 503 when they create a job")
    })
}

fn without_dead_letters(queue: &Queue) -> Option<Finding> {
    (!queue.has_dead_letter_queue).then(|| {
        let fix = "deploy the template again: sam deploy";
        let finding = Finding::error(&queue.id, "it has no dead-letter queue", fix).with_code(Code::QueueChanged);
        finding.with_consequence("a message that always fails is delivered until it expires, and its job ends late")
    })
}

/// Finds a queue whose messages reach no function.
fn mapping(facts: &Facts, queue: &Queue, mappings: &[Mapping]) -> Option<Finding> {
    let function = consumer_of(&queue.id)?;
    let found = |problem: String, fix: String| {
        let finding = Finding::error(&queue.id, problem, fix).with_code(Code::MappingDisabled);
        Some(finding.with_consequence(format!("its messages wait, and {function} does not run")))
    };
    let mut own = mappings.iter().filter(|mapping| mapping.function == function && mapping.queue == queue.name);
    let Some(mapping) = own.next() else {
        let fix = format!("create it as the event of {function} in template.yaml declares it, or deploy another stack");
        return found(format!("no event source mapping leads to {function}"), fix);
    };
    let is_meant = queue.id == "HandlerChunkQueue" && !facts.stack.calls_handlers();
    let is_off = matches!(mapping.state.as_str(), "Disabled" | "Disabling") && !is_meant;
    if !is_off {
        return None;
    }
    let enable = format!("lambda update-event-source-mapping --uuid {} --enabled", mapping.uuid);
    let problem = format!("its event source mapping to {function} is {}", mapping.state);
    found(problem, facts.stack.aws(&enable))
}

/// Finds functions outside the stack that receive its messages. Lambda deletes what it receives.
fn foreign_reader(facts: &Facts, reader: &Mapping) -> Option<Finding> {
    if matches!(reader.state.as_str(), "Disabled" | "Disabling") {
        return None;
    }
    let delete = facts.stack.aws(&format!("lambda delete-event-source-mapping --uuid {}", reader.uuid));
    let problem = format!("the function {}, which is not one of the stack, reads it", reader.function);
    let finding = Finding::error(&reader.queue, problem, delete).with_code(Code::QueueShared);
    Some(finding.with_consequence("it deletes messages: chunks are lost, and fail if they are lost again and again"))
}

#[cfg(test)]
mod tests {
    use deployment::finding::Severity;

    use super::super::tests::{codes, healthy, template};
    use super::*;
    use crate::operators::doctor::facts::Alarm;

    fn queue<'a>(facts: &'a mut Facts, id: &str) -> &'a mut Queue {
        facts.queues.iter_mut().find(|queue| queue.id == id).unwrap()
    }

    #[test]
    fn dead_letters_are_found_unless_their_alarm_says_the_same() {
        let mut facts = healthy();
        queue(&mut facts, "ChunkDeadLetters").in_flight = 2;
        let found = check(&facts);
        assert_eq!(codes(&found), ["ChunkDeadLettersAlarm"]);
        assert!(
            found[0].fix.ends_with("longshore dead-letters list --api-url https://api.example.com"),
            "{}",
            found[0]
        );
        facts.alarms = vec![Alarm {
            id: "ChunkDeadLettersAlarm".to_owned(),
            name: "longshore-ChunkDeadLettersAlarm".to_owned(),
            state: "ALARM".to_owned(),
            reason: String::new(),
            since: None,
            is_muted: false,
        }];
        assert!(check(&facts).is_empty());
    }

    #[test]
    fn a_function_outside_the_stack_that_reads_a_queue_is_found() {
        let with = |state: &str| {
            let reader = Mapping {
                uuid: "u-1".to_owned(),
                function: "thief".to_owned(),
                queue: "longshore-chunks".to_owned(),
                state: state.to_owned(),
                concurrency: None,
            };
            check(&Facts { foreign_readers: Some(vec![reader]), ..healthy() })
        };
        let found = with("Enabled");
        assert_eq!(codes(&found), ["queue_shared"]);
        assert_eq!(found[0].fix, "aws lambda delete-event-source-mapping --uuid u-1");
        assert!(with("Disabled").is_empty());
    }

    #[test]
    fn the_limit_of_the_queue_of_low_priority_is_that_of_its_alarm() {
        let template = template();
        let alarm = template.properties("LowChunkQueueAgeAlarm").unwrap();
        assert_eq!(alarm["Threshold"].as_u64(), Some(LOW_PRIORITY_AGE));
    }

    #[test]
    fn an_old_message_is_found_above_the_limit_of_its_queue() {
        for (id, age, code) in [
            ("ChunkQueue", 3_600, None),
            ("ChunkQueue", 3_601, Some("ChunkQueueAgeAlarm")),
            ("LowChunkQueue", 3_601, None),
            ("LowChunkQueue", 86_401, Some("LowChunkQueueAgeAlarm")),
            ("WebhookQueue", 3_601, Some("WebhookQueueAgeAlarm")),
            ("PrepareQueue", 3_601, Some("PrepareQueueAgeAlarm")),
        ] {
            let mut facts = healthy();
            queue(&mut facts, id).oldest_seconds = Some(age);
            let found = check(&facts);
            assert_eq!(codes(&found), Vec::from_iter(code), "{id} {age}");
            // One tenant can cause an old file to prepare.
            let severity = if id == "PrepareQueue" { Severity::Warning } else { Severity::Error };
            assert!(found.iter().all(|finding| finding.severity == severity), "{found:?}");
        }
    }

    #[test]
    fn a_full_queue_and_one_without_dead_letters_are_found() {
        let mut facts = healthy();
        queue(&mut facts, "ChunkQueue").visible = 100_001;
        queue(&mut facts, "CreateJobQueue").visible = 100_001;
        assert_eq!(codes(&check(&facts)), ["queue_full"]);
        let mut facts = healthy();
        queue(&mut facts, "PrepareQueue").has_dead_letter_queue = false;
        assert_eq!(codes(&check(&facts)), ["queue_changed"]);
    }

    #[test]
    fn a_disabled_or_missing_mapping_is_found_unless_the_stack_calls_no_handlers() {
        let with = |queue: &str, state: Option<&str>| {
            let mut facts = healthy();
            let mappings = facts.mappings.as_mut().unwrap();
            match state {
                Some(state) => {
                    mappings.iter_mut().filter(|m| m.queue == queue).for_each(|m| m.state = state.to_owned())
                }
                None => mappings.retain(|mapping| mapping.queue != queue),
            }
            facts
        };
        assert!(check(&with("longshore-ChunkQueue", Some("Enabling"))).is_empty());
        let found = check(&with("longshore-ChunkQueue", Some("Disabled")));
        assert_eq!(codes(&found), ["mapping_disabled"]);
        assert_eq!(found[0].fix, "aws lambda update-event-source-mapping --uuid u-ChunkQueue --enabled");
        assert_eq!(codes(&check(&with("longshore-ChunkQueue", None))), ["mapping_disabled"]);
        let mut facts = with("longshore-HandlerChunkQueue", Some("Disabled"));
        assert!(check(&facts).is_empty());
        facts.stack.parameters.insert("ImageJobs".to_owned(), "true".to_owned());
        assert_eq!(codes(&check(&facts)), ["mapping_disabled"]);
        facts.mappings = None;
        assert!(check(&facts).is_empty(), "not observed");
    }
}
