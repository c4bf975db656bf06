//! Alarms, ages of messages, schedules.

use std::collections::BTreeMap;

use anyhow::Result;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use super::observer::Observer;
use crate::aws::session::Session;
use crate::aws::signed_json::{CLOUDWATCH, EVENT_BRIDGE};
use crate::doctor::facts::{Alarm, Schedule};

/// Maximum number of alarms of one call.
/// <https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html>
const ALARMS: usize = 100;

/// Seconds in which the last value of a metric is looked for. SQS sends one each minute while a queue is active.
const METRIC_SECONDS: i64 = 600;

impl Observer<'_> {
    /// Reads the alarms of the stack.
    pub(super) fn alarms(&mut self) -> Vec<Alarm> {
        let (session, inventory) = (self.session, self.inventory);
        let ids: BTreeMap<&str, &str> = inventory
            .of_kind("AWS::CloudWatch::Alarm")
            .map(|resource| (resource.name.as_str(), resource.id.as_str()))
            .collect();
        let names: Vec<&str> = ids.keys().copied().collect();
        let mut alarms = Vec::new();
        for names in names.chunks(ALARMS) {
            let Some(found) = self.wait("alarms", describe_alarms(session, names)) else { break };
            alarms.extend(found.iter().filter_map(|alarm| read_alarm(alarm, &ids)));
        }
        alarms
    }

    /// Reads the age of the oldest message of each of these queues, in seconds.
    pub(super) fn ages(&mut self, queues: &[&str]) -> BTreeMap<String, u64> {
        let (session, now) = (self.session, self.now.seconds());
        self.wait("the age of the oldest messages", ages(session, queues, now)).unwrap_or_default()
    }

    /// Reads the schedules of the stack's functions.
    pub(super) fn schedules(&mut self) -> Option<Vec<Schedule>> {
        let (session, inventory) = (self.session, self.inventory);
        let names: Vec<&str> = inventory.of_kind("AWS::Events::Rule").map(|rule| rule.name.as_str()).collect();
        self.wait("the sweeper's schedule", async {
            let mut schedules = Vec::new();
            for name in names {
                let rule = session.read_json(&EVENT_BRIDGE, "DescribeRule", &json!({ "Name": name })).await?;
                let state = rule["State"].as_str().unwrap_or_default().to_owned();
                schedules.push(Schedule { name: name.to_owned(), state });
            }
            anyhow::Ok(schedules)
        })
    }
}

async fn describe_alarms(session: &Session, names: &[&str]) -> Result<Vec<Value>> {
    let request = json!({ "AlarmNames": names, "MaxRecords": ALARMS });
    let answer = session.read_json(&CLOUDWATCH, "DescribeAlarms", &request).await?;
    Ok(answer["MetricAlarms"].as_array().cloned().unwrap_or_default())
}

fn read_alarm(alarm: &Value, ids: &BTreeMap<&str, &str>) -> Option<Alarm> {
    let text = |name: &str| alarm[name].as_str().unwrap_or_default().to_owned();
    let id = ids.get(alarm["AlarmName"].as_str()?)?;
    let since = alarm["StateUpdatedTimestamp"].as_f64().map(|seconds| Timestamp((seconds * 1_000.0) as i64));
    Some(Alarm { id: (*id).to_owned(), state: text("StateValue"), reason: text("StateReason"), since })
}

/// Returns the last values of the metric, by queue. A queue without messages has none.
async fn ages(session: &Session, queues: &[&str], now: i64) -> Result<BTreeMap<String, u64>> {
    let query = |(number, queue): (usize, &&str)| {
        let metric = json!({
            "Namespace": "AWS/SQS",
            "MetricName": "ApproximateAgeOfOldestMessage",
            "Dimensions": [{ "Name": "QueueName", "Value": queue }],
        });
        json!({ "Id": id(number), "MetricStat": { "Metric": metric, "Period": 60, "Stat": "Maximum" } })
    };
    let queries: Vec<_> = queues.iter().enumerate().map(query).collect();
    let request = json!({
        "MetricDataQueries": queries,
        "StartTime": now - METRIC_SECONDS,
        "EndTime": now,
        "ScanBy": "TimestampDescending",
    });
    let answer = session.read_json(&CLOUDWATCH, "GetMetricData", &request).await?;
    let results = answer["MetricDataResults"].as_array().map(Vec::as_slice).unwrap_or_default();
    let age = |(number, queue): (usize, &&str)| {
        let result = results.iter().find(|result| result["Id"] == id(number))?;
        Some(((*queue).to_owned(), result["Values"][0].as_f64()? as u64))
    };
    Ok(queues.iter().enumerate().filter_map(age).collect())
}

/// Returns the id of a query: it begins with a lower-case character.
fn id(number: usize) -> String {
    format!("q{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_has_the_id_of_the_template() {
        let ids = BTreeMap::from([("longshore-SweepErrorsAlarm-X1", "SweepErrorsAlarm")]);
        let alarm = json!({ "AlarmName": "longshore-SweepErrorsAlarm-X1", "StateValue": "ALARM", "StateReason": "r",
            "StateUpdatedTimestamp": 1_700_000_000.5 });
        let read = read_alarm(&alarm, &ids).unwrap();
        assert_eq!((read.id.as_str(), read.state.as_str()), ("SweepErrorsAlarm", "ALARM"));
        assert_eq!(read.since, Some(Timestamp(1_700_000_000_500)));
        assert!(read_alarm(&json!({ "AlarmName": "of another stack" }), &ids).is_none());
    }
}
