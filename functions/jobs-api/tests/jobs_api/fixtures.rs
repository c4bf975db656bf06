//! Uploads and jobs that the tests start from.

use longshore::events::move_events;
use longshore::ports::{JobFolder, Ports, upload_key};
use longshore::result::{FailuresByCode, RESULT_NAME, Report, ReportFile, ReportFiles, ResultCounts, ResultDocument};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Finish, Job, Status};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{Definition, JobStore, JobTransitions, Upload};
use longshore_domain::tenant::TenantId;
use longshore_testing::{MemoryFiles, MemoryQueues};
use serde_json::{Value, json};

use crate::world::{FILE, NOW, World};

impl World {
    /// Creates an upload, and stores these bytes for it, if any.
    pub(crate) async fn upload(&self, change: impl FnOnce(&mut Upload), bytes: Option<&str>) -> FileGuid {
        let file_guid = FileGuid::generate();
        let mut upload = Upload {
            file_guid,
            tenant: TenantId::from_static("default"),
            key: upload_key(&TenantId::from_static("default"), file_guid),
            file_name: "people.csv".into(),
            content_type: "text/csv".into(),
            size_bytes: FILE.len() as u64,
            sha256: None,
            multipart: None,
            promised_at: NOW,
            expires_at: NOW.plus_seconds(60).seconds(),
        };
        change(&mut upload);
        self.store.create_upload(&upload, None).await.unwrap();
        if let Some(bytes) = bytes {
            self.files.put(&upload.key, bytes);
        }
        file_guid
    }

    /// A valid request for an import of an uploaded file.
    pub(crate) async fn import(&self) -> Value {
        let file = self.upload(|_| {}, Some(FILE)).await;
        json!({"jobType": "import", "fileGuid": file, "options": {"dataset": "people", "key": "id"}})
    }

    /// Creates a job.
    pub(crate) async fn job(&self) -> JobId {
        let reply = self.create(&self.import().await).await;
        JobId::parse(reply.body["jobId"].as_str().unwrap()).unwrap()
    }

    /// Creates a job of another tenant.
    pub(crate) async fn job_of(&self, tenant: &str) -> JobId {
        let job = Job::waiting(JobId::generate(), TenantId::parse(tenant).unwrap(), "ping", NOW);
        let definition = Definition::new(json!({}));
        self.store.create_job(&job, &definition, None).await.unwrap();
        job.job_id
    }

    /// Ends a job two seconds after its start, with a result of two succeeded rows and these failed ones.
    pub(crate) async fn finish(&self, id: JobId, status: Status, failed: u64) {
        self.store.begin(id, 0, NOW).await.unwrap();
        let totals = Counts { failed, ..Counts::default() };
        self.store.finish(id, &Finish::new(status, totals, NOW.plus_seconds(2))).await.unwrap();
        let (queues, files) = (MemoryQueues::default(), MemoryFiles::default());
        let ports = Ports { store: self.store.clone(), queues, files };
        move_events(&ports, &self.store.job(id).await.unwrap().unwrap(), || NOW).await.unwrap();
        let job = self.store.job(id).await.unwrap().unwrap();
        let folder = JobFolder::for_job(&job);
        let file = ReportFile { key: folder.report_key(0, None, "failed.csv"), rows: failed };
        let files = ReportFiles { failed: (failed > 0).then_some(file), ..ReportFiles::default() };
        let counts = ResultCounts { succeeded: 2, failed, ..ResultCounts::default() };
        let mut failures_by_code = FailuresByCode::default();
        (0..failed).for_each(|_| failures_by_code.count("bad"));
        let document = ResultDocument::new(&job, Report { counts, failures_by_code, files, ..Report::default() });
        self.files.put(&folder.report_key(0, None, RESULT_NAME), serde_json::to_vec(&document).unwrap());
    }
}
