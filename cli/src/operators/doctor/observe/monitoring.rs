//! Alarms, ages of messages, throttled requests, schedules.

use std::collections::BTreeMap;

use anyhow::Result;
use longshore_domain::timestamp::Timestamp;
use longshore_signed_json::{AwsMetric, CLOUDWATCH, EVENT_BRIDGE, MetricQuery};
use serde_json::{Value, json};

use super::observer::Observer;
use crate::aws::session::Session;
use crate::operators::doctor::facts::{Alarm, MissingAlarm, Schedule, Table};

/// Maximum number of alarms of one call.
/// <https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html>
const ALARMS: usize = 100;

/// Seconds in which throttled requests are counted. DynamoDB sends their number each minute, up to two minutes late.
const THROTTLE_SECONDS: i64 = 180;

impl Observer<'_> {
    /// Reads the alarms of the stack, and lists those that do not exist.
    pub(super) fn alarms(&mut self) -> (Vec<Alarm>, Vec<MissingAlarm>) {
        let (session, inventory) = (self.session, self.inventory);
        let ids: BTreeMap<&str, &str> = inventory
            .of_kind("AWS::CloudWatch::Alarm")
            .map(|resource| (resource.name.as_str(), resource.id.as_str()))
            .collect();
        let names: Vec<&str> = ids.keys().copied().collect();
        let (mut alarms, mut missing) = (Vec::new(), Vec::new());
        for names in names.chunks(ALARMS) {
            let Some(found) = self.wait("alarms", describe_alarms(session, names)) else { break };
            alarms.extend(found.iter().filter_map(|alarm| read_alarm(alarm, &ids)));
            missing.extend(names.iter().filter_map(|name| missing_alarm(name, &found, &ids)));
        }
        (alarms, missing)
    }

    /// Reads the age of the oldest message of each of these queues, in seconds.
    pub(super) fn ages(&mut self, queues: &[&str]) -> BTreeMap<String, u64> {
        let (session, now) = (self.session, self.now.seconds());
        let ages = async { Ok(session.json().queue_ages(queues, now).await?) };
        self.wait("the age of the oldest messages", ages).unwrap_or_default()
    }

    /// Reads how many reads and writes of a table and of its indexes were throttled in the last minutes.
    pub(super) fn throttled(&mut self, table: &Table) -> Option<u64> {
        let (session, now, name) = (self.session, self.now.seconds(), table.name.as_str());
        let indexes: Vec<&str> = table.indexes.iter().map(String::as_str).collect();
        self.wait(&format!("throttled requests of the table {name}"), async {
            let mut throttled = 0.0;
            for (metrics, within, resources) in [
                (AwsMetric::TABLE_THROTTLES, None, &[name][..]),
                (AwsMetric::INDEX_THROTTLES, Some(name), &indexes[..]),
            ] {
                for metric in metrics.into_iter().filter(|_| !resources.is_empty()) {
                    let (since, until) = (now - THROTTLE_SECONDS, now);
                    let query = MetricQuery { metric, within, statistic: "Sum", since, until };
                    throttled += session.json().metric_values(&query, resources).await?.values().flatten().sum::<f64>();
                }
            }
            anyhow::Ok(throttled as u64)
        })
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
    Some(Alarm {
        id: (*id).to_owned(),
        name: text("AlarmName"),
        state: text("StateValue"),
        reason: text("StateReason"),
        since,
        // An emulator can lack the member.
        is_muted: alarm["ActionsEnabled"] == false,
    })
}

/// Returns the alarm of this name if it is not one of those that were found.
fn missing_alarm(name: &str, found: &[Value], ids: &BTreeMap<&str, &str>) -> Option<MissingAlarm> {
    let is_found = found.iter().any(|alarm| alarm["AlarmName"] == name);
    let id = ids.get(name).filter(|_| !is_found)?;
    Some(MissingAlarm { id: (*id).to_owned(), name: name.to_owned() })
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

    #[test]
    fn an_alarm_is_muted_only_if_its_actions_are_disabled() {
        let ids = BTreeMap::from([("a", "SweepErrorsAlarm")]);
        for (alarm, expected) in [
            (json!({ "AlarmName": "a", "ActionsEnabled": false }), true),
            (json!({ "AlarmName": "a", "ActionsEnabled": true }), false),
            (json!({ "AlarmName": "a" }), false),
        ] {
            assert_eq!(read_alarm(&alarm, &ids).unwrap().is_muted, expected, "{alarm}");
        }
    }

    #[test]
    fn an_alarm_that_is_asked_for_and_not_returned_is_missing() {
        let ids = BTreeMap::from([("a", "SweepErrorsAlarm"), ("b", "SweepSilentAlarm")]);
        let found = [json!({ "AlarmName": "a" })];
        assert_eq!(missing_alarm("a", &found, &ids), None);
        let missing = MissingAlarm { id: "SweepSilentAlarm".to_owned(), name: "b".to_owned() };
        assert_eq!(missing_alarm("b", &found, &ids), Some(missing));
    }
}
