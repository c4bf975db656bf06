//! Links to the files of a job's report.

use longshore::http::Failure;
use longshore::ports::report_key;
use longshore::receipt::{RECEIPT_NAME, Receipt, download_name};
use longshore::result::{ReportFile, ReportFiles, ResultDocument};
use longshore_domain::job::Job;
use longshore_domain::ports::{DownloadUrls, PortResult};
use longshore_domain::timestamp::Timestamp;

use crate::jobs::links::output_path;

use super::document::{FileLink, FileLinks, OutputDocument, ReceiptLink};

/// Lifetime of a link in seconds: long enough for a click, too short to be shared.
pub(super) const LINK_SECONDS: i64 = 15 * 60;

/// Signs links to the files of a job's report.
pub(crate) struct Linker<'a, F> {
    pub(crate) files: &'a F,
    pub(crate) job: &'a Job,
    pub(crate) now: Timestamp,
}

impl<F: DownloadUrls> Linker<'_, F> {
    /// Creates the response document.
    pub(super) async fn document(
        &self,
        result: ResultDocument,
        receipt: Option<Receipt>,
    ) -> Result<OutputDocument, Failure> {
        let ReportFiles { failed, skipped, unprocessed, results, results_index } = result.files;
        let files = FileLinks {
            failed: self.optional_link(failed).await?,
            skipped: self.optional_link(skipped).await?,
            unprocessed: self.optional_link(unprocessed).await?,
            results: self.optional_link(results).await?,
            results_index: self.optional_link(results_index).await?,
        };
        Ok(OutputDocument {
            job_id: result.job_id,
            job_type: result.job_type,
            status: result.status,
            item_count: result.item_count,
            counts: result.counts,
            failures_by_code: result.failures_by_code.into_counts(),
            timings: result.timings,
            error: result.error,
            issues: result.issues,
            files,
            receipt: match receipt {
                Some(document) => Some(self.receipt(document).await?),
                None => None,
            },
        })
    }

    async fn receipt(&self, document: Receipt) -> PortResult<ReceiptLink> {
        let key = report_key(self.job, RECEIPT_NAME);
        Ok(ReceiptLink { url: self.url(&key).await?, expires_at: self.expires_at(), document })
    }

    async fn optional_link(&self, file: Option<ReportFile>) -> PortResult<Option<FileLink>> {
        match file {
            Some(file) => Ok(Some(self.link(file).await?)),
            None => Ok(None),
        }
    }

    /// Creates a link to a file.
    pub(crate) async fn link(&self, ReportFile { key, rows }: ReportFile) -> PortResult<FileLink> {
        let name = key.rsplit('/').next().unwrap_or(&key).to_owned();
        let href = format!("{}/{name}", output_path(self.job.job_id));
        Ok(FileLink { name, href, url: self.url(&key).await?, rows, expires_at: self.expires_at() })
    }

    async fn url(&self, key: &str) -> PortResult<String> {
        let name = download_name(self.job, key.rsplit('/').next().unwrap_or(key));
        self.files.download_url(key, &name, LINK_SECONDS.unsigned_abs()).await
    }

    fn expires_at(&self) -> String {
        self.now.plus_seconds(LINK_SECONDS).to_rfc3339()
    }
}
