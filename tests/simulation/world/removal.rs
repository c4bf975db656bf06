//! The removal of an import while its undo is previewed. It is not atomic: the import is marked, then its files are
//! removed one after the other, then its groups and manifests, and the job last. A sweep can stop between any two of
//! them, and a later one continues.

use std::iter::once;

use longshore::ports::{JobFolder, upload_key};
use longshore_domain::ids::FileGuid;
use longshore_domain::ports::{Removal, UploadRelease};
use longshore_testing::{JobItem, MemoryFiles};

use super::acts::Act;
use super::{World, now};

/// A part of an import that is removed at once.
#[derive(Debug)]
enum Part {
    /// Nothing: the import is marked as deleted.
    Mark,
    File(String),
    Upload(FileGuid),
    Item(JobItem),
}

/// The moments of a removal.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Removals {
    /// Number of parts that are removed first.
    pub(crate) parts: usize,
    /// Number of steps of the preview before these are removed.
    pub(crate) first: usize,
    /// Number of further steps before the other parts are removed.
    pub(crate) then: usize,
}

impl World {
    /// Previews the undo of an import that ended long ago, and removes the import meanwhile. Returns true if the preview
    /// had ended before the last parts were removed.
    pub(crate) fn remove_during_preview(&mut self, at: Removals) -> bool {
        self.pass((self.environment.stall_s + 10) * 1_000);
        self.begin_request(Act::Preview);
        let mut parts = self.parts();
        assert!(at.parts <= parts.len(), "the import has only {} parts", parts.len());
        let others = parts.split_off(at.parts);
        let ended_first = self.any_steps(at.first);
        parts.iter().for_each(|part| self.remove_part(part));
        let has_ended = ended_first || self.any_steps(at.then);
        others.iter().for_each(|part| self.remove_part(part));
        self.customer_mut().expired = None;
        assert_eq!(self.stored(), None, "the import is removed");
        has_ended
    }

    /// All parts of the current job, in the order of their removal.
    fn parts(&self) -> Vec<Part> {
        let (job, prefix) = (self.job(), JobFolder::for_job(&self.job()).prefix());
        let files = self.file_keys().into_iter().filter(|key| key.starts_with(&prefix)).map(Part::File);
        let uploads = job.uploads().into_iter().map(Part::Upload);
        let groups = (0..job.split.groups).map(JobItem::Group);
        let items = groups.chain((0..job.split.groups).map(JobItem::Manifest)).chain([JobItem::Job]);
        once(Part::Mark).chain(files).chain(uploads).chain(items.map(Part::Item)).collect()
    }

    fn remove_part(&mut self, part: &Part) {
        let id = self.customer().id;
        match part {
            Part::Mark => {
                let paused = std::mem::take(&mut self.tasks);
                self.begin_request(Act::Delete);
                self.run_tasks();
                self.tasks.extend(paused);
                // Clients no longer see it, so no response about it is checked.
                self.customer_mut().expired = Some(None);
            }
            Part::File(key) => MemoryFiles::remove(&self.files, key),
            Part::Upload(upload) => {
                if now(self.store.release_upload(id, *upload)).unwrap() == UploadRelease::RemoveFile {
                    MemoryFiles::remove(&self.files, &upload_key(&self.job().tenant, *upload));
                }
            }
            Part::Item(item) => self.store.expire(id, *item),
        }
    }

    /// Runs steps of requests and functions, one after the other. Returns true if there were fewer.
    fn any_steps(&mut self, steps: usize) -> bool {
        for _ in 0..steps {
            if self.tasks.is_empty() && !self.deliver_all() {
                return true;
            }
            self.steps(0, 1);
        }
        false
    }
}
