//! Events of log groups, complete although the emulator returns only the first ones.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Cloud;

/// Maximum number of events of a response. The emulator returns no token for the events after them.
const PAGE_EVENTS: usize = 10_000;

impl Cloud {
    /// Returns the messages of a log group since a time in milliseconds.
    ///
    /// # Errors
    /// If there is no such group, or a millisecond has too many events.
    pub fn logs_since(&self, group: &str, from_ms: u64) -> Result<Vec<String>> {
        let events = self.log_events(group, from_ms, None)?;
        Ok(events.iter().filter_map(|event| event["message"].as_str().map(str::to_owned)).collect())
    }

    /// Returns the events of a log group, oldest first, from one time until before another, in milliseconds. Their
    /// members are those of `FilterLogEvents`.
    ///
    /// # Errors
    /// If there is no such group, or a millisecond has too many events.
    pub fn log_events(&self, group: &str, from_ms: u64, until_ms: Option<u64>) -> Result<Vec<Value>> {
        let mut request = json!({ "logGroupName": group });
        if let Some(until_ms) = until_ms {
            request["endTime"] = until_ms.saturating_sub(1).into();
        }
        let call = |request: &Value| self.json("logs", "Logs_20140328.FilterLogEvents", request);
        read_all(&request, from_ms, call).with_context(|| format!("reading the log {group}"))
    }
}

/// Reads all events from a time on. A response with a token is continued by it. A full response without a token is
/// continued at the time of its last event.
fn read_all(request: &Value, from_ms: u64, mut call: impl FnMut(&Value) -> Result<Value>) -> Result<Vec<Value>> {
    let (mut all, mut from_ms, mut token) = (Vec::new(), from_ms, None);
    loop {
        let mut request = request.clone();
        request["startTime"] = from_ms.into();
        if let Some(token) = token.take() {
            request["nextToken"] = token;
        }
        let mut page = call(&request)?;
        let mut events = match page["events"].take() {
            Value::Array(events) => events,
            _ => Vec::new(),
        };
        match page["nextToken"].take() {
            next @ Value::String(_) => token = Some(next),
            _ if events.len() < PAGE_EVENTS => {
                all.append(&mut events);
                return Ok(all);
            }
            _ => from_ms = cut(&mut events, from_ms)?,
        }
        all.append(&mut events);
    }
}

/// Removes the events of the last millisecond, which can be incomplete, from a full page that begins at a time. Returns
/// this millisecond, at which the next page begins. No event is missed or read twice.
///
/// # Errors
/// If all events have the same time: then the next page would be the same.
fn cut(events: &mut Vec<Value>, from_ms: u64) -> Result<u64> {
    let at_ms = |event: &Value| event["timestamp"].as_u64();
    let last_ms = events.last().and_then(at_ms).context("an event has no time")?;
    events.retain(|event| at_ms(event) != Some(last_ms));
    ensure!(!events.is_empty() && last_ms > from_ms, "more than {PAGE_EVENTS} events at {last_ms} cannot be read");
    Ok(last_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events at these times, each with its position as its message.
    fn events(times: impl IntoIterator<Item = u64>) -> Vec<Value> {
        let event = |(position, at_ms): (usize, u64)| json!({ "timestamp": at_ms, "message": position.to_string() });
        times.into_iter().enumerate().map(event).collect()
    }

    /// Responds as the emulator: the first events of the time, without a token.
    fn emulator(events: &[Value], request: &Value) -> Value {
        let (from_ms, until_ms) = (request["startTime"].as_u64(), request["endTime"].as_u64());
        let is_in = |event: &&Value| {
            let at_ms = event["timestamp"].as_u64();
            at_ms >= from_ms && (until_ms.is_none() || at_ms <= until_ms)
        };
        json!({ "events": events.iter().filter(is_in).take(PAGE_EVENTS).collect::<Vec<_>>() })
    }

    #[test]
    fn every_event_is_read_once_although_a_response_ends_within_a_millisecond() {
        let page = PAGE_EVENTS as u64;
        for (count, per_ms, calls) in
            [(0, 1, 1), (page - 1, 1, 1), (page, 1, 2), (page + 1, 1, 2), (3 * page, 7, 4), (2 * page, page - 1, 3)]
        {
            let (stored, mut made) = (events((0..count).map(|position| 5 + position / per_ms)), 0);
            let call = |request: &Value| {
                made += 1;
                Ok(emulator(&stored, request))
            };
            let read = read_all(&json!({}), 0, call).unwrap();
            assert!(read == stored, "{count} events, {per_ms} in a millisecond: {} were read", read.len());
            assert_eq!(made, calls, "{count} events, {per_ms} in a millisecond");
        }
    }

    #[test]
    fn a_range_has_its_events_only() {
        let stored = events(0..25_000);
        let read = read_all(&json!({ "endTime": 20_999 }), 1_000, |request| Ok(emulator(&stored, request))).unwrap();
        assert!(read == stored[1_000..21_000], "{} were read", read.len());
    }

    #[test]
    fn a_token_is_followed() {
        let mut tokens = Vec::new();
        let call = |request: &Value| {
            tokens.push(request["nextToken"].clone());
            let next = if tokens.len() < 3 { json!(tokens.len().to_string()) } else { Value::Null };
            Ok(json!({ "events": events([tokens.len() as u64]), "nextToken": next }))
        };
        let times: Vec<_> =
            read_all(&json!({}), 0, call).unwrap().iter().map(|event| event["timestamp"].clone()).collect();
        assert_eq!((times, tokens), (vec![json!(1), json!(2), json!(3)], vec![Value::Null, json!("1"), json!("2")]));
    }

    #[test]
    fn too_many_events_of_a_millisecond_are_an_error() {
        let stored = events(std::iter::repeat_n(7, PAGE_EVENTS + 1));
        for from_ms in [0, 7] {
            let error = read_all(&json!({}), from_ms, |request| Ok(emulator(&stored, request))).unwrap_err();
            assert_eq!(error.to_string(), "more than 10000 events at 7 cannot be read");
        }
    }
}
