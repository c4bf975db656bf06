//! The API's calls for dead letters.

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value, json};

use super::document::ReplayResponse;
use crate::api::Api;
use crate::documents::with_reason;

/// A client of one deployment, with an operator's token.
pub(super) struct Client(Api);

impl Client {
    pub(super) fn new(api: Api) -> Self {
        Self(api)
    }

    /// Lists all open dead letters as the API's documents, page by page.
    pub(super) fn list(&self, queue: Option<&str>, job: Option<&str>) -> Result<Vec<Value>> {
        let (mut dead_letters, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut path = String::from("/api/dead-letters?limit=100");
            for (name, value) in [("queue", queue), ("jobId", job), ("cursor", cursor.as_deref())] {
                path.extend(value.map(|value| format!("&{name}={value}")));
            }
            let page = self.0.get(&path, "listing the dead letters")?;
            dead_letters.extend(page["deadLetters"].as_array().into_iter().flatten().cloned());
            cursor = page["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                return Ok(dead_letters);
            }
        }
    }

    pub(super) fn show(&self, dead_letter: &str) -> Result<Value> {
        self.0.get(&format!("/api/dead-letters/{dead_letter}"), "reading the dead letter")
    }

    pub(super) fn replay(&self, dead_letter: &str, reason: Option<&str>) -> Result<ReplayResponse> {
        let path = with_reason(format!("/api/dead-letters/{dead_letter}/replay"), reason);
        Ok(ReplayResponse::deserialize(self.0.post(&path, None, "replaying the dead letter")?)?)
    }

    pub(super) fn replay_job(&self, job: &str, reason: Option<&str>) -> Result<ReplayResponse> {
        let mut request = json!({ "jobId": job });
        if let Some(reason) = reason {
            request["reason"] = json!(reason);
        }
        let action = "replaying the dead letters";
        Ok(ReplayResponse::deserialize(self.0.post("/api/dead-letters/replay", Some(&request), action)?)?)
    }

    pub(super) fn discard(&self, dead_letter: &str, reason: Option<&str>) -> Result<()> {
        let path = with_reason(format!("/api/dead-letters/{dead_letter}"), reason);
        let answer = self.0.send("DELETE", &path, &[], None)?;
        answer.success("discarding the dead letter").map(drop)
    }
}
