//! A file of the corpus, and a job over it.

/// A file with its expected outcome.
#[derive(Clone, Debug)]
pub(super) struct File {
    /// Description of the file's oddity. File names are unique within a set.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    pub(super) format: Format,
    /// Numbers of the failing rows of a JSON file. Those of a CSV file are derived from its cells.
    pub(super) bad_lines: Vec<u64>,
    /// The kind of job for which the file is made; `None` for every kind.
    pub(super) work: Option<Work>,
    /// Expected end of the file's jobs.
    pub(super) end: End,
}

/// Syntax of the rows.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Format {
    Csv,
    JsonLines,
}

/// Processing of a file's rows by a job.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Work {
    /// An import that writes every row.
    Upsert,
    /// An import that overwrites nothing.
    Insert,
    /// An import that only checks.
    Validate,
    /// A job whose rows name their own outcome.
    Probe,
}

/// Expected end of a job over a file.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum End {
    /// Every row is processed.
    Completed,
    /// The file is refused with this code, before its first row.
    Refused(&'static str),
    /// The job fails with this code: a row fails and none is tolerated, or a row stops the job.
    Stopped(&'static str),
    /// The job is canceled as soon as it exists.
    Canceled,
}

/// One job over one file.
#[derive(Clone, Debug)]
pub(super) struct Run<'a> {
    pub(super) file: &'a File,
    pub(super) work: Work,
    pub(super) end: End,
}

impl File {
    pub(super) fn csv(name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        let (name, bytes) = (name.to_owned(), bytes.into());
        Self { name, bytes, format: Format::Csv, bad_lines: Vec::new(), work: None, end: End::Completed }
    }

    pub(super) fn json_lines(name: &str, bytes: impl Into<Vec<u8>>, bad: &[u64]) -> Self {
        Self { format: Format::JsonLines, bad_lines: bad.to_vec(), ..Self::csv(name, bytes) }
    }

    /// The same file, for one kind of job.
    pub(super) fn only(self, work: Work) -> Self {
        Self { work: Some(work), ..self }
    }

    /// The same file with this expected end.
    pub(super) fn ends(self, end: End) -> Self {
        Self { end, ..self }
    }

    /// The name under which the file is uploaded.
    pub(super) fn upload_name(&self) -> &'static str {
        match self.format {
            Format::Csv => "file.csv",
            Format::JsonLines => "file.jsonl",
        }
    }

    /// The jobs over the `n`th file. One runs to its end; the kinds of jobs alternate. Every third file has another job
    /// that is canceled at once, so that completion reads the rows that were never split.
    pub(super) fn runs(&self, n: usize) -> Vec<Run<'_>> {
        let alternating = [Work::Upsert, Work::Insert, Work::Validate][n / 3 % 3];
        let run = Run { file: self, work: self.work.unwrap_or(alternating), end: self.end };
        let canceled = Run { end: End::Canceled, ..run.clone() };
        if self.end == End::Completed && n.is_multiple_of(3) { vec![run, canceled] } else { vec![run] }
    }
}
