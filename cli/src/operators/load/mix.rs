//! Kinds of jobs with their shares, such as `rows=1000:80,type=mail+rows=50:20`.

/// Highest sum of the shares.
const MAX_SHARES: u64 = 10_000;

/// Largest number of rows of a job.
pub(super) const MAX_ROWS: u64 = 10_000_000;

/// A kind of jobs with its share. A type or a number of rows that is absent is that of the options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MixEntry {
    job_type: Option<String>,
    rows: Option<u64>,
    share: u64,
}

/// A mix as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MixSpec(Vec<MixEntry>);

/// The type and the size of a job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JobSpec {
    /// Job type.
    pub(super) job_type: String,
    /// Number of rows.
    pub(super) rows: u64,
}

/// Kinds of jobs with their shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mix {
    specs: Vec<(JobSpec, u64)>,
    /// Sum of the shares.
    shares: u64,
    /// Distance of two consecutive jobs in the list of shares, without a common divisor.
    step: u64,
}

/// Reads a mix. For clap.
pub(super) fn parse(text: &str) -> Result<MixSpec, String> {
    let entries: Vec<_> = text.split(',').map(parse_entry).collect::<Result<_, _>>()?;
    let shares: u64 = entries.iter().map(|entry| entry.share).sum();
    if shares > MAX_SHARES {
        return Err(format!("the sum of the shares is {shares}, and at most {MAX_SHARES} is possible"));
    }
    Ok(MixSpec(entries))
}

fn parse_entry(text: &str) -> Result<MixEntry, String> {
    let usage = || format!("{text:?}: write it as rows=1000:80 or type=mail+rows=50:20");
    let (spec, share) = text.trim().rsplit_once(':').ok_or_else(usage)?;
    let share = share.parse::<u64>().ok().filter(|share| (1..=MAX_SHARES).contains(share)).ok_or_else(usage)?;
    let mut entry = MixEntry { job_type: None, rows: None, share };
    for setting in spec.split('+') {
        match setting.split_once('=').ok_or_else(usage)? {
            ("type", job_type) if !job_type.is_empty() => entry.job_type = Some(job_type.to_owned()),
            ("rows", rows) => entry.rows = Some(parse_rows(rows)?),
            _ => return Err(usage()),
        }
    }
    Ok(entry)
}

/// Reads a number of rows. For clap.
pub(super) fn parse_rows(text: &str) -> Result<u64, String> {
    let rows = text.parse::<u64>().ok().filter(|rows| (1..=MAX_ROWS).contains(rows));
    rows.ok_or_else(|| format!("{text:?}: a job has 1 to {MAX_ROWS} rows"))
}

impl Mix {
    /// Creates a mix of one kind.
    pub(super) fn of_one(spec: JobSpec) -> Self {
        Self { specs: vec![(spec, 1)], shares: 1, step: 1 }
    }

    /// Creates a mix. Entries without a type or rows get those of `default`.
    pub(super) fn new(written: &MixSpec, default: &JobSpec) -> Self {
        let spec = |entry: &MixEntry| JobSpec {
            job_type: entry.job_type.clone().unwrap_or_else(|| default.job_type.clone()),
            rows: entry.rows.unwrap_or(default.rows),
        };
        let specs: Vec<_> = written.0.iter().map(|entry| (spec(entry), entry.share)).collect();
        let shares = specs.iter().map(|(_, share)| share).sum();
        Self { specs, shares, step: step(shares) }
    }

    /// Returns the kind of a job. In a run of as many jobs as there are shares, each kind has exactly its share, and
    /// the jobs of a kind are spread over the run.
    pub(super) fn spec(&self, number: u64) -> &JobSpec {
        let mut position = (number % self.shares) * self.step % self.shares;
        for (spec, share) in &self.specs {
            if position < *share {
                return spec;
            }
            position -= share;
        }
        // The shares add up to the sum, so that one of them was found.
        &self.specs[0].0
    }

    /// Returns the kinds with the number of their jobs in a run.
    pub(super) fn counts(&self, jobs: u64) -> Vec<(&JobSpec, u64)> {
        let mut counts: Vec<_> = self.specs.iter().map(|(spec, share)| (spec, jobs / self.shares * share)).collect();
        for number in 0..jobs % self.shares {
            let spec = self.spec(number);
            if let Some((_, count)) = counts.iter_mut().find(|(counted, _)| std::ptr::eq(*counted, spec)) {
                *count += 1;
            }
        }
        counts
    }

    /// Returns the kinds.
    pub(super) fn specs(&self) -> impl Iterator<Item = &JobSpec> {
        self.specs.iter().map(|(spec, _)| spec)
    }
}

/// Returns the first number from the golden section of `shares` on that has no common divisor with it.
fn step(shares: u64) -> u64 {
    let first = (shares as f64 * 0.618).ceil() as u64;
    (first.max(1)..).find(|step| divisor(*step, shares) == 1).unwrap_or(1)
}

/// Returns the greatest common divisor.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn default() -> JobSpec {
        JobSpec { job_type: "import".to_owned(), rows: 10 }
    }

    fn mix(text: &str) -> Mix {
        Mix::new(&parse(text).unwrap(), &default())
    }

    #[test]
    fn an_entry_has_a_share_and_what_it_names() {
        let mix = mix("rows=1000:80, type=mail+rows=50:15,type=mail:5");
        let specs: Vec<_> = mix.specs().map(|spec| (spec.job_type.as_str(), spec.rows)).collect();
        assert_eq!(specs, [("import", 1_000), ("mail", 50), ("mail", 10)]);
        let wrong = [
            "",
            "rows=1000",
            "rows=0:1",
            "rows=1:0",
            "rows=x:1",
            "size=1:1",
            "type=:1",
            "rows=1:1,",
            "rows=1:-1",
            ":1",
            "rows=1:9999,rows=2:2",
            "rows=10000001:1",
        ];
        for text in wrong {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_kind_has_exactly_its_share() {
        for text in ["rows=1:80,rows=2:20", "rows=1:1,rows=2:1", "rows=1:7,rows=2:3,rows=3:2", "rows=1:1"] {
            let mix = mix(text);
            let jobs = 3 * mix.shares;
            for (spec, count) in mix.counts(jobs) {
                let found = (0..jobs).filter(|number| mix.spec(*number) == spec).count() as u64;
                assert_eq!(found, count, "{text} {spec:?}");
            }
            let total: u64 = mix.counts(jobs + 1).iter().map(|(_, count)| count).sum();
            assert_eq!(total, jobs + 1);
        }
    }

    #[test]
    fn the_jobs_of_a_kind_are_spread() {
        let mix = mix("rows=1:80,rows=2:20");
        let large: Vec<_> = (0..100).filter(|number| mix.spec(*number).rows == 2).collect();
        assert_eq!(large.len(), 20);
        assert!(large.windows(2).all(|pair| pair[1] - pair[0] <= 8), "{large:?}");
    }

    #[test]
    fn a_mix_of_one_kind_has_no_other() {
        let mix = Mix::of_one(default());
        assert_eq!((mix.spec(7), mix.counts(5)), (&default(), vec![(&default(), 5)]));
    }
}
