//! The options of an import, and their validation.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use longshore_domain::job::Tolerance;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::mode::{Mode, NotUndoable};
use super::notations::{Blanks, Notations};
use super::row_reader::RowReader;
use super::schema::Schema;
use crate::field_error::FieldError;
use crate::handler::JobContext;
use longshore_domain::dataset::{BadDatasetName, Dataset};
use longshore_domain::results::Formulas;
use longshore_tabular::{DateOrder, NumberNotation};

/// Maximum size of a schema, which describes one row.
const MAX_SCHEMA_BYTES: usize = 64 << 10;

/// The options of an import.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportOptions {
    /// Name of the target dataset: 1 to 64 of `A-Z a-z 0-9 _ -`.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,64}$")]
    pub dataset: String,
    /// The property whose value is a record's key. For a column, its name after `columns`.
    #[schema(min_length = 1)]
    pub key: String,
    /// A JSON Schema (2020-12) for one row, up to 64 KiB. Without a schema, every row with a key is valid, and every
    /// CSV cell is a string. A `$ref` must refer to the same schema: `#/$defs/NAME`. A schema against which a row could
    /// take too long to check is refused with `schema_too_complex`. A row that is too large for its schema fails with
    /// `row_too_complex`.
    #[serde(default)]
    pub schema: Option<Value>,
    /// `upsert` writes every row and overwrites existing records; of two rows with the same key, the later one wins.
    /// `insert` writes rows whose key does not exist yet, and fails the others with `duplicate_key`. `update`
    /// overwrites existing records like `upsert`, and fails rows whose key does not exist with `key_not_found`.
    /// `delete` deletes the records of the keys; a key that does not exist is a success. It reads the key column only:
    /// the schema determines the key's type, and rows are not checked against it. In all modes but `insert`, a row is
    /// skipped if a job that was created later has written its record. `validate` writes nothing, and reports every
    /// error that can be found without writing.
    #[serde(default)]
    #[schema(default = "upsert")]
    pub mode: Mode,
    /// Stores each record before the import overwrites it, so that the import can be undone; the stored records are
    /// removed with the job. `false` saves these reads and writes. A `delete` cannot be undone.
    #[serde(default)]
    #[schema(value_type = bool, default = true)]
    pub undo: Option<bool>,
    /// `escaped` for a CSV file of a report or an export whose formulas were escaped: the apostrophe that was put
    /// before a text such as `=1+1` is removed, in cells and column names. `raw` takes every cell as it is. JSON Lines
    /// and items are always taken as they are.
    #[serde(default = "raw")]
    #[schema(value_type = Option<String>, pattern = "^(escaped|raw)$", default = "raw")]
    pub formulas: Formulas,
    /// The properties of columns, by name: `{"E-Mail": "email", "Notes": null}`; `null` leaves a column out. Columns
    /// that are not listed keep their names. In JSON Lines, the new names of properties.
    #[serde(default)]
    pub columns: BTreeMap<String, Option<String>>,
    /// Replacements of whole cells, by property: `{"status": {"Ja": "active", "": null}}`. They are case-sensitive.
    #[serde(default)]
    pub values: BTreeMap<String, BTreeMap<String, Value>>,
    /// The decimal separator of numbers in cells. Without it, the first rows decide for each property that is a number
    /// in the schema. If both fit, the job fails with `ambiguous_column`.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^[.,]$")]
    pub decimal_separator: Option<NumberNotation>,
    /// The order of day, month and year in cells: `dmy`, `mdy` or `ymd`. Without it, the first rows decide for each
    /// property with the format `date` or `date-time` in the schema. A date that begins with a four-digit year is
    /// always year, month, day. Dates are stored as in ISO 8601.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^(dmy|mdy|ymd)$")]
    pub date_order: Option<DateOrder>,
    /// First year of the 100-year window for two-digit years: with 1950, `49` is 2049 and `50` is 1950. Without it, a
    /// job whose first rows have such a year fails with `pivot_year_missing`.
    #[serde(default)]
    #[schema(minimum = 1_000, maximum = 9_900)]
    pub pivot_year: Option<u16>,
    /// The zone of times that name none, by its name in the IANA database: `Europe/Berlin`. It applies to properties
    /// with the format `date-time` in the schema, which are stored as in RFC 3339. Without it, a job whose first rows
    /// have such a time fails with `time_zone_missing`.
    #[serde(default)]
    #[schema(examples("Europe/Berlin"))]
    pub time_zone: Option<String>,
    /// The notations of single properties, in place of `decimalSeparator`, `dateOrder` and `pivotYear`.
    #[serde(default)]
    pub notations: BTreeMap<String, Notations>,
    /// `true` removes spaces around cells.
    #[serde(default)]
    pub trim: bool,
    /// What an empty cell is: `absent`, a property that the record does not have, or `null`.
    #[serde(default)]
    #[schema(default = "absent")]
    pub blanks: Blanks,
    /// Maximum number of failed rows; one more stops the job.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 18_446_744_073_709_551_615_usize)]
    pub max_failed: Option<u64>,
    /// Maximum share of failed rows, 0 to 100 percent, applied once 100 rows have ended.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 100)]
    pub max_failed_percent: Option<f64>,
    /// The schema, compiled once per job: compiling costs as much as checking thousands of rows.
    #[serde(skip)]
    compiled: OnceLock<Schema>,
    #[serde(skip)]
    row_reader: Mutex<RowReader>,
}

/// Cells are taken as they are by default.
fn raw() -> Formulas {
    Formulas::Raw
}

impl ImportOptions {
    /// Compiles the schema, and returns every error that parsing the options has not found.
    pub fn check(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if let Err(bad) = Dataset::check_name(&self.dataset) {
            errors.push(FieldError::new("/options/dataset", BadDatasetName::CODE, bad.to_string()));
        }
        if self.key.is_empty() {
            let detail = "key must be the name of the column or property that contains a record's key";
            errors.push(FieldError::new("/options/key", "invalid_key", detail));
        }
        if self.max_failed_percent.is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
            let detail = "maxFailedPercent must be a number from 0 to 100";
            errors.push(FieldError::new("/options/maxFailedPercent", "invalid_percent", detail));
        }
        if self.mode == Mode::Delete && self.undo == Some(true) {
            let detail = "deleted records cannot be restored; remove undo, or set it to false";
            errors.push(FieldError::new("/options/undo", "undo_not_possible", detail));
        }
        errors.extend(self.check_mapping());
        errors.extend(self.check_pivot_years());
        errors.extend(self.check_time_zone());
        errors.extend(self.compile().err());
        errors
    }

    /// Returns true if the import stores what its undo needs.
    pub(super) fn stores_versions(&self) -> bool {
        self.undo.unwrap_or(true) && self.mode != Mode::Delete
    }

    /// Checks that an import with these options can be undone.
    ///
    /// # Errors
    /// If it cannot.
    pub(crate) fn check_undoable(&self) -> Result<(), NotUndoable> {
        match self.mode {
            Mode::Validate => Err(NotUndoable::Validation),
            Mode::Delete => Err(NotUndoable::Delete),
            Mode::Upsert | Mode::Insert | Mode::Update if self.undo == Some(false) => Err(NotUndoable::Off),
            Mode::Upsert | Mode::Insert | Mode::Update => Ok(()),
        }
    }

    /// Returns the schema, if there is one and [`ImportOptions::check`] has found no error.
    pub(super) fn compiled(&self) -> Option<&Schema> {
        self.compiled.get()
    }

    /// Returns the schema that rows are checked against. A delete needs only the key of a row, so a list of keys is a
    /// valid file for it.
    pub(super) fn row_schema(&self) -> Option<&Schema> {
        self.compiled().filter(|_| self.mode != Mode::Delete)
    }

    /// Returns the row that is being read. A worker reads its rows one after the other, so the lock is never
    /// contended.
    pub(super) fn row_reader(&self) -> MutexGuard<'_, RowReader> {
        self.row_reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of failed rows that the job tolerates.
    pub fn tolerance(&self) -> Tolerance {
        Tolerance { max_failed: self.max_failed, max_failed_percent: self.max_failed_percent, ..Tolerance::default() }
    }

    /// Returns the dataset of the job's tenant.
    pub(crate) fn dataset_of(&self, job: &JobContext) -> Dataset {
        Dataset { tenant: job.tenant.clone(), name: self.dataset.clone() }
    }

    fn compile(&self) -> Result<(), FieldError> {
        let Some(schema) = &self.schema else { return Ok(()) };
        let size = schema.to_string().len();
        if size > MAX_SCHEMA_BYTES {
            let detail = format!("the schema has {size} bytes; the maximum is {MAX_SCHEMA_BYTES}");
            return Err(FieldError::new("/options/schema", "schema_too_large", detail));
        }
        let compiled = Schema::compile(schema)?;
        self.compiled.get_or_init(|| compiled);
        Ok(())
    }
}

/// Returns the options of the import that can be started from a validation: the same, with the default mode.
pub(super) fn started(options: &Value) -> Option<Value> {
    let mut started = options.clone();
    let mode = started.get_mut("mode").filter(|mode| **mode == "validate")?;
    *mode = "upsert".into();
    Some(started)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ImportOptions, Mode, started};

    fn check(options: Value) -> Vec<(String, String)> {
        let options: ImportOptions = serde_json::from_value(options).unwrap();
        options.check().into_iter().map(|e| (e.pointer, e.code)).collect()
    }

    fn with_schema(schema: Value) -> Vec<(String, String)> {
        check(json!({"dataset": "d", "key": "k", "schema": schema}))
    }

    #[test]
    fn options_are_checked_field_by_field() {
        assert_eq!(check(json!({"dataset": "Crm_2-x", "key": "id", "maxFailedPercent": 0, "maxFailed": 0})), []);
        let bad = check(json!({"dataset": "a/b", "key": "", "maxFailedPercent": 100.1, "schema": {"type": "strng"}}));
        let pointers: Vec<_> = bad.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(pointers, ["/options/dataset", "/options/key", "/options/maxFailedPercent", "/options/schema/type"]);
        assert_eq!(check(json!({"dataset": "x".repeat(65), "key": "k"})).len(), 1);
        assert_eq!(check(json!({"dataset": "", "key": "k"})).len(), 1);
    }

    #[test]
    fn an_import_is_started_with_the_options_of_its_validation() {
        let options = json!({"dataset": "d", "key": "k", "mode": "validate", "maxFailed": 3});
        assert_eq!(started(&options), Some(json!({"dataset": "d", "key": "k", "mode": "upsert", "maxFailed": 3})));
        assert_eq!(Mode::default(), Mode::Upsert);
        assert_eq!(started(&json!({"dataset": "d", "key": "k"})), None);
        for mode in ["upsert", "insert", "update", "delete"] {
            assert_eq!(started(&json!({"dataset": "d", "key": "k", "mode": mode})), None);
        }
    }

    #[test]
    fn unknown_and_mistyped_options_are_refused() {
        for bad in [
            json!({"dataset": "d"}),
            json!({"dataset": "d", "key": "k", "keys": "k"}),
            json!({"dataset": "d", "key": "k", "mode": "replace"}),
            json!({"dataset": "d", "key": "k", "formulas": "removed"}),
            json!({"dataset": "d", "key": "k", "maxFailed": -1}),
            json!({"dataset": "d", "key": "k", "compiled": null}),
        ] {
            assert!(serde_json::from_value::<ImportOptions>(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_invalid_schema_is_refused_with_a_pointer_to_the_error() {
        let one = |pointer: &str, code: &str| vec![(pointer.to_owned(), code.to_owned())];
        assert_eq!(
            with_schema(json!({"properties": {"a": {"minimum": "1"}}})),
            one("/options/schema/properties/a/minimum", "invalid_schema")
        );
        assert_eq!(
            with_schema(json!({"properties": {"a": {"pattern": "("}}})),
            one("/options/schema/properties/a/pattern", "invalid_schema")
        );
        assert_eq!(with_schema(json!("string")), one("/options/schema", "invalid_schema"));
        assert_eq!(
            with_schema(json!({"$ref": "https://example.com/row.json"})),
            one("/options/schema/$ref", "invalid_schema")
        );
        assert_eq!(
            with_schema(json!({"$schema": "http://json-schema.org/draft-04/schema#"})),
            one("/options/schema/$schema", "invalid_schema")
        );
        let itself = json!({"$ref": "#"});
        for parts in [2, 500, 5_000] {
            assert_eq!(
                with_schema(json!({"allOf": vec![itself.clone(); parts]})),
                one("/options/schema", "schema_too_complex")
            );
        }
        assert_eq!(
            with_schema(json!({"properties": {"a": {"pattern": "((a{100}){100}){100}"}}})),
            one("/options/schema/properties/a", "schema_too_complex")
        );
        assert_eq!(with_schema(json!({"title": "x".repeat(70_000)})), one("/options/schema", "schema_too_large"));
        assert_eq!(with_schema(json!({"$schema": "https://json-schema.org/draft/2020-12/schema"})), []);
    }
}
