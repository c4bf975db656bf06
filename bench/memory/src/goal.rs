//! Goals, and whether they are met.

use bench::markdown;

/// A goal and its result.
pub(crate) struct Goal {
    pub(crate) name: &'static str,
    pub(crate) measured: String,
    pub(crate) is_met: bool,
}

/// Returns the table of goals.
pub(crate) fn table(goals: impl IntoIterator<Item = Goal>) -> String {
    let mut text = String::new();
    let row = |goal: Goal| {
        let result = if goal.is_met { "met" } else { "NOT MET" };
        vec![result.to_owned(), goal.name.to_owned(), goal.measured]
    };
    markdown::table(&mut text, "Goals", &["", "goal", "measured"], goals.into_iter().map(row).collect());
    text
}
