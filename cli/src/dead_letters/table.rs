//! Dead letters as a table with fitted columns.

use super::document::ListedDeadLetter;

/// Renders one line per dead letter, below a heading.
pub(super) fn render(dead_letters: &[ListedDeadLetter]) -> String {
    let heading = ["letter", "queue", "about", "tenant", "seen", "a replay would"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heading).chain(dead_letters.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths = [0, 1, 2, 3, 4].map(width);
    let line = |row: &[String; 6]| {
        let padded = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}  "));
        format!("{}{}\n", padded.collect::<String>(), row[5])
    };
    rows.iter().map(line).collect()
}

fn row(dead_letter: &ListedDeadLetter) -> [String; 6] {
    let dash = || "-".to_owned();
    [
        dead_letter.letter_id.clone(),
        dead_letter.queue.clone(),
        about(dead_letter),
        dead_letter.tenant.clone().unwrap_or_else(dash),
        dead_letter.seen_at.clone(),
        would(&dead_letter.replay).to_owned(),
    ]
}

fn about(dead_letter: &ListedDeadLetter) -> String {
    let Some(job) = &dead_letter.job_id else { return dead_letter.kind.clone() };
    let rows = match (dead_letter.first_item, dead_letter.item_count) {
        (Some(first), Some(count)) => format!(", {count} rows from {first}"),
        _ => String::new(),
    };
    format!("job {job} ({}){rows}", dead_letter.job_status.as_deref().unwrap_or("gone"))
}

fn would(effect: &str) -> &str {
    match effect {
        "message" => "send it again",
        "generation" => "open the job again",
        "putBack" => "put it back",
        "later" => "wait for the job's end",
        _ => "do nothing",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_what_they_hold() {
        let chunk = ListedDeadLetter {
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
        let lost = ListedDeadLetter {
            kind: "unreadable".into(),
            job_id: None,
            tenant: None,
            replay: "putBack".into(),
            ..chunk.clone()
        };
        let expected = "\
id      queue  about                             tenant  seen  a replay would
17-a    chunk  job j (completed), 50 rows from 51  acme    now   open the job again
17-a    chunk  unreadable                          -       now   put it back
";
        let heading = expected.lines().next().unwrap_or_default();
        assert_eq!(
            render(&[chunk, lost]).lines().skip(1).collect::<Vec<_>>(),
            expected.lines().skip(1).collect::<Vec<_>>()
        );
        assert!(heading.starts_with("id      queue  about"));
    }
}
