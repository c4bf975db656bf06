//! The in-memory services of the HTTP functions, with all fixtures.

use inspect::Inspections;
use jobs_api::{Api, Backend, Limits, QueueDepths, Registrations};
use longshore::handler::Registry;
use longshore::http::{Access, Operators};
use longshore::job_types::builtin;
use longshore::ports::{JobFolder, Ports, upload_key};
use longshore::result::{RESULT_NAME, Report, ReportFile, ReportFiles, ResultCounts, ResultDocument};
use longshore_domain::cost::Charge;
use longshore_domain::dataset::Dataset;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Finish, Job, JobTimes, SourceFile, Status};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{Definition, Files, JobStore, JobTransitions, PortError, Upload};
use longshore_domain::ports::{NewRecord, RecordStore};
use longshore_domain::rate::Rate;
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::writer::{Rule, Writer};
use longshore_outbound::policy::UrlPolicy;
use longshore_testing::{MemoryFiles, MemoryOperatorLog, MemoryQueues, MemoryRecords, MemoryStore};
use operations::Operations;
use serde_json::{Value, json};
use upload::Uploads;

/// The time of all events.
const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// Calls that a tenant may make.
const TENANT_CALLS: Rate = Rate { per_second: 1_000, burst: 10_000 };

/// The tenant that owns everything.
pub(super) static TENANT: TenantId = TenantId::from_static("t");

const FILE: &str = "id,name\n1,Ann\n,\"=1\n2\"\n";
const FAILED: &str = "row,id,name,code,field,message\r\n2,,\"'=1\n2\",missing_key,id,it is missing\r\n";

/// The in-memory services.
#[derive(Clone, Default)]
pub(super) struct World {
    store: MemoryStore,
    queues: MemoryQueues,
    files: MemoryFiles,
    records: MemoryRecords,
}

struct Memory;

impl Backend for Memory {
    type Store = MemoryStore;
    type Queues = MemoryQueues;
    type Files = MemoryFiles;
    type Records = MemoryRecords;
    type JobTypes = MemoryStore;
    type Pings = MemoryQueues;
}

impl operations::Backend for Memory {
    type Store = MemoryStore;
    type Queues = MemoryQueues;
    type Statistics = MemoryQueues;
    type Files = MemoryFiles;
    type Log = MemoryOperatorLog;
}

/// Returns an id made of one digit.
fn id(digit: &str) -> String {
    format!("{0}{0}{0}{0}{0}{0}{0}{0}-{0}{0}{0}{0}-7{0}{0}{0}-8{0}{0}{0}-{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}", digit)
}

fn job_id(digit: &str) -> JobId {
    JobId::parse(&id(digit)).unwrap_or_else(|| panic!("{digit} is not a digit of an id"))
}

fn file_guid(digit: &str) -> FileGuid {
    FileGuid::parse(&id(digit)).unwrap_or_else(|| panic!("{digit} is not a digit of an id"))
}

fn access() -> Access {
    Access::SignedIn { tenant_claim: "sub".to_owned() }
}

fn operators() -> Operators {
    Operators { claim: "cognito:groups".into(), group: "operators".into(), read_only_group: None }
}

impl World {
    /// Creates the services with all fixtures.
    pub(super) async fn with_fixtures() -> Result<Self, PortError> {
        let world = Self::default();
        world.upload("a", "people.csv", FILE).await?;
        world.upload("b", "failed.csv", FAILED).await?;
        world.upload("c", "people.jsonl", "{\"id\":1}\n").await?;
        world.job("1", "upsert").await?;
        world.finish("1", 1).await?;
        world.job("2", "upsert").await?;
        world.job("3", "validate").await?;
        world.finish("3", 0).await?;
        let dataset = Dataset { tenant: TENANT.clone(), name: "people".to_owned() };
        let writer = Writer { job: job_id("1"), row: 1 };
        let data = json!({ "id": "1" }).as_object().cloned().unwrap_or_default();
        let records = ["1", "2", "3"].map(|key| NewRecord { key: key.to_owned(), data: data.clone(), writer });
        world.records.put(&dataset, Rule::Upsert, records.to_vec()).await;
        Ok(world)
    }

    /// Returns the function that serves this path.
    pub(super) fn router(self, path: &str) -> axum::Router {
        if path.starts_with("/api/uploads") && path.ends_with("/inspect") {
            return self.inspect_router();
        }
        if path.starts_with("/api/uploads") {
            return self.upload_router();
        }
        if path.starts_with("/api/dead-letters") || path.starts_with("/api/operations/") {
            return self.operations_router();
        }
        self.jobs_router()
    }

    fn inspect_router(self) -> axum::Router {
        let Self { store, files, records, .. } = self;
        inspect::router(Inspections {
            store,
            registry: builtin(records, files.clone()),
            files,
            access: access(),
            max_file_bytes: 5 << 30,
            tenant_calls: TENANT_CALLS,
            clock: || NOW,
        })
    }

    fn upload_router(self) -> axum::Router {
        let Self { store, files: storage, .. } = self;
        upload::router(Uploads {
            store,
            storage,
            access: access(),
            max_file_bytes: 5 << 30,
            multipart_bytes: 64 << 20,
            tenant_calls: TENANT_CALLS,
            max_bytes_per_day: 1 << 40,
            retention_days: 14,
            clock: || NOW,
        })
    }

    fn operations_router(self) -> axum::Router {
        let Self { store, queues, files, .. } = self;
        operations::router(Operations::<Memory> {
            statistics: queues.clone(),
            ports: Ports { store, queues, files },
            log: MemoryOperatorLog::default(),
            registry: Registry::default(),
            access: access(),
            operators: operators(),
            retention_days: 14,
            clock: || NOW,
        })
    }

    fn jobs_router(self) -> axum::Router {
        let Self { store, queues, files, records } = self;
        let limits = Limits {
            max_file_bytes: 5 << 30,
            retention_days: 14,
            job_time_limit_s: 3_600,
            max_queued_chunks: 9,
            stall_s: 60,
        };
        jobs_api::router(Api::<Memory> {
            job_types: Registrations::new(store.clone(), queues.clone()),
            operators: operators(),
            tenant_calls: TENANT_CALLS,
            registry: builtin(records.clone(), files.clone()),
            ports: Ports { store, queues, files },
            records,
            access: access(),
            limits,
            webhook_urls: UrlPolicy::any_host(),
            queue_depths: QueueDepths::default(),
            clock: || NOW,
        })
    }

    async fn upload(&self, digit: &str, name: &str, bytes: &str) -> Result<(), PortError> {
        let (file_guid, key) = (file_guid(digit), upload_key(&TENANT, file_guid(digit)));
        self.files.put(&key, bytes);
        let upload = Upload {
            file_guid,
            tenant: TENANT.clone(),
            key,
            file_name: name.to_owned(),
            content_type: String::new(),
            size_bytes: bytes.len() as u64,
            sha256: None,
            multipart: None,
            promised_at: NOW,
            expires_at: NOW.plus_seconds(60).seconds(),
        };
        self.store.create_upload(&upload, None).await.map(drop)
    }

    /// Creates a waiting job over the first upload.
    async fn job(&self, digit: &str, mode: &str) -> Result<(), PortError> {
        let key = upload_key(&TENANT, file_guid("a"));
        let info = self.files.info(&key).await?.unwrap_or_else(|| panic!("the upload does not exist"));
        let source = Some(SourceFile::new(key, info, Format::Csv, "people.csv").into());
        let waiting = Job::waiting(job_id(digit), TENANT.clone(), "import", NOW);
        let job = Job {
            source,
            times: JobTimes {
                timeout_s: 3_600,
                expires_at: NOW.seconds() + 86_400,
                deadline_at: NOW.plus_seconds(3_600),
                ..waiting.times.clone()
            },
            ..waiting
        };
        let options: Value = json!({ "dataset": "people", "key": "id", "mode": mode });
        let columns = Some(vec!["id".to_owned(), "name".to_owned()]);
        self.store.create_job(&job, &Definition { columns, ..Definition::new(options) }, None).await.map(drop)
    }

    /// Ends the job, with its report.
    async fn finish(&self, digit: &str, failed: u64) -> Result<(), PortError> {
        let id = job_id(digit);
        self.store.begin(id, 0, NOW).await?;
        let charge = self.store.job(id).await?.map(|job| Charge::new(&job, &[]));
        let totals = Counts { failed, ..Counts::default() };
        let end = Finish { charge, ..Finish::new(Status::Completed, totals, NOW.plus_seconds(2)) };
        self.store.finish(id, &end).await?;
        let Some(job) = self.store.job(id).await? else { return Ok(()) };
        let folder = JobFolder::for_job(&job);
        let file = ReportFile { key: folder.report_key(0, None, "failed.csv"), rows: failed };
        if failed > 0 {
            self.files.put(&file.key, FAILED);
        }
        let files = ReportFiles { failed: (failed > 0).then_some(file), ..ReportFiles::default() };
        let counts = ResultCounts { succeeded: 1, failed, ..ResultCounts::default() };
        let document = ResultDocument::new(&job, Report { counts, files, ..Report::default() });
        let bytes = serde_json::to_vec(&document).unwrap_or_else(|error| panic!("{error}"));
        self.files.put(&folder.report_key(0, None, RESULT_NAME), bytes);
        Ok(())
    }
}
