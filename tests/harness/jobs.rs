//! The API's calls about jobs, as a page makes them.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use longshore_domain::job::Priority;
use serde_json::{Value, json};

use super::client::{Answer, Client, IDEMPOTENCY_KEY};

impl Client {
    /// Requests a job over an uploaded file.
    ///
    /// # Errors
    /// If there is no response at all.
    pub fn request_job(&self, job_type: &str, file: Option<&str>, options: &Value) -> Result<Answer> {
        let mut request = json!({ "jobType": job_type, "options": options });
        if let Some(file) = file {
            request["fileGuid"] = file.into();
        }
        self.post("/api/jobs", &request)
    }

    /// Uploads a file and creates a job of this priority over it. Returns the job's id.
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

    /// Uploads a file and creates a job over it. Returns the job's id.
    ///
    /// # Errors
    /// If any step is refused.
    pub fn start(&self, job_type: &str, name: &str, bytes: &[u8], options: &Value) -> Result<String> {
        let file = self.upload(name, bytes)?;
        let job = self.request_job(job_type, Some(&file), options)?.expect(202)?;
        Ok(job["jobId"].as_str().context("the job has no id")?.to_owned())
    }

    /// Uploads a file and creates a job over it that is read in this way. Returns the job's id.
    ///
    /// # Errors
    /// If any step is refused.
    pub fn start_reading(
        &self,
        job_type: &str,
        name: &str,
        bytes: &[u8],
        reading: &Value,
        options: &Value,
    ) -> Result<String> {
        let file = self.upload(name, bytes)?;
        let request = json!({ "jobType": job_type, "fileGuid": file, "reading": reading, "options": options });
        let job = self.post("/api/jobs", &request)?.expect(202)?;
        Ok(job["jobId"].as_str().context("the job has no id")?.to_owned())
    }

    /// Uploads a CSV file and creates a job over it, each with its own `Idempotency-Key`, so that a patient client
    /// creates one job even if calls fail. Returns the job's id.
    ///
    /// # Errors
    /// If any step is refused.
    pub fn start_once(&self, job_type: &str, bytes: &[u8], options: &Value) -> Result<String> {
        let create = |path: &str, request: Value, status: u16| {
            let key = longshore_domain::random::nonce();
            let headers = [("content-type", "application/json"), (IDEMPOTENCY_KEY, key.as_str())];
            self.call("POST", path, &headers, request.to_string().as_bytes())?.expect(status)
        };
        let request = json!({ "fileName": "file.csv", "contentType": "text/csv", "size": bytes.len() });
        let upload = create("/api/uploads", request, 201)?;
        self.put_file(&upload, bytes)?;
        let request = json!({ "jobType": job_type, "fileGuid": upload["fileGuid"], "options": options });
        let job = create("/api/jobs", request, 202)?;
        Ok(job["jobId"].as_str().context("the job has no id")?.to_owned())
    }

    /// Reads all listed events of the caller's tenant, oldest first, page by page.
    ///
    /// # Errors
    /// If a page is refused.
    pub fn events(&self) -> Result<Vec<Value>> {
        let (mut events, mut path) = (Vec::new(), "/api/events?limit=500".to_owned());
        loop {
            let page = self.get(&path)?.expect(200)?;
            let of_page = page["events"].as_array().context("a page without events")?;
            if of_page.is_empty() {
                return Ok(events);
            }
            events.extend(of_page.iter().cloned());
            path = format!("/api/events?limit=500&cursor={}", page["nextCursor"].as_str().context("no cursor")?);
        }
    }

    /// Downloads a file of a job's report by its stable address.
    ///
    /// # Errors
    /// If it is refused.
    pub fn output(&self, id: &str, file: &str) -> Result<Vec<u8>> {
        self.redirected(&format!("/api/jobs/{id}/output/{file}"))
    }

    /// Follows the redirect of an address to a file.
    ///
    /// # Errors
    /// If it is refused.
    pub fn redirected(&self, path: &str) -> Result<Vec<u8>> {
        let redirect = self.get(path)?;
        ensure!(redirect.status == 303, "{} {}", redirect.status, redirect.text());
        let url = redirect.headers.get("location").context("no Location")?.clone();
        let answer = self.clone().signed_out().get(&url)?;
        ensure!(answer.status == 200, "{} {}", answer.status, answer.text());
        Ok(answer.body)
    }

    /// The job document.
    ///
    /// # Errors
    /// If it is refused.
    pub fn job(&self, id: &str) -> Result<Value> {
        self.get(&format!("/api/jobs/{id}"))?.expect(200)
    }

    /// Requests the cancellation of a job.
    ///
    /// # Errors
    /// If there is no response at all.
    pub fn cancel(&self, id: &str) -> Result<Answer> {
        self.call("POST", &format!("/api/jobs/{id}/cancel"), &[], &[])
    }

    /// Requests a retry of a job's failed and unprocessed items, with a corrected failures file if there is one.
    ///
    /// # Errors
    /// If there is no response at all.
    pub fn retry(&self, id: &str, corrected: Option<&str>) -> Result<Answer> {
        self.post(&format!("/api/jobs/{id}/retry"), &json!({ "fileGuid": corrected }))
    }

    /// Starts an import from a validated job.
    ///
    /// # Errors
    /// If there is no response at all.
    pub fn start_import(&self, id: &str) -> Result<Answer> {
        self.call("POST", &format!("/api/jobs/{id}/start"), &[], &[])
    }

    /// Requests the deletion of a job.
    ///
    /// # Errors
    /// If there is no response at all.
    pub fn delete(&self, id: &str) -> Result<Answer> {
        self.call("DELETE", &format!("/api/jobs/{id}"), &[], &[])
    }

    /// All records of a dataset, by key, read page by page.
    ///
    /// # Errors
    /// If a page is refused.
    pub fn records(&self, dataset: &str) -> Result<BTreeMap<String, Value>> {
        let (mut records, mut cursor) = (BTreeMap::new(), String::new());
        loop {
            let page = self.get(&format!("/api/datasets/{dataset}/records?limit=1000{cursor}"))?.expect(200)?;
            for record in page["records"].as_array().context("the page has no records")? {
                let key = record["key"].as_str().context("the record has no key")?;
                ensure!(records.insert(key.to_owned(), record.clone()).is_none(), "the key {key} is listed twice");
            }
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return Ok(records),
            }
        }
    }
}
