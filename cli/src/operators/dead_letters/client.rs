//! The API's calls for dead letters.

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value, json};

use super::document::ReplayResponse;
use crate::api::Api;
use crate::output::pages::{List, entries, query};

const PATH: &str = "/api/dead-letters";

const DEAD_LETTERS: List = List { action: "listing the dead letters", member: "deadLetters" };

/// A client of one deployment, with an operator's token.
pub(super) struct Client(Api);

impl Client {
    pub(super) fn new(api: Api) -> Self {
        Self(api)
    }

    /// Lists all open dead letters as the API's documents, page by page.
    pub(super) fn list(&self, queue: Option<&str>, job: Option<&str>) -> Result<Vec<Value>> {
        entries(&self.0, DEAD_LETTERS, usize::MAX, |cursor| list_path(queue, job, cursor))
    }

    pub(super) fn show(&self, dead_letter: &str) -> Result<Value> {
        self.0.get(&format!("{PATH}/{dead_letter}"), "reading the dead letter")
    }

    /// Replays a dead letter. One that was replayed stays so.
    pub(super) fn replay(&self, dead_letter: &str, reason: Option<&str>) -> Result<ReplayResponse> {
        let action = "replaying the dead letter";
        let path = query(&format!("{PATH}/{dead_letter}/replay"), &[("reason", reason)]);
        self.0.repeat("POST", &path, &[], None, action)?.success(action)?.json(action)
    }

    /// Replays all dead letters of a job. A repetition is harmless, but refused: the job has no open ones.
    pub(super) fn replay_job(&self, job: &str, reason: Option<&str>) -> Result<ReplayResponse> {
        let mut request = json!({ "jobId": job });
        if let Some(reason) = reason {
            request["reason"] = json!(reason);
        }
        let action = "replaying the dead letters";
        Ok(ReplayResponse::deserialize(self.0.post(&format!("{PATH}/replay"), Some(&request), action)?)?)
    }

    /// Discards a dead letter. One that was discarded stays so.
    pub(super) fn discard(&self, dead_letter: &str, reason: Option<&str>) -> Result<()> {
        let action = "discarding the dead letter";
        let path = query(&format!("{PATH}/{dead_letter}"), &[("reason", reason)]);
        self.0.repeat("DELETE", &path, &[], None, action)?.success(action).map(drop)
    }
}

/// Returns the path of a page of the list.
fn list_path(queue: Option<&str>, job: Option<&str>, cursor: Option<&str>) -> String {
    query(PATH, &[("limit", Some("100")), ("queue", queue), ("jobId", job), ("cursor", cursor)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_and_the_cursor_are_escaped() {
        assert_eq!(list_path(None, None, None), "/api/dead-letters?limit=100");
        let path = list_path(Some("chunk"), Some("a&queue=b"), Some("c+/="));
        assert_eq!(path, "/api/dead-letters?limit=100&queue=chunk&jobId=a%26queue%3Db&cursor=c%2B%2F%3D");
    }
}
