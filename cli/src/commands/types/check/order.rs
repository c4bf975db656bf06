//! The checks in their order, and what each of them needs.

use std::collections::BTreeSet;

use longshore_domain::remote::Mode;
use serde::Serialize;

/// A check. Its name in JSON never changes.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Check {
    Ping,
    ContentType,
    UnknownPing,
    Signature,
    Timestamp,
    OneItem,
    Batch,
    Keys,
    Repeat,
    UnknownMembers,
    InvalidItems,
    LargeBatch,
    Deadline,
    Concurrency,
    Codes,
}

/// The facts on which it depends whether a check is made.
#[derive(Default, Debug)]
pub(super) struct Facts {
    /// The modes in the answer to the ping, if it is good.
    pub(super) modes: Option<Vec<Mode>>,
    /// The mode of the batches, if there may be batches.
    pub(super) mode: Option<Mode>,
    pub(super) is_https: bool,
    /// The checks that got results of items.
    pub(super) usable: BTreeSet<Check>,
    /// True after an answer was refused because of its keys.
    pub(super) has_wrong_keys: bool,
    /// True if the handler was busy at every try.
    pub(super) is_busy: bool,
    /// True if the time or the calls of a run are spent.
    pub(super) is_spent: bool,
}

impl Check {
    pub(super) const ALL: [Self; 15] = [
        Self::Ping,
        Self::ContentType,
        Self::UnknownPing,
        Self::Signature,
        Self::Timestamp,
        Self::OneItem,
        Self::Batch,
        Self::Keys,
        Self::Repeat,
        Self::UnknownMembers,
        Self::InvalidItems,
        Self::LargeBatch,
        Self::Deadline,
        Self::Concurrency,
        Self::Codes,
    ];

    /// Returns the name in text.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Ping => "ping",
            Self::ContentType => "content type",
            Self::UnknownPing => "unknown ping",
            Self::Signature => "signature",
            Self::Timestamp => "timestamp",
            Self::OneItem => "one item",
            Self::Batch => "batch of 10",
            Self::Keys => "keys",
            Self::Repeat => "repeat",
            Self::UnknownMembers => "unknown members",
            Self::InvalidItems => "invalid items",
            Self::LargeBatch => "batch of 1,000",
            Self::Deadline => "deadline",
            Self::Concurrency => "concurrency",
            Self::Codes => "codes",
        }
    }

    /// Returns the check whose results this one needs.
    fn needs(self) -> Option<Self> {
        match self {
            Self::Batch | Self::UnknownMembers => Some(Self::OneItem),
            Self::Keys | Self::Repeat | Self::InvalidItems | Self::LargeBatch | Self::Concurrency => Some(Self::Batch),
            Self::Deadline => Some(Self::LargeBatch),
            _ => None,
        }
    }

    /// Returns the reason to skip the check; `None` if it is to be made.
    pub(super) fn skipped(self, facts: &Facts) -> Option<String> {
        if self == Self::Ping {
            return None;
        }
        if facts.modes.is_none() {
            return Some("needs a good ping".to_owned());
        }
        if matches!(self, Self::ContentType | Self::Signature | Self::Timestamp) && !facts.is_https {
            return Some("for HTTPS endpoints only".to_owned());
        }
        if self == Self::Codes || self == Self::Keys && facts.has_wrong_keys {
            return None;
        }
        if facts.is_busy {
            return Some("the handler is busy".to_owned());
        }
        if facts.is_spent {
            return Some("the run has reached its maximum of calls or of time".to_owned());
        }
        if self >= Self::OneItem && facts.mode.is_none() {
            return Some(
                "the ping does not list \"validate\"; --mode run sends items that are processed, with effects"
                    .to_owned(),
            );
        }
        let needed = self.needs().filter(|needed| !facts.usable.contains(needed))?;
        Some(format!("needs results of the check `{}`", needed.title()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            modes: Some(vec![Mode::Run]),
            mode: Some(Mode::Run),
            is_https: true,
            usable: Check::ALL.into(),
            ..Facts::default()
        }
    }

    fn made(facts: &Facts) -> Vec<Check> {
        Check::ALL.into_iter().filter(|check| check.skipped(facts).is_none()).collect()
    }

    #[test]
    fn a_check_is_made_if_what_it_needs_is_known() {
        use Check::{Codes, ContentType, Keys, Ping, Signature, Timestamp, UnknownPing};
        assert_eq!(made(&facts()), Check::ALL);
        let lambda = made(&Facts { is_https: false, ..facts() });
        assert_eq!(lambda.len(), Check::ALL.len() - 3);
        assert_eq!(made(&Facts { modes: None, ..facts() }), [Ping]);
        let without_mode = made(&Facts { mode: None, ..facts() });
        assert_eq!(without_mode, [Ping, ContentType, UnknownPing, Signature, Timestamp, Codes]);
        for facts in [Facts { is_busy: true, ..facts() }, Facts { is_spent: true, ..facts() }] {
            assert_eq!(made(&facts), [Ping, Codes]);
        }
        let wrong_keys = made(&Facts { usable: BTreeSet::new(), has_wrong_keys: true, ..facts() });
        assert_eq!(wrong_keys[5..], [Check::OneItem, Keys, Codes]);
    }
}
