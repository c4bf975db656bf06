//! The API's documents of dead letters, limited to the fields that are shown.

use serde::Deserialize;

/// A dead letter in a list.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeadLetter {
    pub(super) letter_id: String,
    pub(super) queue: String,
    pub(super) kind: String,
    pub(super) job_id: Option<String>,
    pub(super) job_status: Option<String>,
    pub(super) tenant: Option<String>,
    pub(super) first_item: Option<u64>,
    pub(super) item_count: Option<u64>,
    pub(super) seen_at: String,
    pub(super) replay: String,
}

/// The response to a replay.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReplayResponse {
    pub(super) replayed: Vec<String>,
    pub(super) left: Vec<String>,
    pub(super) effect: String,
    pub(super) job_id: Option<String>,
    pub(super) generation: Option<u32>,
}

impl ReplayResponse {
    /// Describes the replay in a sentence.
    pub(super) fn describe(&self) -> String {
        let (dead_letters, job) = (self.replayed.join(", "), self.job_id.as_deref().unwrap_or("-"));
        let effect = match self.effect.as_str() {
            "message" => format!("message of job {job} sent again"),
            "generation" => {
                format!("job {job} reopened, as attempt {}", self.generation.unwrap_or_default() + 1)
            }
            "putBack" => "returned to its source queue".to_owned(),
            _ => "already replayed; nothing was done".to_owned(),
        };
        let left = match self.left.len() {
            0 => String::new(),
            n => format!("; {n} dead letters of the job are still open"),
        };
        format!("{dead_letters}: {effect}{left}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_is_described_by_its_effect() {
        let response = |effect: &str, left: usize| ReplayResponse {
            replayed: vec!["1-a".into(), "1-b".into()],
            left: vec!["x".into(); left],
            effect: effect.into(),
            job_id: Some("j".into()),
            generation: Some(1),
        };
        assert_eq!(response("generation", 0).describe(), "1-a, 1-b: job j reopened, as attempt 2");
        assert_eq!(
            response("message", 2).describe(),
            "1-a, 1-b: message of job j sent again; 2 dead letters of the job are still open"
        );
        assert_eq!(response("nothing", 0).describe(), "1-a, 1-b: already replayed; nothing was done");
    }
}
