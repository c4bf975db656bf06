//! What a handler says about an item, and what it has recorded.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// Number of items of a job: three chunks of four batches.
pub(super) const ITEMS: u64 = 240;

/// What the handler says about an item.
pub(super) fn action(number: u64) -> &'static str {
    match number % 24 {
        5 => "reject",
        11 => "skip",
        17 => "retry",
        23 => "unanswered",
        3 if number % 120 == 3 => "busy",
        _ => "ok",
    }
}

/// Key of an item.
pub(super) fn key(number: u64) -> String {
    format!("k{number:05}")
}

/// How often each item is processed.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Processed {
    /// As often as the handler asks for.
    Exactly,
    /// Up to so many times more. A fault can also spend the try in which the handler would have asked for another one.
    UpToMore(u64),
    /// Up to twice as often, because messages come twice, and up to so many times more.
    UpToTwiceAndMore(u64),
}

/// What a handler has recorded of one job.
#[derive(Default)]
pub(super) struct Effects {
    /// Number of calls with this id.
    pub(super) batches: BTreeMap<String, u64>,
    /// Number of times that an item was processed.
    processed: BTreeMap<u64, u64>,
}

impl Effects {
    /// Reads the records in this folder.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let mut effects = Self::default();
        for line in fs::read_to_string(folder.join("log")).unwrap_or_default().lines() {
            let call: Value = serde_json::from_str(line)?;
            *effects.batches.entry(call["batch"].as_str().context("no batch")?.to_owned()).or_default() += 1;
            for number in call["numbers"].as_array().into_iter().flatten().filter_map(Value::as_u64) {
                *effects.processed.entry(number).or_default() += 1;
            }
        }
        Ok(effects)
    }

    /// The batches that were received more than once, and the items that were processed another number of times.
    pub(super) fn differences(&self, processed: Processed) -> Vec<String> {
        let doubled = self.batches.iter().filter(|(_, calls)| **calls > 1);
        let mut differences: Vec<_> = doubled.map(|(id, calls)| format!("batch {id} was sent {calls} times")).collect();
        let (mut most, mut wrong) = (0, Vec::new());
        for number in 1..=ITEMS {
            let asked = 1 + u64::from(action(number) == "retry");
            let times = self.processed.get(&number).copied().unwrap_or_default();
            let expected = match processed {
                Processed::Exactly => asked..=asked,
                Processed::UpToMore(more) => 1..=asked + more,
                Processed::UpToTwiceAndMore(more) => 1..=2 * asked + more,
            };
            if !expected.contains(&times) {
                wrong.push(format!("{number}: {times} times, not {expected:?}"));
            }
            most = most.max(times.saturating_sub(asked));
        }
        if let Some(first) = wrong.first() {
            let items = format!("{} items were processed too often or not at all, such as item {first}", wrong.len());
            differences.push(items);
        }
        eprintln!("{} calls; an item was processed up to {most} times more than asked for", self.batches.len());
        differences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records of a handler that has processed each item as often as it asks for.
    fn exact() -> Effects {
        let asked = |number| 1 + u64::from(action(number) == "retry");
        let processed = (1..=ITEMS).map(|number| (number, asked(number))).collect();
        Effects { batches: [("batch-1".to_owned(), 1)].into(), processed }
    }

    #[test]
    fn a_doubled_call_a_lost_item_and_a_repeated_item_are_differences() {
        assert_eq!(exact().differences(Processed::Exactly), [""; 0]);
        let mut doubled = exact();
        doubled.batches.insert("batch-2".into(), 2);
        let mut lost = exact();
        lost.processed.remove(&1);
        for effects in [doubled, lost] {
            assert_eq!(effects.differences(Processed::UpToMore(9)).len(), 1);
        }
        let mut repeated = exact();
        repeated.processed.insert(1, 3);
        assert_eq!(repeated.differences(Processed::UpToMore(1)).len(), 1);
        assert_eq!(repeated.differences(Processed::UpToMore(2)), [""; 0]);
        assert_eq!(repeated.differences(Processed::UpToTwiceAndMore(0)).len(), 1);
        assert_eq!(repeated.differences(Processed::UpToTwiceAndMore(1)), [""; 0]);
    }
}
