//! Exports: the columns of a file without requested ones are those of some records.

use longshore_domain::dataset::Dataset;
use longshore_domain::ids::JobId;
use longshore_domain::ports::{JobStore, NewRecord, RecordStore};
use longshore_domain::results::{ColumnsFrom, ResultRow, ResultsForm};
use longshore_domain::tenant::TenantId;
use longshore_domain::writer::{Rule, Writer};
use serde_json::{Value, json};

use crate::limits::id;
use crate::world::{Reply, World};

/// A world with a dataset of these records.
async fn with_records(records: impl IntoIterator<Item = Value>) -> World {
    let world = World::default();
    let into = Dataset { tenant: TenantId::from_static("default"), name: "people".into() };
    let writer = Writer { job: JobId::generate(), row: 1 };
    let record = |(n, data): (usize, Value)| {
        let Value::Object(data) = data else { panic!("a record is an object") };
        NewRecord { key: format!("k{n}"), data, writer }
    };
    let records = records.into_iter().enumerate().map(record).collect();
    world.records.put(&into, Rule::Insert, records).await;
    world
}

async fn export(world: &World, results: Value) -> Reply {
    world.create(&json!({"jobType": "export", "source": {"dataset": "people"}, "results": results})).await
}

async fn form(world: &World, results: Value) -> ResultsForm {
    let reply = export(world, results).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    world.store.definition(id(&reply.body)).await.unwrap().unwrap().results.unwrap()
}

fn names(form: &ResultsForm) -> Vec<(&str, &str)> {
    form.columns.iter().map(|column| (column.name.as_str(), column.heading.as_str())).collect()
}

#[tokio::test]
async fn the_columns_of_csv_are_those_of_the_first_records_unless_the_request_names_them() {
    let world = with_records([json!({"id": 1, "name": "Ann"}), json!({"id": 2, "email": "b@example.com"})]).await;
    let found = form(&world, json!({"format": "csv"})).await;
    assert_eq!(names(&found), [("email", "email"), ("id", "id"), ("name", "name")]);
    assert_eq!((found.columns_from, found.row), (ColumnsFrom::Records, ResultRow::Plain));
    let requested = json!({"format": "csv", "columns": [{"name": "name", "as": "Name"}, {"name": "zip"}]});
    let requested = form(&world, requested).await;
    assert_eq!(
        (names(&requested), requested.columns_from),
        (vec![("name", "Name"), ("zip", "zip")], ColumnsFrom::Request)
    );
    let lines = form(&world, json!({})).await;
    assert!(lines.columns.is_empty() && lines.is_verbatim(), "JSON Lines have whole records");
    let lines = form(&world, json!({"columns": [{"name": "id"}]})).await;
    assert!(lines.selects_members() && !lines.is_verbatim());
}

#[tokio::test]
async fn records_with_too_many_properties_require_columns() {
    let wide: serde_json::Map<_, _> = (0..201).map(|n| (format!("p{n}"), json!(1))).collect();
    let world = with_records([Value::Object(wide)]).await;
    let refused = export(&world, json!({"format": "csv"})).await;
    assert_eq!((refused.status, refused.field_errors()), (422, vec![("/results/columns", "columns_required")]));
    form(&world, json!({"format": "csv", "columns": [{"name": "p7"}]})).await;
    form(&world, json!({})).await;
}

#[tokio::test]
async fn a_dataset_without_records_is_exported_without_columns() {
    let world = with_records([json!({"id": 1})]).await;
    let people = Dataset { tenant: TenantId::from_static("default"), name: "people".into() };
    world.records.delete(&people, "k0").await.unwrap();
    assert!(names(&form(&world, json!({"format": "csv"})).await).is_empty());
}

#[tokio::test]
async fn a_dataset_of_another_tenant_is_unknown_to_an_export() {
    let world = with_records([json!({"id": 1})]).await;
    let refused = export(&world.as_tenant("other"), json!({"format": "csv"})).await;
    assert_eq!((refused.status, refused.field_errors()), (422, vec![("/source/dataset", "unknown_dataset")]));
    assert!(world.queues.take_creates().is_empty());
}
