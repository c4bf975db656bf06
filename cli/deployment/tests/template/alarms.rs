//! Alarms: the periods that they evaluate.

use deployment::template::{Parameters, Template, plain};
use serde_json::Value;

use super::TEMPLATE;

/// Lists the alarms that the fill value of a late metric can keep quiet. A metric that is published late has the value
/// of `FILL` in the newest period, so an alarm that evaluates only this period is never raised
/// (<https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html>).
fn decided_by_the_newest_period(template: &str) -> Vec<String> {
    let template = Template::parse(template).unwrap();
    let number = |alarm: &Value, name: &str| -> u32 {
        let number = plain(&template.resolve(&alarm[name], &Parameters::new()));
        number.and_then(|text| text.parse().ok()).unwrap_or_default()
    };
    let filled = template.of_type("AWS::CloudWatch::Alarm").filter(|(_, alarm)| is_filled(alarm));
    let doubtful = filled.filter(|(_, alarm)| {
        let (breaching, periods) = (number(alarm, "DatapointsToAlarm"), number(alarm, "EvaluationPeriods"));
        breaching == 0 || breaching >= periods
    });
    doubtful.map(|(id, _)| id.to_owned()).collect()
}

fn is_filled(alarm: &Value) -> bool {
    let queries = alarm["Metrics"].as_array().into_iter().flatten();
    queries.filter_map(|query| query["Expression"].as_str()).any(|expression| expression.contains("FILL("))
}

#[test]
fn an_alarm_with_filled_values_evaluates_more_periods_than_must_breach() {
    assert_eq!(decided_by_the_newest_period(TEMPLATE), [""; 0]);
    let of_five = "EvaluationPeriods: 5\n      DatapointsToAlarm: 1\n";
    let of_one = TEMPLATE.replace(of_five, "EvaluationPeriods: 1\n      DatapointsToAlarm: 1\n");
    let mut found = decided_by_the_newest_period(&of_one);
    found.sort();
    let expected = [
        "ChunkDeadLettersAlarm",
        "CompleteJobDeadLettersAlarm",
        "CreateJobDeadLettersAlarm",
        "WebhookDeadLettersAlarm",
    ];
    assert_eq!(found, expected);
    let all = TEMPLATE.replace(of_five, "EvaluationPeriods: 5\n      DatapointsToAlarm: 5\n");
    assert_eq!(decided_by_the_newest_period(&all).len(), expected.len());
}
