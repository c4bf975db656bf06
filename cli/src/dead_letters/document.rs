//! The API's documents of dead letters, limited to the fields that are shown.

use serde::Deserialize;

/// A dead letter in a list.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedDeadLetter {
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

/// A page of the list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page {
    pub(super) dead_letters: Vec<ListedDeadLetter>,
    pub(super) next_cursor: Option<String>,
}

/// The result of a replay.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replayed {
    pub(super) replayed: Vec<String>,
    pub(super) left: Vec<String>,
    pub(super) effect: String,
    pub(super) job_id: Option<String>,
    pub(super) generation: Option<u32>,
}

impl Replayed {
    /// Describes the replay in a sentence.
    pub(super) fn describe(&self) -> String {
        let (dead_letters, job) = (self.replayed.join(", "), self.job_id.as_deref().unwrap_or("-"));
        let did = match self.effect.as_str() {
            "message" => format!("sent again to job {job}"),
            "generation" => {
                format!("job {job} is opened again, as attempt {}", self.generation.unwrap_or_default() + 1)
            }
            "putBack" => "put back into the queue that it came from".to_owned(),
            _ => "replayed before; nothing was done".to_owned(),
        };
        let left = match self.left.len() {
            0 => String::new(),
            n => format!("; {n} dead letters of the job are left"),
        };
        format!("{dead_letters}: {did}{left}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_is_reported_by_what_it_did() {
        let replayed = |effect: &str, left: usize| Replayed {
            replayed: vec!["1-a".into(), "1-b".into()],
            left: vec!["x".into(); left],
            effect: effect.into(),
            job_id: Some("j".into()),
            generation: Some(1),
        };
        assert_eq!(replayed("generation", 0).describe(), "1-a, 1-b: job j is opened again, as attempt 2");
        assert_eq!(
            replayed("message", 2).describe(),
            "1-a, 1-b: sent again to job j; 2 dead letters of the job are left"
        );
        assert_eq!(replayed("nothing", 0).describe(), "1-a, 1-b: replayed before; nothing was done");
    }
}
