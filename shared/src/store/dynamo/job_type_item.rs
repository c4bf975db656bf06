//! The item of a registered job type.
//!
//! Contents are JSON text: DynamoDB's own types allow 32 levels, and a schema has up to 64. The versions and the refusal
//! are attributes of their own, for conditions.

use aws_sdk_dynamodb::types::AttributeValue;
use longshore_domain::registration::{
    Candidate, Registration, Revision, StoredRegistration, TypeName, Version, VersionedRegistration,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::item::{Item, ItemError, read_number, read_text, text, time};
use super::keys::Key;
use longshore_domain::timestamp::Timestamp;

/// Content and version of the active registration, and its ping's answer.
const ACTIVE: [&str; 3] = ["active", "activeVersion", "activation"];

/// Content, version, time and refusal of the candidate.
const CANDIDATE: [&str; 4] = ["candidate", "candidateVersion", "candidateAt", "refusal"];

/// Returns the attributes of a new job type: a candidate and nothing else.
pub(super) fn to_item(name: &TypeName, candidate: &Candidate) -> Result<Item, ItemError> {
    let mut item = Key::job_type(name).attributes();
    let values = candidate_values(candidate)?;
    item.extend(CANDIDATE.into_iter().zip(values).map(|(name, value)| (name.to_owned(), value)));
    Ok(item)
}

/// Returns content, version and time of a candidate.
pub(super) fn candidate_values(candidate: &Candidate) -> Result<[AttributeValue; 3], ItemError> {
    Ok([json(&candidate.registration)?, text(candidate.version.as_str()), time(candidate.created_at)])
}

/// Converts a value to JSON text.
pub(super) fn json(value: &impl Serialize) -> Result<AttributeValue, ItemError> {
    Ok(text(serde_json::to_string(value)?))
}

/// Returns every attribute of a job type, for the check of its size.
pub(super) fn full_item(name: &TypeName, stored: &StoredRegistration) -> Result<Item, ItemError> {
    let mut item = Key::job_type(name).attributes();
    if let Some(candidate) = &stored.candidate {
        item.extend(to_item(name, candidate)?);
        if let Some(refusal) = &candidate.refusal {
            item.insert(CANDIDATE[3].to_owned(), json(refusal)?);
        }
    }
    if let Some(active) = &stored.active {
        let values = [json(&active.registration)?, text(active.version.as_str()), json(&active.activation)?];
        item.extend(ACTIVE.into_iter().zip(values).map(|(name, value)| (name.to_owned(), value)));
    }
    Ok(item)
}

/// Reads an item.
pub(super) fn from_item(item: &Item) -> Result<StoredRegistration, ItemError> {
    let [active, active_version, activation] = ACTIVE;
    let [candidate, candidate_version, candidate_at, refusal] = CANDIDATE;
    let active = read_optional::<Registration>(item, active)?.map(|registration| {
        let version = Version::stored(read_text(item, active_version)?);
        let activation = read_optional(item, activation)?.ok_or(ItemError::Attribute(activation))?;
        Ok::<_, ItemError>(VersionedRegistration { version, registration, activation })
    });
    let candidate = read_optional::<Registration>(item, candidate)?.map(|registration| {
        let version = Version::stored(read_text(item, candidate_version)?);
        let (created_at, refusal) = (Timestamp(read_number(item, candidate_at)?), read_optional(item, refusal)?);
        Ok::<_, ItemError>(Candidate { version, registration, created_at, refusal })
    });
    Ok(StoredRegistration { active: active.transpose()?, candidate: candidate.transpose()? })
}

fn read_optional<T: DeserializeOwned>(item: &Item, name: &'static str) -> Result<Option<T>, ItemError> {
    let Some(value) = item.get(name) else { return Ok(None) };
    let text = value.as_s().map_err(|_| ItemError::Attribute(name))?;
    Ok(Some(serde_json::from_str(text)?))
}

/// A condition, and its values.
pub(super) type Condition = (String, Vec<(&'static str, AttributeValue)>);

/// Returns the condition that the stored revision is this one; for `None`, only that the item exists.
pub(super) fn is_at(revision: Option<&Revision>) -> Condition {
    let (mut condition, mut values) = ("attribute_exists(#PK)".to_owned(), Vec::new());
    let Some(Revision { active, candidate, is_refused }) = revision else { return (condition, values) };
    for (name, placeholder, version) in
        [(ACTIVE[1], ":seenActive", active), (CANDIDATE[1], ":seenCandidate", candidate)]
    {
        match version {
            Some(version) => {
                condition += &format!(" AND #{name} = {placeholder}");
                values.push((placeholder, text(version.as_str())));
            }
            None => condition += &format!(" AND attribute_not_exists(#{name})"),
        }
    }
    let exists = if *is_refused { "attribute_exists" } else { "attribute_not_exists" };
    condition += &format!(" AND {exists}(#{})", CANDIDATE[3]);
    (condition, values)
}
