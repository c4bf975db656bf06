//! The texts of the statements that write a record.

use longshore_domain::history::VersionMark;
use longshore_domain::writer::Rule;

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

/// Key: `PK`, `SK`. Condition: the item is the version of this mark. Keeps other attributes of the item.
pub(super) fn overwrite(table: &str, mark: VersionMark, sets_previous: bool) -> String {
    let previous = if sets_previous { r#" SET "previous" = ?"# } else { "" };
    let condition = version_condition(mark);
    format!(
        r#"UPDATE "{table}" SET "data" = ? SET "writer" = ? SET "updatedAt" = ?{previous} WHERE "PK" = ? AND "SK" = ? AND {condition}"#
    )
}

/// Key: `PK`, `SK`. Condition: the item is the version of this mark. Keeps other attributes of the item.
pub(super) fn restore(table: &str, mark: VersionMark, sets: [bool; 2]) -> String {
    let of =
        |name: &str, is_set: bool| if is_set { format!(r#"SET "{name}" = ?"#) } else { format!(r#"REMOVE "{name}""#) };
    let (created_by, previous) = (of("createdBy", sets[0]), of("previous", sets[1]));
    let condition = version_condition(mark);
    format!(
        r#"UPDATE "{table}" SET "data" = ? SET "writer" = ? SET "updatedAt" = ? SET "restoredBy" = ? {created_by} {previous} WHERE "PK" = ? AND "SK" = ? AND {condition}"#
    )
}

/// Key: `PK`, `SK`. Condition: the item does not exist, or is the version of this mark.
pub(super) fn remove(table: &str, mark: VersionMark) -> String {
    format!(r#"DELETE FROM "{table}" WHERE "PK" = ? AND "SK" = ? AND {}"#, version_condition(mark))
}

/// The condition that the item is the version of this mark. An item without a writer never is.
fn version_condition(mark: VersionMark) -> &'static str {
    match mark.updated_at {
        Some(_) => r#""writer" = ? AND "updatedAt" = ?"#,
        None => r#""writer" = ? AND "updatedAt" IS MISSING"#,
    }
}

/// Key: `PK`, `SK`. Condition: the item does not exist, or its writer is this one or an earlier one.
pub(super) fn delete(table: &str) -> String {
    format!(r#"DELETE FROM "{table}" WHERE "PK" = ? AND "SK" = ? AND "writer" <= ?"#)
}
