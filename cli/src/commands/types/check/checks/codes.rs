//! The codes of rejections and skips, in all answers so far.

use longshore_domain::text::listed;

use super::super::lab::Notebook;
use super::super::order::Check;
use super::super::problems::Problem;
use super::super::report::{Evidence, Report};
use super::super::words;

/// Number of codes above which they probably contain data.
const MANY: usize = 50;

pub(super) fn check(notebook: &mut Notebook) -> Report {
    if let Some(defect) = notebook.bad_code.take() {
        return Report::problem(Check::Codes, Problem::BadCode, defect.reason).with(defect.evidence);
    }
    let codes = listed(notebook.codes.iter().map(String::as_str));
    match notebook.codes.len() {
        0 => Report::skipped(Check::Codes, "no answer had a code"),
        count if count > MANY => {
            let evidence =
                Evidence { sent: "the batches of all checks".to_owned(), received: format!("{count} codes") };
            let summary = format!("{count} different codes, such as {}", words::excerpt(codes.as_bytes()));
            Report::problem(Check::Codes, Problem::ManyCodes, summary).with(evidence)
        }
        _ => Report::ok(Check::Codes, codes),
    }
}
