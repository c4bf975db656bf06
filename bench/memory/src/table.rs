//! The table of the measurements.

use bench::markdown;

use crate::cases::CASES;
use crate::job::Measured;

/// Returns a Markdown table with the median run of each case.
pub(crate) fn table(rows: u64, measured: &[Vec<Measured>]) -> String {
    let medians: Vec<Measured> = measured.iter().filter_map(|runs| median(runs)).collect();
    let base = medians.first().map_or(0.0, |median| median.total_s());
    let line = |(name, median): (&str, &Measured)| {
        vec![
            name.to_owned(),
            format!("{:.0}", rows as f64 / median.total_s()),
            format!("{:.2}", base / median.total_s()),
            format!("{:.2}", median.split_s),
            format!("{:.2}", median.work_s),
            format!("{:.2}", median.completion_s),
        ]
    };
    let lines = CASES.iter().map(|case| case.name).zip(&medians).map(line).collect();
    let headings = ["job", "rows/s", "speed, 1 is the first job", "split, s", "work, s", "completion, s"];
    let mut text = String::new();
    markdown::table(&mut text, "", &headings, lines);
    text
}

fn median(runs: &[Measured]) -> Option<Measured> {
    let mut runs = runs.to_vec();
    runs.sort_by(|a, b| a.total_s().total_cmp(&b.total_s()));
    runs.get(runs.len() / 2).copied()
}
