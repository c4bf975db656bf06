//! How urgent a job is. Each priority has a queue and a concurrency of its own, so that none waits behind another.

use serde::{Deserialize, Serialize};

/// How urgent a job is, as its client says at its creation; it never changes.
#[derive(
    Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Default, Serialize, Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// A person waits for it.
    High,
    /// What nobody said anything about.
    #[default]
    Normal,
    /// It may take the night.
    Low,
}

impl Priority {
    /// All of them, the most urgent first.
    pub const ALL: [Self; 3] = [Self::High, Self::Normal, Self::Low];

    /// The word that clients write and read.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Normal => "normal",
            Self::Low => "low",
        }
    }

    /// Reads a client's word; `None` if it is no priority.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|priority| priority.as_str() == text)
    }

    /// The one that need not be said.
    pub fn is_normal(&self) -> bool {
        *self == Self::Normal
    }
}

#[cfg(test)]
mod tests {
    use super::Priority;

    #[test]
    fn a_priority_is_one_of_three_words_everywhere() {
        for (word, priority) in [("high", Priority::High), ("normal", Priority::Normal), ("low", Priority::Low)] {
            assert_eq!((Priority::parse(word), priority.as_str()), (Some(priority), word));
            assert_eq!(serde_json::to_string(&priority).unwrap(), format!("\"{word}\""));
        }
        for word in ["", "High", "urgent", " low"] {
            assert_eq!(Priority::parse(word), None, "{word:?}");
        }
        assert!(Priority::default().is_normal());
    }
}
