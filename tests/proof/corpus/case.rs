//! A file of the corpus, and a job over it.

/// A file.
#[derive(Clone, Debug)]
pub(super) struct File {
    /// What is nasty about it; no two files of a set have the same name.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    pub(super) format: Format,
    /// Rows of JSON that fail; those of CSV are seen by their cells.
    pub(super) bad_lines: Vec<u64>,
    /// What its jobs do, if it is made for one kind of job.
    pub(super) work: Option<Work>,
    /// How its jobs end.
    pub(super) end: End,
}

/// How the rows are written.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Format {
    Csv,
    JsonLines,
}

/// What a job does with the rows of a file.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Work {
    /// An import that writes every row.
    Upsert,
    /// An import that overwrites nothing.
    Insert,
    /// An import that only checks.
    Validate,
    /// A job whose rows say what becomes of them.
    Probe,
}

/// How a job over a file ends.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum End {
    /// Every row ends.
    Whole,
    /// The file is refused with this code, before its first row.
    Refused(&'static str),
    /// The job tolerates no failed row and has one, or a row stops it: it fails with this code.
    Stopped(&'static str),
    /// It is canceled as soon as it is there.
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
        Self { name, bytes, format: Format::Csv, bad_lines: Vec::new(), work: None, end: End::Whole }
    }

    pub(super) fn json_lines(name: &str, bytes: impl Into<Vec<u8>>, bad: &[u64]) -> Self {
        Self { format: Format::JsonLines, bad_lines: bad.to_vec(), ..Self::csv(name, bytes) }
    }

    /// The same for one kind of job.
    pub(super) fn only(self, work: Work) -> Self {
        Self { work: Some(work), ..self }
    }

    /// The same with jobs that end so.
    pub(super) fn ends(self, end: End) -> Self {
        Self { end, ..self }
    }

    /// The name by which it is uploaded.
    pub(super) fn upload_name(&self) -> &'static str {
        match self.format {
            Format::Csv => "file.csv",
            Format::JsonLines => "file.jsonl",
        }
    }

    /// The jobs over the `n`th file: one to its end, each kind of job in turn, and of every third file one that is
    /// canceled at once, so that completion reads for itself what was never split.
    pub(super) fn runs(&self, n: usize) -> Vec<Run<'_>> {
        let turn = [Work::Upsert, Work::Insert, Work::Validate][n / 3 % 3];
        let run = Run { file: self, work: self.work.unwrap_or(turn), end: self.end };
        let canceled = Run { end: End::Canceled, ..run.clone() };
        if self.end == End::Whole && n.is_multiple_of(3) { vec![run, canceled] } else { vec![run] }
    }
}
