//! The mapping of a dataset's files, learnt from an import or an export.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::timestamp::Timestamp;

/// Days for which a preset is kept after the job that it was learnt from.
pub const PRESET_DAYS: i64 = 400;

/// The mapping of files.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = MappingPreset)]
pub struct Preset {
    /// The property whose value is a record's key; `null` if it is not known.
    #[schema(required = true)]
    pub key: Option<String>,
    /// The properties of columns, as in the import's option `columns`.
    pub columns: BTreeMap<String, Option<String>>,
    /// Replacements of whole cells, as in the import's option `values`.
    pub values: BTreeMap<String, BTreeMap<String, Value>>,
}

/// The kind of the job that a preset was learnt from. A dataset has one preset of each kind.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Debug)]
pub enum LearntFrom {
    /// An import, whose client has mapped the columns.
    Import,
    /// An export, whose client has chosen headings.
    Export,
}

impl LearntFrom {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Import, Self::Export];

    /// Stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Import => "IMPORT",
            Self::Export => "EXPORT",
        }
    }
}

/// A preset with its origin.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct LearntPreset {
    /// The kind of the job.
    pub from: LearntFrom,
    /// Creation time of the job. A preset is replaced by that of a job that was created later.
    pub at: Timestamp,
    /// The mapping.
    pub preset: Preset,
}

impl Preset {
    /// Returns what a file with these columns can use of presets; `None` if that is nothing. For each column, the
    /// latest preset that has it decides. Entries that would give two columns one property are left out, and those that
    /// rename a column with the name of a `known` property to one that is not known, or leave it out.
    pub fn for_columns(mut presets: Vec<LearntPreset>, columns: &[String], known: &BTreeSet<&str>) -> Option<Self> {
        presets.sort_by_key(|learnt| (learnt.at, learnt.from));
        let mut preset = Self::default();
        for Self { key, columns: of_columns, values } in presets.into_iter().map(|learnt| learnt.preset) {
            preset.key = key.or(preset.key);
            preset.columns.extend(of_columns);
            preset.values.extend(values);
        }
        let names: BTreeSet<&str> = columns.iter().map(String::as_str).collect();
        let is_known = |property: &str| known.contains(property);
        preset.columns.retain(|column, property| {
            let is_better = property.as_ref().is_some_and(|property| is_known(property)) || !is_known(column);
            names.contains(column.as_str()) && property.as_ref() != Some(column) && is_better
        });
        // A column that loses its entry has its own name again, which can be the property of another one.
        for _ in 0..2 {
            let counts: BTreeMap<String, usize> =
                preset.counts(&names).into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
            preset.columns.retain(|_, property| property.as_ref().is_none_or(|property| counts[property] == 1));
        }
        let counts = preset.counts(&names);
        if counts.values().any(|count| *count > 1) {
            return None;
        }
        let properties: BTreeSet<String> = counts.into_keys().map(str::to_owned).collect();
        preset.key = preset.key.filter(|key| properties.contains(key));
        preset.values.retain(|property, _| properties.contains(property));
        (preset != Self::default()).then_some(preset)
    }

    /// Returns true if a file with these columns has this property.
    pub fn has_property(&self, property: &str, columns: &[String]) -> bool {
        self.counts(&columns.iter().map(String::as_str).collect()).contains_key(property)
    }

    /// Returns true if it maps columns as `other` does, which maps some, and replaces no cell.
    pub fn includes(&self, other: &Self) -> bool {
        let is_same = |(column, property): (&String, &Option<String>)| self.columns.get(column) == Some(property);
        !other.columns.is_empty() && other.values.is_empty() && other.columns.iter().all(is_same)
    }

    /// Returns true if it maps no column and replaces no cell.
    pub fn maps_nothing(&self) -> bool {
        self.columns.is_empty() && self.values.is_empty()
    }

    /// Returns the properties of columns with these names, each with the number of its columns.
    fn counts<'a>(&'a self, names: &BTreeSet<&'a str>) -> BTreeMap<&'a str, usize> {
        let mut counts = BTreeMap::new();
        for name in names {
            let property = self.columns.get(*name).map_or(Some(*name), Option::as_deref);
            property.into_iter().for_each(|property| *counts.entry(property).or_default() += 1);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn learnt(from: LearntFrom, at: i64, preset: Value) -> LearntPreset {
        LearntPreset { from, at: Timestamp(at), preset: serde_json::from_value(preset).unwrap() }
    }

    fn for_columns(presets: &[(i64, Value)], columns: &[&str]) -> Option<Value> {
        let presets = presets.iter().map(|(at, columns)| {
            learnt(LearntFrom::Import, *at, json!({ "key": null, "columns": columns, "values": {} }))
        });
        let columns: Vec<String> = columns.iter().map(|&name| name.to_owned()).collect();
        Preset::for_columns(presets.collect(), &columns, &BTreeSet::new()).map(|preset| json!(preset.columns))
    }

    #[test]
    fn a_file_gets_what_it_has_columns_for() {
        let preset = json!({ "E-Mail": "email", "Notes": null, "Name": "name" });
        let found = for_columns(&[(1, preset.clone())], &["E-Mail", "Notes", "id"]);
        assert_eq!(found, Some(json!({ "E-Mail": "email", "Notes": null })));
        assert_eq!(for_columns(&[(1, preset)], &["id"]), None);
        assert_eq!(for_columns(&[(1, json!({ "id": "id" }))], &["id"]), None);
    }

    #[test]
    fn the_latest_preset_decides_for_each_column() {
        let (old, new) = (json!({ "a": "x", "b": "y" }), json!({ "a": "z" }));
        for presets in [[(1, old.clone()), (2, new.clone())], [(2, new), (1, old)]] {
            assert_eq!(for_columns(&presets, &["a", "b"]), Some(json!({ "a": "z", "b": "y" })));
        }
    }

    #[test]
    fn no_two_columns_get_one_property() {
        for (preset, columns, expected) in [
            (json!({ "E-Mail": "email" }), &["E-Mail", "email"][..], None),
            (json!({ "a": "x", "b": "x", "c": "y" }), &["a", "b", "c"], Some(json!({ "c": "y" }))),
            (json!({ "a": "b", "b": "a" }), &["a", "b"], Some(json!({ "a": "b", "b": "a" }))),
            // Without its entry, "a" is "a" again; then "b" cannot be "a", and so "c" cannot be "b".
            (json!({ "a": "d", "b": "a", "c": "b" }), &["a", "b", "c", "d"], None),
        ] {
            assert_eq!(for_columns(&[(1, preset)], columns), expected, "{columns:?}");
        }
    }

    #[test]
    fn a_known_property_keeps_its_column() {
        let preset = json!({ "E-Mail": "email", "Nr": null, "Ort": "city" });
        let for_known = |known: &[&str]| {
            let columns = ["E-Mail", "Nr", "Ort"].map(str::to_owned);
            let columns_of = json!({ "key": null, "columns": preset, "values": {} });
            let presets = vec![learnt(LearntFrom::Import, 1, columns_of)];
            Preset::for_columns(presets, &columns, &known.iter().copied().collect()).map(|preset| json!(preset.columns))
        };
        assert_eq!(for_known(&["E-Mail", "Nr"]), Some(json!({ "Ort": "city" })));
        assert_eq!(for_known(&["E-Mail", "email"]), Some(preset.clone()));
        assert_eq!(for_known(&["city"]), Some(preset.clone()));
    }

    #[test]
    fn key_and_values_are_those_of_imported_properties() {
        let preset = json!({ "key": "id", "columns": { "Nr": "id", "Ort": null },
            "values": { "id": { "-": null }, "Ort": { "x": "y" }, "city": { "x": "y" } } });
        let found = |columns: [&str; 2]| {
            let columns = columns.map(str::to_owned);
            Preset::for_columns(vec![learnt(LearntFrom::Export, 1, preset.clone())], &columns, &BTreeSet::new())
        };
        let first = found(["Nr", "Ort"]).unwrap();
        assert_eq!(json!([first.key, first.values]), json!(["id", { "id": { "-": null } }]));
        let second = found(["x", "city"]).unwrap();
        assert_eq!(json!([second.key, second.columns, second.values]), json!([null, {}, { "city": { "x": "y" } }]));
        assert!(!second.maps_nothing() && Preset { key: first.key, ..Preset::default() }.maps_nothing());
    }
}
