//! `export`: writes the records of a dataset to a file.
//!
//! The output of an item is its record as it is stored, so the results of the job are the export. Their form is that of
//! the request. A record is read when its item is worked on; the handler calls no service.

use longshore_domain::results::ResultRow;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::handler::{Input, ItemKey, JobContext, JobType, Outcome, Record, Rejection, TypeLimits};

/// Name of the job type.
pub const NAME: &str = "export";

/// Exports the records of a dataset.
#[derive(Copy, Clone, Debug)]
pub struct Export;

/// The options of an export: none. The source has the selection, and `results` the form of the file.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportOptions {}

impl JobType for Export {
    const NAME: &'static str = NAME;
    const INPUT: Input = Input::Dataset;
    const ROW: ResultRow = ResultRow::Plain;
    const LIMITS: TypeLimits = TypeLimits {
        // A chunk takes some seconds, and small records are enough for a part of the file that S3 can copy.
        chunk_items: 25_000,
        chunk_bytes: 4 << 20,
        // A batch of an export takes a few milliseconds.
        batch_items: 2_000,
        ..TypeLimits::DEFAULT
    };
    type Options = ExportOptions;
    /// The record as JSON: the worker copies it into the results, and builds no values.
    type Item = Box<RawValue>;
    type Output = Box<RawValue>;

    fn read(&self, _: &ExportOptions, record: &Record<'_>) -> Result<Box<RawValue>, Rejection> {
        let Record::Stored(stored) = record else {
            return Err(Rejection::new("no_dataset", None, "an export requires a dataset"));
        };
        to_raw_value(&stored.record)
            .map_err(|error| Rejection::new("output_not_json", None, format!("the record cannot be written: {error}")))
    }

    async fn process(
        &self,
        _: &JobContext,
        _: &ExportOptions,
        _: ItemKey,
        record: Box<RawValue>,
    ) -> Outcome<Box<RawValue>> {
        Outcome::Ok(record)
    }

    async fn process_batch(
        &self,
        _: &JobContext,
        _: &ExportOptions,
        records: Vec<(ItemKey, Box<RawValue>)>,
    ) -> Vec<Outcome<Box<RawValue>>> {
        records.into_iter().map(|(_, record)| Outcome::Ok(record)).collect()
    }
}

#[cfg(test)]
mod tests {
    use longshore_domain::ports::StoredRecord;
    use longshore_domain::timestamp::Timestamp;
    use serde_json::{Value, json};

    use super::*;

    fn stored(record: Value) -> StoredRecord {
        let Value::Object(record) = record else { panic!("a record is an object") };
        StoredRecord { key: "k".into(), record, writer: None, updated_at: Timestamp(0) }
    }

    #[test]
    fn the_output_of_a_record_is_its_data() {
        let data = json!({"id": "k", "deep": {"list": [1, 2.5, null, "é\n"]}, "empty": "", "large": u64::MAX});
        let output = Export.read(&ExportOptions {}, &Record::Stored(&stored(data.clone()))).unwrap();
        assert_eq!(serde_json::from_str::<Value>(output.get()).unwrap(), data);
    }

    #[test]
    fn an_item_without_a_record_is_refused() {
        let refused = Export.read(&ExportOptions {}, &Record::Line(b"{}")).unwrap_err();
        assert_eq!(refused.code, "no_dataset");
    }

    #[test]
    fn an_export_has_no_options() {
        assert!(serde_json::from_value::<ExportOptions>(json!({})).is_ok());
        assert!(serde_json::from_value::<ExportOptions>(json!({"columns": ["a"]})).is_err());
    }
}
