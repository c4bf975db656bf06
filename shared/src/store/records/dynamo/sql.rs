//! The texts of the statements that write a record.

use std::ops::RangeInclusive;

use aws_sdk_dynamodb::types::AttributeValue;
use longshore_domain::history::VersionMark;
use longshore_domain::writer::{Rule, Writer};

/// The stored versions that a statement may replace. An item without a writer never is one.
#[derive(Clone, Debug)]
pub(super) enum Replaceable {
    /// Exactly this one.
    Version(VersionMark),
    /// Those of these writers.
    Writers(RangeInclusive<Writer>),
}

impl Replaceable {
    /// Returns the condition.
    fn condition(&self) -> &'static str {
        match self {
            Self::Version(VersionMark { updated_at: Some(_), .. }) => r#""writer" = ? AND "updatedAt" = ?"#,
            Self::Version(VersionMark { updated_at: None, .. }) => r#""writer" = ? AND "updatedAt" IS MISSING"#,
            Self::Writers(_) => r#""writer" >= ? AND "writer" <= ?"#,
        }
    }

    /// Returns the parameters of the condition.
    pub(super) fn parameters(&self) -> Vec<AttributeValue> {
        let text = |writer: &Writer| AttributeValue::S(writer.to_string());
        match self {
            Self::Version(VersionMark { writer, updated_at }) => {
                let writer = writer.as_ref().map_or_else(|| AttributeValue::S(String::new()), text);
                let updated_at = updated_at.map(|at| AttributeValue::N(at.0.to_string()));
                [writer].into_iter().chain(updated_at).collect()
            }
            Self::Writers(writers) => vec![text(writers.start()), text(writers.end())],
        }
    }
}

/// Key: `PK`, `SK`. Condition, built into `INSERT`: the item does not exist.
pub(super) fn insert(table: &str) -> String {
    format!(
        r#"INSERT INTO "{table}" VALUE {{'PK': ?, 'SK': ?, 'data': ?, 'writer': ?, 'updatedAt': ?, 'createdBy': ?}}"#
    )
}

/// Key: `PK`, `SK`. Condition: the item exists, and its writer is this one or, unless the rule is an insert, an earlier
/// one. Keeps other attributes of the item, in particular `createdBy`, `previous` and `expiresAt`.
pub(super) fn update(table: &str, rule: Rule) -> String {
    let holder = match rule {
        Rule::Insert => "=",
        Rule::Upsert | Rule::Update | Rule::Delete => "<=",
    };
    format!(
        r#"UPDATE "{table}" SET "data" = ? SET "writer" = ? SET "updatedAt" = ? WHERE "PK" = ? AND "SK" = ? AND "writer" {holder} ?"#
    )
}

/// Key: `PK`, `SK`. Condition: the item is one of these versions. Keeps other attributes of the item.
pub(super) fn overwrite(table: &str, replaceable: &Replaceable, sets_previous: bool) -> String {
    let previous = if sets_previous { r#" SET "previous" = ?"# } else { "" };
    let condition = replaceable.condition();
    format!(
        r#"UPDATE "{table}" SET "data" = ? SET "writer" = ? SET "updatedAt" = ?{previous} WHERE "PK" = ? AND "SK" = ? AND {condition}"#
    )
}

/// Key: `PK`, `SK`. Condition: the item is one of these versions. Keeps other attributes of the item.
pub(super) fn restore(table: &str, replaceable: &Replaceable, sets: [bool; 2]) -> String {
    let of =
        |name: &str, is_set: bool| if is_set { format!(r#"SET "{name}" = ?"#) } else { format!(r#"REMOVE "{name}""#) };
    let (created_by, previous) = (of("createdBy", sets[0]), of("previous", sets[1]));
    let condition = replaceable.condition();
    format!(
        r#"UPDATE "{table}" SET "data" = ? SET "writer" = ? SET "updatedAt" = ? SET "restoredBy" = ? {created_by} {previous} WHERE "PK" = ? AND "SK" = ? AND {condition}"#
    )
}

/// Key: `PK`, `SK`. Condition: the item does not exist, or is one of these versions.
pub(super) fn remove(table: &str, replaceable: &Replaceable) -> String {
    format!(r#"DELETE FROM "{table}" WHERE "PK" = ? AND "SK" = ? AND {}"#, replaceable.condition())
}

/// Key: `PK`, `SK`. Condition: the item does not exist, or its writer is this one or an earlier one.
pub(super) fn delete(table: &str) -> String {
    format!(r#"DELETE FROM "{table}" WHERE "PK" = ? AND "SK" = ? AND "writer" <= ?"#)
}
