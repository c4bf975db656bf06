//! The table of the measurements.

use bench::markdown;

use crate::cases::CASES;
use crate::job::Measured;

/// Returns Markdown tables with the median run of each case, and with the calls of the imports.
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
    calls(&mut text, &medians);
    text
}

/// Writes the calls that the imports make for their records, per chunk.
fn calls(text: &mut String, medians: &[Measured]) {
    let imports = CASES.iter().map(|case| case.name).zip(medians).filter(|(_, median)| median.statements > 0);
    let lines = imports.map(|(name, median)| {
        let Measured { statements, reads, versions, chunks, .. } = *median;
        let counts = [statements, reads, versions, statements + reads + versions];
        let per_chunk = counts.map(|count| format!("{:.2}", count as f64 / chunks.max(1) as f64));
        std::iter::once(name.to_owned()).chain([chunks.to_string()]).chain(per_chunk).collect()
    });
    let headings = ["job", "chunks", "batches of statements", "batches of keys read", "files of versions", "all"];
    let title = "AWS calls of an import for its records, per chunk";
    markdown::table(text, title, &headings, lines.collect());
}

fn median(runs: &[Measured]) -> Option<Measured> {
    let mut runs = runs.to_vec();
    runs.sort_by(|a, b| a.total_s().total_cmp(&b.total_s()));
    runs.get(runs.len() / 2).copied()
}
