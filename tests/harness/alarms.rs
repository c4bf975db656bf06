//! What an operator's tools read of a stack beside its API: states of alarms, logs, depths of queues, metrics. Where an
//! emulator has none, a test provides them.

use std::collections::HashMap;

use anyhow::{Context, Result};
use aws_sdk_sqs::types::QueueAttributeName as Attribute;
use serde_json::{Value, json};

use super::samples::LogEvent;
use super::setup::functions;
use super::stack::{NAME, Stack};

/// Prefix of the operations of CloudWatch.
const CLOUDWATCH: &str = "GraniteServiceVersion20100801";

impl Stack {
    /// Sets the state of an alarm, by its id in the template. The stack must have an emulator of this process.
    ///
    /// # Errors
    /// If there is no such alarm.
    pub fn set_alarm(&self, id: &str, state: &str) -> Result<()> {
        let name = self.cloud.physical_id(NAME, id)?;
        let request = json!({ "AlarmName": name, "StateValue": state, "StateReason": "a test" });
        self.cloud.json("monitoring", &format!("{CLOUDWATCH}.SetAlarmState"), &request).map(drop)
    }

    /// Disables the actions of an alarm, by its id in the template.
    ///
    /// # Errors
    /// If there is no such alarm.
    pub fn mute_alarm(&self, id: &str) -> Result<()> {
        self.call_alarm("DisableAlarmActions", id)
    }

    /// Enables the actions of an alarm, by its id in the template.
    ///
    /// # Errors
    /// If there is no such alarm.
    pub fn unmute_alarm(&self, id: &str) -> Result<()> {
        self.call_alarm("EnableAlarmActions", id)
    }

    fn call_alarm(&self, operation: &str, id: &str) -> Result<()> {
        let request = json!({ "AlarmNames": [self.cloud.physical_id(NAME, id)?] });
        self.cloud.json("monitoring", &format!("{CLOUDWATCH}.{operation}"), &request).map(drop)
    }

    /// Publishes a value of a metric of a table, as DynamoDB does.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn put_table_metric(&self, table: &str, name: &str, value: u64) -> Result<()> {
        let datum =
            json!({ "MetricName": name, "Dimensions": [{ "Name": "TableName", "Value": table }], "Value": value });
        let request = json!({ "Namespace": "AWS/DynamoDB", "MetricData": [datum] });
        self.cloud.json("monitoring", &format!("{CLOUDWATCH}.PutMetricData"), &request).map(drop)
    }

    /// Log events of all functions from one time until another, in milliseconds since 1970, by the ids of the
    /// functions in the template.
    ///
    /// # Errors
    /// If the emulator refuses it. A function that has never run has no log.
    pub fn events_of_functions(&self, from_ms: i64, until_ms: i64) -> Result<Vec<(String, Vec<LogEvent>)>> {
        let events = functions().map(|(id, name)| {
            let group = format!("/aws/lambda/{NAME}-{name}");
            Ok((id, self.log_events(&group, from_ms, until_ms).with_context(|| format!("the log of {name}"))?))
        });
        events.collect()
    }

    fn log_events(&self, group: &str, from_ms: i64, until_ms: i64) -> Result<Vec<LogEvent>> {
        let (from_ms, until_ms) = (u64::try_from(from_ms)?, u64::try_from(until_ms)?);
        let events = match self.cloud.log_events(group, from_ms, Some(until_ms)) {
            Err(error) if format!("{error:#}").contains("ResourceNotFoundException") => Vec::new(),
            events => events?,
        };
        let event = |event: &Value| {
            let text = |name: &str| event[name].as_str().map(str::to_owned);
            let (stream, message) = (text("logStreamName")?, text("message")?);
            Some(LogEvent { stream, at_ms: event["timestamp"].as_i64()?, message })
        };
        Ok(events.iter().filter_map(event).collect())
    }

    /// Numbers of visible and of hidden messages of the queue of this output.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn depth(&self, queue_output: &str) -> Result<[u64; 2]> {
        let names = [Attribute::ApproximateNumberOfMessages, Attribute::ApproximateNumberOfMessagesNotVisible];
        let attributes = self.attributes(queue_output)?;
        let number = |name: &Attribute| attributes.get(name).and_then(|text| text.parse().ok()).unwrap_or_default();
        Ok([number(&names[0]), number(&names[1])])
    }

    /// Sets the visibility timeout of the queue of this output.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn set_visibility(&self, queue_output: &str, seconds: u32) -> Result<()> {
        let call = self.aws.sqs().set_queue_attributes().queue_url(self.output(queue_output)?);
        self.run(call.attributes(Attribute::VisibilityTimeout, seconds.to_string()).send())?;
        Ok(())
    }

    /// Deletes all messages of the queue of this output, also those in flight.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn purge(&self, queue_output: &str) -> Result<()> {
        self.run(self.aws.sqs().purge_queue().queue_url(self.output(queue_output)?).send())?;
        Ok(())
    }

    /// Moves all messages of a dead-letter queue, by its id in the template, to the queue of this output, as
    /// `StartMessageMoveTask` does, which the emulator lacks. Returns their number.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn redrive(&self, dead_letters: &str, queue_output: &str) -> Result<usize> {
        let (from, to, sqs) = (self.cloud.physical_id(NAME, dead_letters)?, self.output(queue_output)?, self.aws.sqs());
        let mut moved = 0;
        loop {
            let received = self.run(sqs.receive_message().queue_url(&from).max_number_of_messages(10).send())?;
            if received.messages().is_empty() {
                return Ok(moved);
            }
            for message in received.messages() {
                self.run(sqs.send_message().queue_url(to).set_message_body(message.body.clone()).send())?;
                let handle = message.receipt_handle.clone();
                self.run(sqs.delete_message().queue_url(&from).set_receipt_handle(handle).send())?;
                moved += 1;
            }
        }
    }

    /// Lets another function consume the queue of this output, in place of that of the stack.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn divert(&self, queue_output: &str, function: &str) -> Result<()> {
        let attributes = self.attributes(queue_output)?;
        let arn = attributes.get(&Attribute::QueueArn).context("the queue has no ARN")?;
        self.cloud.divert_queue(arn, function)
    }

    fn attributes(&self, queue_output: &str) -> Result<HashMap<Attribute, String>> {
        let call = self.aws.sqs().get_queue_attributes().queue_url(self.output(queue_output)?);
        let answer = self.run(call.attribute_names(Attribute::All).send()).context("cannot read a queue")?;
        Ok(answer.attributes.unwrap_or_default())
    }
}
