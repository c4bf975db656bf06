//! Every queue of the template has a dead-letter queue with a retention of 14 days. Every dead-letter queue has an
//! alarm on its depth that notifies the topic at the first message.

use std::collections::{BTreeMap, BTreeSet};

const TEMPLATE: &str = include_str!("../../../../template.yaml");

/// Returns the properties of all resources of a type, by name, each on one line.
fn resources(template: &str, of_type: &str) -> BTreeMap<String, String> {
    let blocks = template.split("\n\n").filter(|block| block.contains(&format!("Type: {of_type}\n")));
    let named = blocks.filter_map(|block| {
        let lines = block.lines().filter(|line| !line.trim_start().starts_with('#'));
        let mut lines =
            lines.skip_while(|line| line.starts_with("   ") || !line.starts_with("  ") || !line.ends_with(':'));
        let name = lines.next()?.trim().trim_end_matches(':').to_owned();
        Some((name, lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")))
    });
    named.collect()
}

/// Returns the dead-letter queue of this queue.
fn dead_letters_of(queue: &str) -> Option<&str> {
    let (_, target) = queue.split_once("deadLetterTargetArn: !GetAtt ")?;
    target.split_once(".Arn").map(|(name, _)| name)
}

/// Returns the errors in the queues and alarms of a template.
fn errors(template: &str) -> Vec<String> {
    let queues = resources(template, "AWS::SQS::Queue");
    let dead: BTreeSet<_> = queues.values().filter_map(|queue| dead_letters_of(queue)).collect();
    let alarms = resources(template, "AWS::CloudWatch::Alarm");
    let mut errors = Vec::new();
    for (name, queue) in &queues {
        let is_dead = dead.contains(name.as_str());
        if !is_dead && (dead_letters_of(queue).is_none() || !queue.contains("maxReceiveCount: !Ref MaxReceiveCount")) {
            errors.push(format!("{name} has no dead-letter queue"));
        }
        if is_dead && !queue.contains("MessageRetentionPeriod: 1209600") {
            errors.push(format!("{name} does not keep messages for 14 days"));
        }
        if is_dead && !alarms.values().any(|alarm| is_on_depth_of(alarm, name)) {
            errors.push(format!("{name} has no alarm on its first dead letter"));
        }
    }
    errors
}

/// Returns true for an alarm on all dead letters. Those that a sweep has just received are hidden, and are counted by
/// another metric.
fn is_on_depth_of(alarm: &str, queue: &str) -> bool {
    let dimension = format!("Dimensions: [{{ Name: QueueName, Value: !GetAtt {queue}.QueueName }}]");
    let metric = |id: &str, name: &str| {
        format!(
            "- Id: {id} ReturnData: false MetricStat: Metric: Namespace: AWS/SQS MetricName: {name} {dimension} \
             Stat: Maximum Period: 60"
        )
    };
    let expected = [
        "- Id: messages Expression: FILL(visible, 0) + FILL(hidden, 0)".to_owned(),
        metric("visible", "ApproximateNumberOfMessagesVisible"),
        metric("hidden", "ApproximateNumberOfMessagesNotVisible"),
        // SQS publishes the newest minutes late.
        "EvaluationPeriods: 5 DatapointsToAlarm: 1".to_owned(),
        // At least one message.
        "Threshold: 0 ComparisonOperator: GreaterThanThreshold TreatMissingData: notBreaching".to_owned(),
        "AlarmActions: !If [HasAlarmTopic, [!Ref AlarmTopicArn], !Ref AWS::NoValue]".to_owned(),
    ];
    expected.iter().all(|expected| alarm.contains(expected))
}

#[test]
fn every_queue_has_a_dead_letter_queue_with_retention_and_an_alarm() {
    let queues = resources(TEMPLATE, "AWS::SQS::Queue");
    assert_eq!(queues.len(), 12, "{:?}", queues.keys());
    assert_eq!(errors(TEMPLATE), [""; 0]);
}

#[test]
fn a_missing_dead_letter_queue_retention_or_alarm_is_detected() {
    let dimension = "Value: !GetAtt CompleteJobDeadLetters.QueueName";
    for (from, to, fault) in [
        (dimension, "Value: !GetAtt CompleteJobQueue.QueueName", "CompleteJobDeadLetters has no alarm"),
        ("MessageRetentionPeriod: 1209600", "MessageRetentionPeriod: 3600", "does not keep"),
        ("deadLetterTargetArn: !GetAtt ChunkDeadLetters.Arn", "x: 1", "ChunkQueue has no dead-letter queue"),
        ("MetricName: ApproximateNumberOfMessagesVisible", "MetricName: NumberOfMessagesSent", "has no alarm"),
        ("FILL(visible, 0) + FILL(hidden, 0)", "FILL(visible, 0)", "ChunkDeadLetters has no alarm"),
        ("MetricName: ApproximateNumberOfMessagesNotVisible", "MetricName: NumberOfMessagesSent", "has no alarm"),
    ] {
        let errors = errors(&TEMPLATE.replace(from, to));
        assert!(errors.iter().any(|error| error.contains(fault)), "{fault}: {errors:?}");
    }
}
