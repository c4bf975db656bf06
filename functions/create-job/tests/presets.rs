//! What a job teaches about the mapping of its dataset's files: stored once its header is accepted.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use create_job::{SplitEnd, Splitter};
use longshore::job_types::builtin;
use longshore::ports::Ports;
use longshore_domain::dataset::Dataset;
use longshore_domain::ids::JobId;
use longshore_domain::job::{DatasetSource, Job, Source, SourceFile};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Definition, Files, JobStore, Presets};
use longshore_domain::preset::LearntFrom;
use longshore_domain::records::Format;
use longshore_domain::results::{ResultColumn, ResultsForm};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore};
use serde_json::{Value, json};

const KEY: &str = "uploads/default/file";

struct World {
    ports: Ports<MemoryStore, MemoryQueues, MemoryFiles>,
    tenant: TenantId,
}

impl World {
    fn new() -> Self {
        let files = MemoryFiles::default();
        let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files };
        Self { ports, tenant: TenantId::from_static("default") }
    }

    /// Splits a job that was created at this time.
    async fn split(&self, job_type: &str, at: i64, source: Source, definition: Definition) -> SplitEnd {
        let job = Job::waiting(JobId::generate(), self.tenant.clone(), job_type, Timestamp(at));
        let job = Job { source: Some(source), ..job };
        self.ports.store.create_job(&job, &definition, None).await.unwrap();
        let registry = builtin(MemoryRecords::default(), MemoryFiles::default());
        let splitter = Splitter { ports: &self.ports, registry: &registry, clock: || Timestamp(9_000) };
        splitter.split(&CreateMessage::new(&job), Timestamp(i64::MAX)).await.unwrap()
    }

    async fn import(&self, at: i64, file: &str, members: &Value) -> SplitEnd {
        self.ports.files.put(KEY, file);
        let info = self.ports.files.info(KEY).await.unwrap().unwrap();
        let format = if file.starts_with('{') { Format::JsonLines } else { Format::Csv };
        let source = SourceFile::new(KEY, info, format, "file");
        let mut options = json!({ "dataset": "d", "key": "id" });
        options.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        self.split("import", at, source.into(), Definition::new(options)).await
    }

    async fn export(&self, at: i64, columns: &[(&str, &str)]) -> SplitEnd {
        let column = |(name, heading): &(&str, &str)| ResultColumn { name: (*name).into(), heading: (*heading).into() };
        let results = ResultsForm { columns: columns.iter().map(column).collect(), ..ResultsForm::default() };
        let definition = Definition { results: Some(results), ..Definition::new(json!({})) };
        let source = DatasetSource { dataset: "d".into(), updated_since: None };
        self.split("export", at, Source::Dataset(source), definition).await
    }

    /// Returns the columns of the stored presets.
    async fn presets(&self) -> Vec<(LearntFrom, i64, Value)> {
        let dataset = Dataset { tenant: self.tenant.clone(), name: "d".into() };
        let presets = self.ports.store.presets(&dataset).await.unwrap().into_iter();
        presets.map(|learnt| (learnt.from, learnt.at.0, json!(learnt.preset))).collect()
    }
}

#[tokio::test]
async fn an_accepted_import_teaches_its_mapping() {
    let world = World::new();
    let mapping = json!({ "columns": { "Nr": "id", "x": null }, "values": { "id": { "-": null } } });
    assert_eq!(world.import(1, "Nr,x\n1,2\n", &mapping).await, SplitEnd::Ended);
    let expected = json!({ "key": "id", "columns": mapping["columns"], "values": mapping["values"] });
    assert_eq!(world.presets().await, [(LearntFrom::Import, 1, expected)]);
    assert_eq!(world.import(2, "id\n1\n", &json!({ "columns": {} })).await, SplitEnd::Ended);
    let nothing = json!({ "key": "id", "columns": {}, "values": {} });
    assert_eq!(world.presets().await, [(LearntFrom::Import, 2, nothing)]);
}

#[tokio::test]
async fn other_imports_teach_nothing() {
    let world = World::new();
    for (file, members, end) in [
        ("id\n1\n", json!({}), SplitEnd::Ended),
        ("Nr\n1\n", json!({ "columns": { "Nr": "id" }, "mode": "validate" }), SplitEnd::Ended),
        ("Nr\n1\n", json!({ "columns": { "Nr": "id" }, "mode": "delete" }), SplitEnd::Ended),
        ("No\n1\n", json!({ "columns": { "Nr": "id" } }), SplitEnd::Failed),
        ("{\"Nr\":1}\n", json!({ "columns": { "Nr": "id" } }), SplitEnd::Ended),
    ] {
        assert_eq!(world.import(1, file, &members).await, end, "{file}");
        assert_eq!(world.presets().await, [], "{file} {members}");
    }
}

#[tokio::test]
async fn an_export_teaches_its_headings() {
    let world = World::new();
    assert_eq!(world.export(1, &[("id", "id")]).await, SplitEnd::Ended);
    assert_eq!(world.presets().await, []);
    assert_eq!(world.export(2, &[("id", "id"), ("email", "E-Mail")]).await, SplitEnd::Ended);
    let expected = json!({ "key": null, "columns": { "E-Mail": "email" }, "values": {} });
    assert_eq!(world.presets().await, [(LearntFrom::Export, 2, expected.clone())]);
    // The same export comes back: the mapping of the usual files stays.
    world.import(3, "Nr\n1\n", &json!({ "columns": { "Nr": "id" } })).await;
    world.import(4, "id,E-Mail\n1,a\n", &json!({ "columns": { "E-Mail": "email" } })).await;
    let usual = json!({ "key": "id", "columns": { "Nr": "id" }, "values": {} });
    assert_eq!(world.presets().await, [(LearntFrom::Import, 3, usual), (LearntFrom::Export, 2, expected)]);
}
