//! Jobs, as a page asks for them.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use longshore_domain::job::Priority;
use serde_json::{Value, json};

use super::client::{Answer, Client, IDEMPOTENCY_KEY};

impl Client {
    /// Asks for a job over an uploaded file.
    ///
    /// # Errors
    /// If there is no answer at all.
    pub fn ask(&self, job_type: &str, file: Option<&str>, options: &Value) -> Result<Answer> {
        let mut request = json!({ "jobType": job_type, "options": options });
        if let Some(file) = file {
            request["fileGuid"] = file.into();
        }
        self.post("/api/jobs", &request)
    }

    /// Uploads a file and creates a job of this priority over it; its id.
    ///
    /// # Errors
    /// If any step is refused.
    pub fn start_at(&self, priority: Priority, job_type: &str, bytes: &[u8], options: &Value) -> Result<String> {
        let file = self.upload("file.csv", bytes)?;
        let request = json!({ "jobType": job_type, "fileGuid": file, "priority": priority, "options": options });
        let job = self.post("/api/jobs", &request)?.expect(202)?;
        ensure!(job["priority"] == json!(priority), "the job has another priority: {job}");
        Ok(job["jobId"].as_str().context("the job has no id")?.to_owned())
    }

    /// Uploads a file and creates a job over it; its id.
    ///
    /// # Errors
    /// If any step is refused.
    pub fn start(&self, job_type: &str, name: &str, bytes: &[u8], options: &Value) -> Result<String> {
        let file = self.upload(name, bytes)?;
        let job = self.ask(job_type, Some(&file), options)?.expect(202)?;
        Ok(job["jobId"].as_str().context("the job has no id")?.to_owned())
    }

    /// Uploads a CSV file and creates a job over it, each under an `Idempotency-Key` of its own, so that a patient client
    /// makes one job whatever happens on the way; its id.
    ///
    /// # Errors
    /// If any step is refused.
    pub fn start_once(&self, job_type: &str, bytes: &[u8], options: &Value) -> Result<String> {
        let make = |path: &str, request: Value, status: u16| {
            let key = longshore_domain::ids::nonce();
            let headers = [("content-type", "application/json"), (IDEMPOTENCY_KEY, key.as_str())];
            self.call("POST", path, &headers, request.to_string().as_bytes())?.expect(status)
        };
        let about = json!({ "fileName": "file.csv", "contentType": "text/csv", "size": bytes.len() });
        let upload = make("/api/uploads", about, 201)?;
        self.put_whole(&upload, bytes)?;
        let request = json!({ "jobType": job_type, "fileGuid": upload["fileGuid"], "options": options });
        let job = make("/api/jobs", request, 202)?;
        Ok(job["jobId"].as_str().context("the job has no id")?.to_owned())
    }

    /// The job document.
    ///
    /// # Errors
    /// If it is refused.
    pub fn job(&self, id: &str) -> Result<Value> {
        self.get(&format!("/api/jobs/{id}"))?.expect(200)
    }

    /// Asks for a job to stop.
    ///
    /// # Errors
    /// If there is no answer at all.
    pub fn cancel(&self, id: &str) -> Result<Answer> {
        self.call("POST", &format!("/api/jobs/{id}/cancel"), &[], &[])
    }

    /// Asks for what a job has left to run again, with a corrected failures file if there is one.
    ///
    /// # Errors
    /// If there is no answer at all.
    pub fn retry(&self, id: &str, corrected: Option<&str>) -> Result<Answer> {
        self.post(&format!("/api/jobs/{id}/retry"), &json!({ "fileGuid": corrected }))
    }

    /// Asks for what a job has checked to be done for real.
    ///
    /// # Errors
    /// If there is no answer at all.
    pub fn start_checked(&self, id: &str) -> Result<Answer> {
        self.call("POST", &format!("/api/jobs/{id}/start"), &[], &[])
    }

    /// Asks for a job to be gone.
    ///
    /// # Errors
    /// If there is no answer at all.
    pub fn delete(&self, id: &str) -> Result<Answer> {
        self.call("DELETE", &format!("/api/jobs/{id}"), &[], &[])
    }

    /// All records of a dataset, page by page: key to record.
    ///
    /// # Errors
    /// If a page is refused.
    pub fn records(&self, dataset: &str) -> Result<BTreeMap<String, Value>> {
        let (mut records, mut cursor) = (BTreeMap::new(), String::new());
        loop {
            let page = self.get(&format!("/api/datasets/{dataset}/records?limit=1000{cursor}"))?.expect(200)?;
            for record in page["records"].as_array().context("a page without records")? {
                let key = record["key"].as_str().context("a record without a key")?;
                ensure!(records.insert(key.to_owned(), record.clone()).is_none(), "the key {key} is there twice");
            }
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return Ok(records),
            }
        }
    }
}
