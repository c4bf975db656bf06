//! Dead letters as a table with fitted columns.

use super::document::DeadLetter;

/// Renders one line per dead letter, below a heading.
pub(super) fn render(dead_letters: &[DeadLetter]) -> String {
    let heading = ["id", "queue", "about", "tenant", "seen", "effect of a replay"];
    crate::output::table::render(heading, dead_letters.iter().map(row))
}

fn row(dead_letter: &DeadLetter) -> [String; 6] {
    let dash = || "-".to_owned();
    [
        dead_letter.letter_id.clone(),
        dead_letter.queue.clone(),
        about(dead_letter),
        dead_letter.tenant.clone().unwrap_or_else(dash),
        dead_letter.seen_at.clone(),
        describe(&dead_letter.replay).to_owned(),
    ]
}

fn about(dead_letter: &DeadLetter) -> String {
    let Some(job) = &dead_letter.job_id else { return dead_letter.kind.clone() };
    let rows = match (dead_letter.first_item, dead_letter.item_count) {
        (Some(first), Some(count)) => format!(", {count} rows from {first}"),
        _ => String::new(),
    };
    format!("job {job} ({}){rows}", dead_letter.job_status.as_deref().unwrap_or("removed"))
}

fn describe(effect: &str) -> &str {
    match effect {
        "message" => "sends the message again",
        "generation" => "reopens the job",
        "putBack" => "returns it to its source queue",
        "later" => "none until the job has ended",
        _ => "none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_longest_cell() {
        let chunk = DeadLetter {
            letter_id: "17-a".into(),
            queue: "chunk".into(),
            kind: "chunk".into(),
            job_id: Some("j".into()),
            job_status: Some("completed".into()),
            tenant: Some("acme".into()),
            first_item: Some(51),
            item_count: Some(50),
            seen_at: "now".into(),
            replay: "generation".into(),
        };
        let unreadable = DeadLetter {
            kind: "unreadable".into(),
            job_id: None,
            tenant: None,
            replay: "putBack".into(),
            ..chunk.clone()
        };
        let expected = "\
id    queue  about                               tenant  seen  effect of a replay
17-a  chunk  job j (completed), 50 rows from 51  acme    now   reopens the job
17-a  chunk  unreadable                          -       now   returns it to its source queue
";
        assert_eq!(render(&[chunk, unreadable]), expected);
    }
}
