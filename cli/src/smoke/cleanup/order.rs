//! The order of the removals, and their reports.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use super::message::Kind;

/// Removes everything named; a failure does not prevent the other removals. Reports each removal and each failure.
/// Returns the kinds that are left.
pub(super) fn remove_all(
    named: &BTreeMap<Kind, String>,
    remove: &dyn Fn(Kind, &str) -> Result<()>,
    report: &mut dyn FnMut(Result<String, String>),
) -> Vec<Kind> {
    let mut left = Vec::new();
    for (&kind, id) in named {
        // The removal of a job removes its upload too.
        if kind == Kind::Upload && named.contains_key(&Kind::Job) {
            continue;
        }
        match remove(kind, id).and_then(|()| is_final(kind, &left)) {
            Ok(()) => report(Ok(format!("removed {kind} {id}"))),
            Err(error) => {
                left.push(kind);
                report(Err(format!("NOT removed: {kind} {id}: {error:#}")));
            }
        }
    }
    left
}

/// Fails for a dataset whose job is left.
fn is_final(kind: Kind, left: &[Kind]) -> Result<()> {
    if kind == Kind::Dataset && left.contains(&Kind::Job) {
        bail!("its records are removed, but its job is not and may write more");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Removes what is named, of which one kind fails. Returns the kinds tried, and the reports.
    fn removed(named: &[Kind], fails: Option<Kind>) -> (Vec<Kind>, Vec<String>) {
        let (tried, mut reports) = (RefCell::new(Vec::new()), Vec::new());
        let remove = |kind, _: &str| {
            tried.borrow_mut().push(kind);
            if Some(kind) == fails { bail!("no") } else { Ok(()) }
        };
        let named = named.iter().map(|kind| (*kind, "x".to_owned())).collect();
        let left = remove_all(&named, &remove, &mut |report| reports.push(report.unwrap_or_else(|failure| failure)));
        assert_eq!(left.is_empty(), fails.is_none());
        (tried.into_inner(), reports)
    }

    #[test]
    fn the_job_is_first_and_the_user_last_whatever_the_order_of_the_messages() {
        let (tried, reports) = removed(&[Kind::User, Kind::Dataset, Kind::Job], None);
        assert_eq!(tried, [Kind::Job, Kind::Dataset, Kind::User]);
        assert_eq!(reports, ["removed job x", "removed dataset x", "removed user x"]);
    }

    #[test]
    fn an_upload_is_removed_unless_it_has_a_job() {
        assert_eq!(removed(&[Kind::Upload, Kind::User], None).0, [Kind::Upload, Kind::User]);
        assert_eq!(removed(&[Kind::Upload, Kind::Job], None).0, [Kind::Job]);
    }

    #[test]
    fn a_failure_prevents_no_other_removal() {
        let (tried, reports) = removed(&[Kind::Upload, Kind::Dataset, Kind::User], Some(Kind::Upload));
        assert_eq!(tried, [Kind::Upload, Kind::Dataset, Kind::User]);
        assert_eq!(reports, ["NOT removed: upload x: no", "removed dataset x", "removed user x"]);
    }

    #[test]
    fn a_dataset_is_not_called_removed_while_its_job_is_left() {
        let (tried, reports) = removed(&[Kind::Job, Kind::Dataset], Some(Kind::Job));
        assert_eq!(tried, [Kind::Job, Kind::Dataset]);
        let more = "NOT removed: dataset x: its records are removed, but its job is not and may write more";
        assert_eq!(reports, ["NOT removed: job x: no", more]);
    }
}
