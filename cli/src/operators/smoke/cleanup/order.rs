//! The order of removal, and the reports.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use super::process::Kind;

/// Removes all resources. A failure does not prevent the other removals. Reports each removal and each failure. Returns
/// the kinds that could not be removed. `remove` returns what was removed; `None` if there was nothing.
pub(super) fn remove_all(
    resources: &BTreeMap<Kind, String>,
    remove: &dyn Fn(Kind, &str) -> Result<Option<String>>,
    report: &mut dyn FnMut(Result<String, String>),
) -> Vec<Kind> {
    let mut left = Vec::new();
    for (&kind, id) in resources {
        // The removal of a job also removes its upload, and a test has one job.
        if matches!(kind, Kind::Upload | Kind::UnansweredJob) && resources.contains_key(&Kind::Job) {
            continue;
        }
        match remove(kind, id).and_then(|removed| is_final(kind, &left).map(|()| removed)) {
            Ok(removed) => removed.into_iter().for_each(|removed| report(Ok(format!("removed {removed}")))),
            Err(error) => {
                left.push(kind);
                report(Err(format!("NOT removed: {kind} {id}: {error:#}")));
            }
        }
    }
    left
}

/// Fails for a dataset whose job could not be removed, or not be looked for.
fn is_final(kind: Kind, left: &[Kind]) -> Result<()> {
    if kind == Kind::Dataset && left.contains(&Kind::Job) {
        bail!("its records are removed, but its job is not and can write more");
    }
    if kind == Kind::Dataset && left.contains(&Kind::UnansweredJob) {
        bail!("its records are removed, but it may have a job, which can write more");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Removes resources of these kinds; one kind can fail. Returns the attempted kinds, and the reports.
    fn remove(kinds: &[Kind], failing: Option<Kind>) -> (Vec<Kind>, Vec<String>) {
        let (attempts, mut reports) = (RefCell::new(Vec::new()), Vec::new());
        let remove = |kind: Kind, id: &str| {
            attempts.borrow_mut().push(kind);
            match kind {
                _ if Some(kind) == failing => bail!("no"),
                Kind::UnansweredJob => Ok(None),
                _ => Ok(Some(format!("{kind} {id}"))),
            }
        };
        let resources = kinds.iter().map(|kind| (*kind, "x".to_owned())).collect();
        let left =
            remove_all(&resources, &remove, &mut |report| reports.push(report.unwrap_or_else(|failure| failure)));
        assert_eq!(left.is_empty(), failing.is_none());
        (attempts.into_inner(), reports)
    }

    #[test]
    fn the_job_is_removed_first_and_the_user_last() {
        let (attempts, reports) = remove(&[Kind::User, Kind::Dataset, Kind::Job], None);
        assert_eq!(attempts, [Kind::Job, Kind::Dataset, Kind::User]);
        assert_eq!(reports, ["removed job x", "removed dataset x", "removed user x"]);
    }

    #[test]
    fn an_upload_is_removed_unless_it_has_a_job() {
        assert_eq!(remove(&[Kind::Upload, Kind::User], None).0, [Kind::Upload, Kind::User]);
        assert_eq!(remove(&[Kind::Upload, Kind::Job], None).0, [Kind::Job]);
    }

    #[test]
    fn a_failure_does_not_prevent_other_removals() {
        let (attempts, reports) = remove(&[Kind::Upload, Kind::Dataset, Kind::User], Some(Kind::Upload));
        assert_eq!(attempts, [Kind::Upload, Kind::Dataset, Kind::User]);
        assert_eq!(reports, ["NOT removed: upload x: no", "removed dataset x", "removed user x"]);
    }

    #[test]
    fn a_dataset_is_not_reported_as_removed_while_its_job_exists() {
        let (attempts, reports) = remove(&[Kind::Job, Kind::Dataset], Some(Kind::Job));
        assert_eq!(attempts, [Kind::Job, Kind::Dataset]);
        let dataset = "NOT removed: dataset x: its records are removed, but its job is not and can write more";
        assert_eq!(reports, ["NOT removed: job x: no", dataset]);
    }

    #[test]
    fn a_job_without_an_answer_is_looked_for_before_upload_and_dataset_are_removed() {
        let kinds = [Kind::Dataset, Kind::Upload, Kind::UnansweredJob];
        let (attempts, reports) = remove(&kinds, None);
        assert_eq!(attempts, [Kind::UnansweredJob, Kind::Upload, Kind::Dataset]);
        assert_eq!(reports, ["removed upload x", "removed dataset x"], "there was no job");
        let (attempts, reports) = remove(&kinds, Some(Kind::UnansweredJob));
        assert_eq!(attempts, [Kind::UnansweredJob, Kind::Upload, Kind::Dataset]);
        let dataset = "NOT removed: dataset x: its records are removed, but it may have a job, which can write more";
        assert_eq!(reports, ["NOT removed: job of the test x: no", "removed upload x", dataset]);
        assert_eq!(remove(&[Kind::UnansweredJob, Kind::Job], None).0, [Kind::Job], "its creation was answered");
    }
}
