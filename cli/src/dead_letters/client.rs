//! The API's calls for dead letters.

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value, json};

use super::document::{DeadLetter, Page, ReplayResponse};
use crate::api::Api;

/// A client of one deployment, with an operator's token.
pub(super) struct Client(Api);

impl Client {
    pub(super) fn new(api: Api) -> Self {
        Self(api)
    }

    /// Lists all open dead letters, page by page.
    pub(super) fn list(&self, queue: Option<&str>, job: Option<&str>) -> Result<Vec<DeadLetter>> {
        let (mut dead_letters, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut path = String::from("/api/dead-letters?limit=100");
            for (name, value) in [("queue", queue), ("jobId", job), ("cursor", cursor.as_deref())] {
                path.extend(value.map(|value| format!("&{name}={value}")));
            }
            let page = Page::deserialize(self.0.get(&path, "listing the dead letters")?)?;
            dead_letters.extend(page.dead_letters);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(dead_letters);
            }
        }
    }

    pub(super) fn show(&self, dead_letter: &str) -> Result<Value> {
        self.0.get(&format!("/api/dead-letters/{dead_letter}"), "reading the dead letter")
    }

    pub(super) fn replay(&self, dead_letter: &str) -> Result<ReplayResponse> {
        let path = format!("/api/dead-letters/{dead_letter}/replay");
        Ok(ReplayResponse::deserialize(self.0.post(&path, None, "replaying the dead letter")?)?)
    }

    pub(super) fn replay_job(&self, job: &str) -> Result<ReplayResponse> {
        let request = json!({ "jobId": job });
        let action = "replaying the dead letters";
        Ok(ReplayResponse::deserialize(self.0.post("/api/dead-letters/replay", Some(&request), action)?)?)
    }

    pub(super) fn discard(&self, dead_letter: &str) -> Result<()> {
        let answer = self.0.send("DELETE", &format!("/api/dead-letters/{dead_letter}"), &[], None)?;
        answer.success("discarding the dead letter").map(drop)
    }
}
