//! A job type and its options, which read and process the items of a job.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use longshore_domain::job::{JobError, Tolerance};
use longshore_domain::records::Format;
use serde_json::Value;

use super::any_job_type::{AnyJobType, PreparedJob};
use super::options;
use super::processed::{Outputs, Processed, has_output};
use super::raw_item::{RawItem, Shape};
use super::{
    CellReader, CheckedHeader, Header, Input, ItemKey, ItemShape, JobContext, JobType, Outcome, Record, Rejection,
    ResultRow, TypeLimits,
};
use crate::field_error::FieldError;

/// Time limit for parsing records before the parsed ones are processed: a batch of records that are slow to parse must
/// not exceed the time of its worker.
const READ_TIME: Duration = Duration::from_secs(1);

/// Reason of items whose record was removed from its dataset while the job ran.
const REMOVED: &str = "removed";

impl<T: JobType> AnyJobType for Arc<T> {
    fn name(&self) -> &str {
        T::NAME
    }

    fn is_internal(&self) -> bool {
        T::INTERNAL
    }

    fn input(&self) -> Input {
        T::INPUT
    }

    fn item(&self) -> ItemShape {
        T::ITEM
    }

    fn limits(&self) -> TypeLimits {
        T::LIMITS
    }

    fn started(&self, options: &Value) -> Option<Value> {
        T::started(options)
    }

    fn is_undoable(&self, options: &Value) -> bool {
        T::is_undoable(options)
    }

    fn writes_records(&self, options: &Value) -> bool {
        T::writes_records(options)
    }

    fn prepare(&self, options: &Value) -> Result<Box<dyn PreparedJob>, Vec<FieldError>> {
        let (options, mut errors) = options::read::<T::Options>(options);
        let more = options.as_ref().map(|options| self.check(options)).unwrap_or_default();
        let more: Vec<_> = more.into_iter().filter(|error| !options::is_reported(&errors, &error.pointer)).collect();
        errors.extend(more);
        match options {
            Some(options) if errors.is_empty() => Ok(Box::new(Prepared { job_type: Arc::clone(self), options })),
            _ => Err(errors),
        }
    }
}

/// The error of each record, if it has one.
type Rejections = Vec<Option<Rejection>>;

struct Prepared<T: JobType> {
    job_type: Arc<T>,
    options: T::Options,
}

impl<T: JobType> Prepared<T> {
    fn read(&self, item: &RawItem<'_>, cells: &mut CellReader) -> Result<T::Item, Rejection> {
        match item.shape {
            Shape::Options(options) => self.job_type.read(&self.options, &Record::Options(options)),
            Shape::Stored(record) => self.job_type.read(&self.options, &Record::Stored(record)),
            Shape::Record { unterminated: true, .. } => Err(unterminated(item.number)),
            Shape::Record { format: Format::JsonLines, bytes, .. } => {
                self.job_type.read(&self.options, &Record::Line(bytes))
            }
            Shape::Record { format: Format::Csv, columns, bytes, .. } => {
                let record = Record::row(columns, bytes, cells.read(bytes))?;
                self.job_type.read(&self.options, &record)
            }
        }
    }

    async fn run(&self, job: &JobContext, items: &[RawItem<'_>], outputs: Outputs) -> Processed {
        let started = Instant::now();
        let (rejections, valid) = self.read_all(job, items, || started.elapsed() > READ_TIME);
        let mut processed =
            if valid.is_empty() { Vec::new() } else { self.job_type.process_batch(job, &self.options, valid).await }
                .into_iter();
        // Rejections and outcomes are merged in the order of the items. The first item without an outcome ends the
        // list, and so do outputs that fill it.
        let mut merged = Processed::with_capacity(rejections.len());
        for (item, rejection) in items.iter().zip(rejections) {
            match rejection.map(unreadable::<T, _>).or_else(|| processed.next()) {
                Some(outcome) if outputs == Outputs::Kept => merged.push(T::ROW, item.number, outcome),
                Some(outcome) => merged.push_without_output(outcome),
                None => break,
            }
            if merged.is_full() {
                break;
            }
        }
        merged
    }

    /// Parses records until `is_over`, at least one. Returns the error of each record, if any, and the items of the
    /// valid records.
    fn read_all(
        &self,
        job: &JobContext,
        items: &[RawItem<'_>],
        is_over: impl Fn() -> bool,
    ) -> (Rejections, Vec<(ItemKey, T::Item)>) {
        let mut cells = CellReader::default();
        let (mut rejections, mut valid) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
        for item in items {
            match self.read(item, &mut cells) {
                Ok(value) => {
                    valid.push((ItemKey { job_id: job.job_id, number: item.number }, value));
                    rejections.push(None);
                }
                Err(rejection) => rejections.push(Some(rejection)),
            }
            if is_over() {
                break;
            }
        }
        (rejections, valid)
    }
}

impl<T: JobType> PreparedJob for Prepared<T> {
    fn check_header(&self, header: &Header<'_>) -> Result<CheckedHeader, JobError> {
        self.job_type.check_header(&self.options, header)
    }

    fn tolerance(&self) -> Tolerance {
        self.job_type.tolerance(&self.options)
    }

    fn limits(&self) -> TypeLimits {
        T::LIMITS
    }

    fn removed(&self) -> Outcome {
        if T::REMOVED_IS_DONE && !has_output::<T::Output>() {
            return Outcome::Ok(());
        }
        Outcome::Skip { reason: REMOVED.to_owned() }
    }

    fn unreadable(&self, rejection: Rejection) -> Outcome {
        unreadable::<T, _>(rejection)
    }

    fn result_columns(&self) -> Option<(ResultRow, Vec<String>)> {
        has_output::<T::Output>().then(|| (T::ROW, self.job_type.result_columns(&self.options)))
    }

    fn check_item(&self, item: &RawItem<'_>, cells: &mut CellReader) -> Result<(), Rejection> {
        self.read(item, cells).map(drop)
    }

    fn run<'a>(
        &'a self,
        job: &'a JobContext,
        items: &'a [RawItem<'a>],
        outputs: Outputs,
    ) -> Pin<Box<dyn Future<Output = Processed> + Send + 'a>> {
        Box::pin(Prepared::run(self, job, items, outputs))
    }
}

fn unreadable<T: JobType, O>(rejection: Rejection) -> Outcome<O> {
    match T::SKIPS_UNREADABLE {
        Some(reason) => Outcome::Skip { reason: reason.to_owned() },
        None => Outcome::Reject(rejection),
    }
}

pub(crate) fn unterminated(number: u64) -> Rejection {
    let message = format!(
        "a quote that opens in row {number} is never closed, so the rest of the file was read as one cell; close or \
         double the quote"
    );
    Rejection::new("unterminated_quote", None, message)
}

#[cfg(test)]
mod tests {
    use longshore_domain::tenant::TenantId;
    use std::cell::Cell;
    use std::sync::Arc;

    use longshore_domain::ids::JobId;
    use serde_json::{Value, json};

    use super::{ItemKey, JobContext, JobType, Outcome, Prepared, RawItem, Shape};

    struct Accepting;

    impl JobType for Accepting {
        const NAME: &'static str = "accepting";
        type Options = Value;
        type Item = Value;
        type Output = ();

        async fn process(&self, _: &JobContext, _: &Value, _: ItemKey, _: Value) -> Outcome {
            Outcome::Ok(())
        }
    }

    #[test]
    fn at_least_one_record_is_read_before_the_time_is_over() {
        let prepared = Prepared { job_type: Arc::new(Accepting), options: json!({}) };
        let job = JobContext { job_id: JobId::generate(), tenant: TenantId::from_static("t"), dataset: None, round: 0 };
        let options = json!({});
        let items: Vec<_> = (1..=9).map(|number| RawItem { number, shape: Shape::Options(&options) }).collect();
        for (records, read) in [(0, 1), (1, 1), (4, 4), (20, 9)] {
            let checks = Cell::new(0);
            let is_over = || {
                checks.set(checks.get() + 1);
                checks.get() >= records
            };
            let (rejections, valid) = prepared.read_all(&job, &items, is_over);
            assert_eq!((rejections.len(), valid.len()), (read, read));
        }
    }
}
