//! Ended jobs whose failed items are the items of the world's jobs. A client can delete them at any time.

use longshore_domain::job::{Job, JobTimes, Part, PartSource, Source};
use longshore_domain::ports::{Definition, JobTransitions};
use longshore_testing::{EndedItems, ItemEnd, end_job};
use serde_json::json;

use super::{World, now};
use crate::clock::clock;
use crate::faults;
use crate::plan::JobPlan;
use crate::rows::{Dialect, file_of};
use crate::unguarded::stored_key;

/// Items of a chunk of an ended job, and chunks of a group.
const CHUNK_ITEMS: usize = 4;
const GROUP_CHUNKS: usize = 2;

impl World {
    /// Stores a job in which the rows of the plan have failed, between others that succeeded, and returns its failed
    /// items as a source.
    pub(super) fn end_source(&mut self, plan: &JobPlan) -> Source {
        // The record of a row is its line, in the syntax that the dialect has without its line ends.
        let dialect = Dialect { bom: false, crlf: false, open_end: false, ..plan.dialect };
        let file = file_of(&plan.rows, dialect);
        let (header, rows) = match dialect.json_lines {
            true => (String::new(), file.as_str()),
            false => file.split_once('\n').map(|(header, rows)| (format!("{header}\n"), rows)).expect("a header"),
        };
        let columns = (!dialect.json_lines).then(|| header.trim_end().split(',').map(str::to_owned).collect());
        let failed: Vec<_> = rows.lines().map(|row| (row.to_owned(), ItemEnd::Failed)).collect();
        let with_others = failed.chunks(CHUNK_ITEMS).map(|chunk| {
            let other = (chunk[0].0.clone(), ItemEnd::Ok(None));
            [vec![other], chunk.to_vec()].concat()
        });
        let chunks: Vec<_> = with_others.collect();
        let groups = chunks.chunks(GROUP_CHUNKS).map(<[_]>::to_vec).collect();
        let items = EndedItems { header, groups, rest: String::new() };
        let job = self.new_job(plan);
        let expires_at = i64::MAX;
        let job = Job { times: JobTimes { expires_at, ..job.times.clone() }, ..job };
        let definition = Definition { columns, ..Definition::new(json!({})) };
        let ended = now(end_job(&self.store, &self.files, job, &definition, &items));
        self.sources.insert(ended.job_id);
        for key in self.files.keys().into_iter().filter(|key| stored_key(key) != *key) {
            self.files.put(&stored_key(&key), self.files.get(&key).expect("the file exists"));
        }
        let format = ended.record_format().expect("the job has a file");
        let name = "file".to_owned();
        Source::Job(PartSource { job_id: ended.job_id, part: Part::Failed, generation: 0, format, name })
    }

    /// Deletes the job whose items the current job copies.
    pub(super) fn delete_source(&self) {
        let Some(job) = self.stored() else { return };
        if let Some(part) = job.part() {
            faults::count_fault("source deleted");
            now(self.store.delete(part.job_id, clock())).unwrap();
        }
    }

    /// Returns true if the job whose items a job copies, or the import of a preview, is deleted or removed.
    pub(super) fn has_lost_source(&self, job: &Job) -> bool {
        job.part().is_some_and(|part| self.is_gone(part.job_id)) || self.has_lost_import(job)
    }
}
