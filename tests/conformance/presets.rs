//! Presets of datasets: one of each kind, that of the job that was created last.

use longshore_domain::dataset::Dataset;
use longshore_domain::ports::Store;
use longshore_domain::preset::{LearntFrom, LearntPreset, Preset};
use longshore_domain::random::nonce;
use longshore_domain::tenant::TenantId;
use serde_json::{Value, json};

use crate::fixtures::at;

on_both_stores! {
    the_preset_of_the_latest_job_is_stored,
    presets_are_those_of_a_dataset_and_a_kind,
}

fn learnt(from: LearntFrom, second: i64, columns: &Value) -> LearntPreset {
    let preset = json!({ "key": "id", "columns": columns, "values": { "a": { "x": 1, "y": null } } });
    LearntPreset { from, at: at(second), preset: serde_json::from_value(preset).unwrap() }
}

fn dataset(tenant: &'static str) -> Dataset {
    Dataset { tenant: TenantId::from_static(tenant), name: nonce() }
}

async fn the_preset_of_the_latest_job_is_stored(store: impl Store) {
    let dataset = dataset("t");
    let [first, second, same] =
        [(2, "a"), (3, "b"), (3, "c")].map(|(at, name)| learnt(LearntFrom::Import, at, &json!({ name: "x" })));
    assert_eq!(store.presets(&dataset).await.unwrap(), []);
    for (put, stored) in [(&first, &first), (&first, &first), (&second, &second), (&first, &second), (&same, &second)] {
        store.put_preset(&dataset, put).await.unwrap();
        assert_eq!(store.presets(&dataset).await.unwrap().as_slice(), std::slice::from_ref(stored));
    }
}

async fn presets_are_those_of_a_dataset_and_a_kind(store: impl Store) {
    let (own, mut other, foreign) = (dataset("t"), dataset("t"), dataset("t-2"));
    other.name = format!("{}-2", own.name);
    let import = learnt(LearntFrom::Import, 1, &json!({ "a": "x", "b": null }));
    let export = LearntPreset { from: LearntFrom::Export, at: at(1), preset: Preset::default() };
    for (dataset, learnt) in [(&own, &import), (&own, &export), (&other, &export), (&foreign, &import)] {
        store.put_preset(dataset, learnt).await.unwrap();
    }
    let mut presets = store.presets(&own).await.unwrap();
    presets.sort_by_key(|learnt| learnt.from);
    assert_eq!(presets, [import.clone(), export.clone()]);
    assert_eq!(store.presets(&other).await.unwrap(), [export]);
    assert_eq!(store.presets(&Dataset { name: own.name, ..foreign }).await.unwrap(), []);
}
