//! The estimated cost of a new job, and the smallest maximum of its cost.

use longshore::field_error::FieldError;
use longshore::problem::Problem;
use longshore_domain::cost::{CostEstimate, EstimatedCost, SourceEstimate, min_max_cost};
use longshore_domain::job::{Job, Source};
use longshore_domain::records::is_compressed_name;
use longshore_domain::split::ChunkLimits;

/// Inputs of an estimate besides the source of the job.
#[derive(Copy, Clone, Debug)]
pub(super) struct EstimateBasis {
    /// Number of items, if it is known.
    pub(super) items: Option<u64>,
    /// Limits of the chunks of the job type.
    pub(super) limits: ChunkLimits,
    /// True if each item becomes a record.
    pub(super) writes_records: bool,
}

impl EstimateBasis {
    /// Returns the estimate for a new job with this source. A job over a dataset has none, nor one over a compressed file
    /// or a workbook: the number of the items is not known, and the size tells nothing about it.
    pub(super) fn estimate(self, source: Option<&Source>) -> Option<EstimatedCost> {
        let Self { items, limits, writes_records } = self;
        let source = match (source?, items) {
            (Source::File(file), None) if is_compressed_name(&file.name) => return None,
            (Source::File(file), items) => SourceEstimate::File { bytes: file.size_bytes, items },
            (Source::Job(_), Some(items)) => SourceEstimate::Copied { items },
            (Source::Job(_) | Source::Dataset(_), _) => return None,
        };
        Some(CostEstimate { source, limits, writes_records }.estimated())
    }
}

/// Checks that the maximum cost of a new job covers its split and its end.
///
/// # Errors
/// 422 at `/maxCost`: `max_cost_too_low`.
pub(super) fn check_covers_split(job: &Job, limits: ChunkLimits) -> Result<(), Problem> {
    let smallest = min_max_cost(job, limits);
    if job.tolerance.max_cost.is_none_or(|max| max >= smallest) {
        return Ok(());
    }
    let detail = format!(
        "maxCost must be at least ${:.6} for this job: its split and its report cost as much, without any item",
        smallest.dollars()
    );
    Err(Problem::invalid(vec![FieldError::new("/maxCost", "max_cost_too_low", detail)]))
}

#[cfg(test)]
mod tests {
    use longshore::handler::TypeLimits;
    use longshore_domain::cost::NanoDollars;
    use longshore_domain::ids::JobId;
    use longshore_domain::job::{DatasetSource, Part, PartSource, SourceFile, Tolerance};
    use longshore_domain::ports::FileInfo;
    use longshore_domain::records::Format;
    use longshore_domain::tenant::TenantId;
    use longshore_domain::timestamp::Timestamp;

    use super::*;

    fn basis(items: Option<u64>) -> EstimateBasis {
        EstimateBasis { items, limits: TypeLimits::DEFAULT.chunk(), writes_records: true }
    }

    fn items(source: Option<Source>, items: Option<u64>) -> Option<(u64, Option<u64>)> {
        let estimate = basis(items).estimate(source.as_ref())?;
        assert!(estimate.cost.total() > NanoDollars(0));
        Some((estimate.items, estimate.assumed_item_bytes))
    }

    #[test]
    fn a_maximum_below_the_cost_of_split_and_end_is_refused_with_the_smallest_amount() {
        let limits = TypeLimits::DEFAULT.chunk();
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(0));
        let check = |max_cost| {
            let tolerance = Tolerance { max_cost, ..Tolerance::default() };
            check_covers_split(&Job { tolerance, ..job.clone() }, limits)
        };
        let smallest = min_max_cost(&job, limits);
        assert!(check(None).is_ok() && check(Some(smallest)).is_ok());
        let problem = check(Some(NanoDollars(smallest.0 - 1))).unwrap_err();
        let error = &problem.errors[0];
        assert_eq!((error.pointer.as_str(), error.code.as_str()), ("/maxCost", "max_cost_too_low"));
        assert!(error.detail.contains(&format!("${:.6} ", smallest.dollars())), "{}", error.detail);
    }

    #[test]
    fn a_job_over_a_file_or_a_part_of_another_job_has_an_estimate() {
        let info = FileInfo { size_bytes: 4_000, etag: "e".into() };
        let file = || Some(Source::File(SourceFile::new("k", info.clone(), Format::JsonLines, "f")));
        assert_eq!(items(file(), None), Some((20, Some(200))));
        assert_eq!(items(file(), Some(100)), Some((100, None)), "items of the request, or of a validation");
        for name in ["f.csv.gz", "f.jsonl.zst", "F.ZIP", "f.xlsx"] {
            let file = || Some(Source::File(SourceFile::new("k", info.clone(), Format::Csv, name)));
            assert_eq!(items(file(), None), None, "{name}");
            assert_eq!(items(file(), Some(100)), Some((100, None)), "{name}, once it was validated");
        }
        let part = PartSource {
            job_id: JobId::generate(),
            part: Part::Failed,
            generation: 0,
            format: Format::JsonLines,
            name: "f".into(),
        };
        assert_eq!(items(Some(Source::Job(part)), Some(7)), Some((7, Some(200))));
        let dataset = serde_json::from_value::<DatasetSource>(serde_json::json!({ "dataset": "people" })).unwrap();
        assert_eq!(items(Some(Source::Dataset(dataset)), None), None);
        assert_eq!(items(None, None), None);
    }
}
