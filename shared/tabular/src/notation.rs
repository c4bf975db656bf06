//! Detection of the notation of a column: that which fits all its cells.

/// The notation of a column, as far as its cells show it.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Detection<N> {
    /// Every cell has the same value in each notation that fits, or there is no cell.
    Irrelevant,
    /// This notation alone fits every cell.
    Found(N),
    /// Two notations fit every cell, or nearly every cell, and give different values.
    Ambiguous {
        /// A cell with different values.
        cell: String,
        /// The value of the cell in each of the two.
        readings: [(N, String); 2],
    },
    /// No notation fits every cell: for example, `13/1/2024` and `1/13/2024` in one column.
    Conflicting {
        /// Two cells that no notation fits together.
        cells: [String; 2],
    },
}

impl<N> Detection<N> {
    /// Replaces each notation by a part of it.
    pub(crate) fn map<M>(self, part: impl Fn(N) -> M) -> Detection<M> {
        match self {
            Self::Irrelevant => Detection::Irrelevant,
            Self::Found(notation) => Detection::Found(part(notation)),
            Self::Ambiguous { cell, readings } => {
                Detection::Ambiguous { cell, readings: readings.map(|(notation, value)| (part(notation), value)) }
            }
            Self::Conflicting { cells } => Detection::Conflicting { cells },
        }
    }
}

/// The cells that exclude a notation, in percent of those that it would change. Fewer do not exclude it.
const DECIDING_PERCENT: usize = 2;

/// Detects the notation of a column among `COUNT` ones. A cell that fits none is an error of its row, and ignored.
#[derive(Clone, Debug)]
pub(crate) struct NotationDetector<N, const COUNT: usize> {
    notations: [N; COUNT],
    parse: fn(&str, N) -> Option<String>,
    /// For each notation, the first cell that does not fit it, and the number of such cells.
    excluded_by: [(Option<String>, usize); COUNT],
    /// For each two notations, the first cell with different values, and the number of such cells.
    different: [[(Option<String>, usize); COUNT]; COUNT],
    fitting: usize,
}

impl<N: Copy, const COUNT: usize> NotationDetector<N, COUNT> {
    /// Creates a detector for these notations, and the function that returns the value of a cell in one.
    pub(crate) const fn new(notations: [N; COUNT], parse: fn(&str, N) -> Option<String>) -> Self {
        Self {
            notations,
            parse,
            excluded_by: [const { (None, 0) }; COUNT],
            different: [const { [const { (None, 0) }; COUNT] }; COUNT],
            fitting: 0,
        }
    }

    /// Takes a cell.
    pub(crate) fn observe(&mut self, cell: &str) {
        let values = self.notations.map(|notation| (self.parse)(cell, notation));
        if values.iter().all(Option::is_none) {
            return;
        }
        self.fitting += 1;
        let keep = |kept: &mut Option<String>| _ = kept.get_or_insert_with(|| cell.to_owned());
        for (first, value) in values.iter().enumerate() {
            let Some(value) = value else {
                keep(&mut self.excluded_by[first].0);
                self.excluded_by[first].1 += 1;
                continue;
            };
            for (second, other) in values.iter().enumerate() {
                if other.as_ref().is_some_and(|other| other != value) {
                    keep(&mut self.different[first][second].0);
                    self.different[first][second].1 += 1;
                }
            }
        }
    }

    /// Returns the number of cells that fit at least one notation.
    pub(crate) fn fitting(&self) -> usize {
        self.fitting
    }

    /// Returns the notation, as far as the cells show it. Few cells do not decide for many that fit another notation,
    /// too: they may be wrong.
    pub(crate) fn detect(&self) -> Detection<N> {
        let fits = |index: usize| self.excluded_by[index].1 == 0;
        let fitting: Vec<usize> = (0..COUNT).filter(|index| fits(*index)).collect();
        let pairs = fitting.iter().flat_map(|first| (0..COUNT).map(move |second| (*first, second)));
        let mut doubtful = pairs.filter_map(|(first, second)| {
            let (cell, cells) = &self.different[first][second];
            let is_doubtful = self.excluded_by[second].1 * 100 < cells * DECIDING_PERCENT;
            Some((first, second, cell.as_ref().filter(|_| is_doubtful)?))
        });
        match (&fitting[..], doubtful.next()) {
            ([], _) => self.conflict(),
            (_, Some((first, second, cell))) => {
                let reading = |index: usize| {
                    let notation = self.notations[index];
                    (notation, (self.parse)(cell, notation).unwrap_or_default())
                };
                Detection::Ambiguous { cell: cell.clone(), readings: [reading(first), reading(second)] }
            }
            ([only], None) => Detection::Found(self.notations[*only]),
            (_, None) => Detection::Irrelevant,
        }
    }

    /// Returns two of the cells that exclude all notations.
    fn conflict(&self) -> Detection<N> {
        let mut cells = self.excluded_by.iter().filter_map(|(cell, _)| cell.as_ref());
        let first = cells.next().cloned().unwrap_or_default();
        let second = cells.find(|cell| **cell != first).cloned().unwrap_or_else(|| first.clone());
        Detection::Conflicting { cells: [first, second] }
    }
}
