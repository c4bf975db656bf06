//! A dataset and the rule for its name, which is part of every record's key.

use crate::tenant::TenantId;

/// Maximum length of a name.
const MAX_NAME_BYTES: usize = 64;

/// A set of records with its own keys, of one tenant.
#[derive(Clone, Eq, PartialEq, Ord, PartialOrd, Debug)]
pub struct Dataset {
    /// The tenant that owns the dataset.
    pub tenant: TenantId,
    /// Name: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub name: String,
}

/// A text that is not a valid name of a dataset.
#[derive(Copy, Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("the name of a dataset must have 1 to {MAX_NAME_BYTES} of the characters A-Z a-z 0-9 _ -")]
pub struct BadDatasetName;

impl BadDatasetName {
    /// Stable code of a field with an invalid name.
    pub const CODE: &'static str = "invalid_dataset";
}

impl Dataset {
    /// Returns a tenant's dataset of this name.
    ///
    /// # Errors
    /// If the name is invalid.
    pub fn named(tenant: TenantId, name: impl Into<String>) -> Result<Self, BadDatasetName> {
        let name = name.into();
        Self::check_name(&name)?;
        Ok(Self { tenant, name })
    }

    /// Checks that a text is a valid name.
    ///
    /// # Errors
    /// If it is not.
    pub fn check_name(name: &str) -> Result<(), BadDatasetName> {
        let fits = (1..=MAX_NAME_BYTES).contains(&name.len());
        let sound = fits && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        if sound { Ok(()) } else { Err(BadDatasetName) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Dataset, TenantId};

    #[test]
    fn a_name_is_up_to_64_plain_characters() {
        let longest = "x".repeat(64);
        for good in ["a", "Crm_2-x", longest.as_str()] {
            assert!(Dataset::named(TenantId::from_static("t"), good).is_ok(), "{good}");
        }
        for bad in ["", "a b", "a/b", "a#b", "\u{fc}", &"x".repeat(65)] {
            assert!(Dataset::named(TenantId::from_static("t"), bad).is_err(), "{bad}");
        }
    }
}
