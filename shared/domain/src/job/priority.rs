//! Priorities of jobs. Each has its own queue and concurrency, so that no priority waits behind another.

use serde::{Deserialize, Serialize};

/// Priority of a job, set by the client at creation. It never changes.
#[derive(
    Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Default, Serialize, Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// For a job that a person waits for.
    High,
    /// The default.
    #[default]
    Normal,
    /// For a job whose result is not needed for hours.
    Low,
}

impl Priority {
    /// All priorities, the most urgent first.
    pub const ALL: [Self; 3] = [Self::High, Self::Normal, Self::Low];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Normal => "normal",
            Self::Low => "low",
        }
    }

    /// Parses the name on the wire; `None` if it is not a priority.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|priority| priority.as_str() == text)
    }

    /// Returns true for the default priority, which messages omit.
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
