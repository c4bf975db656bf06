//! The outcomes of a batch, and the outputs of its items as lines of the results.

use std::any::TypeId;
use std::io::Write;

use serde::Serialize;

use super::{Outcome, Rejection, ResultRow};

/// Maximum size of an output as JSON, in bytes: a worker has the outputs of a batch in memory, and a row of the results
/// is read as a whole.
pub const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// Size of the outputs of a batch after which the remaining items are offered again, in a smaller batch. A worker has
/// at most twice as much in memory.
const MAX_BATCH_BYTES: usize = 8 << 20;

/// What becomes of the outputs of a batch.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Outputs {
    /// They are rows of the job's results.
    Kept,
    /// The job has no results.
    Dropped,
}

/// The outcomes of the first items of a batch.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct Processed {
    /// One outcome per item. None follows a fatal one.
    pub outcomes: Vec<Outcome>,
    /// One line of JSON for each item that succeeded; empty if the job type has no output.
    pub lines: Vec<u8>,
    /// Number of lines.
    pub rows: u64,
}

/// Returns true if a job type with this output has results.
pub(super) fn has_output<O: 'static>() -> bool {
    TypeId::of::<O>() != TypeId::of::<()>()
}

impl Processed {
    pub(super) fn with_capacity(items: usize) -> Self {
        Self { outcomes: Vec::with_capacity(items), ..Self::default() }
    }

    /// Returns true if no further outcome should be appended.
    pub(super) fn is_full(&self) -> bool {
        self.lines.len() >= MAX_BATCH_BYTES
    }

    /// Creates the outcomes of items that failed without a call of the handler.
    pub(crate) fn rejected(rejections: Vec<Rejection>) -> Self {
        Self { outcomes: rejections.into_iter().map(Outcome::Reject).collect(), ..Self::default() }
    }

    /// Adds the outcomes of items without a record, which were not passed to the handler. `has_record` tells for each
    /// item of the batch if its record exists.
    pub(crate) fn with_removed(self, has_record: &[bool], removed: &Outcome) -> Self {
        let mut processed = self.outcomes.into_iter();
        let mut outcomes = Vec::with_capacity(has_record.len());
        for has_record in has_record {
            match if *has_record { processed.next() } else { Some(removed.clone()) } {
                Some(outcome) => outcomes.push(outcome),
                None => break,
            }
            if matches!(outcomes.last(), Some(Outcome::Fatal(_))) {
                break;
            }
        }
        Self { outcomes, ..self }
    }

    /// Appends the outcome of the next item, and its output as a line. An output that is too large or cannot be
    /// serialized fails its item.
    pub(crate) fn push<O: Serialize + 'static>(&mut self, row: ResultRow, number: u64, outcome: Outcome<O>) {
        if has_output::<O>() {
            self.push_outcome(outcome, |processed, output| processed.append(row, number, &output));
        } else {
            self.push_without_output(outcome);
        }
    }

    /// Appends the outcome of the next item without its output.
    pub(crate) fn push_without_output<O>(&mut self, outcome: Outcome<O>) {
        self.push_outcome(outcome, |_, _| Ok(()));
    }

    fn push_outcome<O>(&mut self, outcome: Outcome<O>, append: impl FnOnce(&mut Self, O) -> Result<(), Rejection>) {
        if !matches!(self.outcomes.last(), Some(Outcome::Fatal(_))) {
            let outcome = outcome.and_then(|output| append(self, output));
            self.outcomes.push(outcome);
        }
    }

    fn append(&mut self, row: ResultRow, number: u64, output: &impl Serialize) -> Result<(), Rejection> {
        let start = self.lines.len();
        let written = self.write(row, number, output);
        let bytes = self.lines.len() - start;
        if let Err(error) = written {
            self.lines.truncate(start);
            let message = format!("the handler's output cannot be written as JSON: {error}");
            return Err(Rejection::new("output_not_json", None, message));
        }
        if bytes > MAX_OUTPUT_BYTES {
            self.lines.truncate(start);
            let message = format!("the handler's output has {bytes} bytes as JSON; the maximum is {MAX_OUTPUT_BYTES}");
            return Err(Rejection::new("output_too_large", None, message));
        }
        // Within JSON, a line end is whitespace: only raw values have any.
        self.lines[start..].iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        self.lines.push(b'\n');
        self.rows += 1;
        Ok(())
    }

    fn write(&mut self, row: ResultRow, number: u64, output: &impl Serialize) -> Result<(), serde_json::Error> {
        match row {
            ResultRow::Plain => serde_json::to_writer(&mut self.lines, output),
            ResultRow::Numbered => {
                // Writing to a vector cannot fail.
                let _ = write!(self.lines, "{{\"number\":{number},\"output\":");
                serde_json::to_writer(&mut self.lines, output)?;
                self.lines.push(b'}');
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn removed_items_have_outcomes_between_those_of_the_handler() {
        let of = |outcomes| Processed { outcomes, ..Processed::default() };
        let (ok, gone) = (Outcome::Ok(()), Outcome::Skip { reason: "removed".into() });
        let fatal = || Outcome::Fatal(Rejection::new("no", None, "no"));
        for (outcomes, has_record, expected) in [
            (vec![ok.clone(), ok.clone()], [true, false, true, false], vec![&ok, &gone, &ok, &gone]),
            (vec![], [false, false, true, true], vec![&gone, &gone]),
            (vec![ok.clone()], [true, true, false, false], vec![&ok]),
            (vec![fatal()], [false, true, false, true], vec![&gone, &fatal()]),
        ] {
            let merged = of(outcomes).with_removed(&has_record, &gone);
            assert_eq!(merged.outcomes.iter().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn each_success_has_a_line_with_its_number() {
        let mut processed = Processed::with_capacity(4);
        processed.push(ResultRow::Numbered, 7, Outcome::Ok("a\nb"));
        processed.push(ResultRow::Numbered, 8, Outcome::<&str>::Skip { reason: "no".into() });
        processed.push(ResultRow::Plain, 9, Outcome::Ok("c"));
        assert_eq!(String::from_utf8_lossy(&processed.lines), "{\"number\":7,\"output\":\"a\\nb\"}\n\"c\"\n");
        assert_eq!((processed.outcomes.len(), processed.rows), (3, 2));
    }

    #[test]
    fn a_type_without_output_writes_no_line() {
        let mut processed = Processed::default();
        processed.push(ResultRow::Numbered, 1, Outcome::Ok(()));
        assert_eq!((processed.outcomes.as_slice(), processed.rows), (&[Outcome::Ok(())][..], 0));
        assert!(processed.lines.is_empty());
    }

    #[test]
    fn an_output_that_cannot_be_a_line_fails_its_item_alone() {
        let mut processed = Processed::default();
        processed.push(ResultRow::Numbered, 1, Outcome::Ok(BTreeMap::from([((1, 2), 3)])));
        processed.push(ResultRow::Numbered, 2, Outcome::Ok("x".repeat(MAX_OUTPUT_BYTES)));
        processed.push(ResultRow::Plain, 3, Outcome::Ok(1));
        let codes = processed.outcomes.iter().map(|outcome| match outcome {
            Outcome::Reject(why) => why.code.as_str(),
            _ => "ok",
        });
        assert_eq!(codes.collect::<Vec<_>>(), ["output_not_json", "output_too_large", "ok"]);
        assert_eq!((processed.lines.as_slice(), processed.rows), (&b"1\n"[..], 1));
    }

    #[test]
    fn a_raw_value_with_line_ends_stays_one_line() {
        let mut processed = Processed::default();
        let raw: Box<RawValue> = serde_json::from_str("{\n\"a\": \"\\n\"\r\n}").unwrap();
        processed.push(ResultRow::Plain, 1, Outcome::Ok(raw));
        assert_eq!(processed.lines, b"{ \"a\": \"\\n\"  }\n");
    }

    #[test]
    fn nothing_follows_a_fatal_outcome() {
        let mut processed = Processed::default();
        processed.push(ResultRow::Plain, 1, Outcome::<u8>::Fatal(Rejection::new("f", None, "m")));
        processed.push(ResultRow::Plain, 2, Outcome::Ok(1));
        assert_eq!((processed.outcomes.len(), processed.rows), (1, 0));
    }
}
