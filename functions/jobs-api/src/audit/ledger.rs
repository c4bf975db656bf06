//! Compares a job's own numbers with its groups, and each group's with its manifest and cursors.
//!
//! Pure: works on the records as they were read, groups before the job. A group is one record, so its counts and
//! cursors are consistent at every moment, also while workers update them.

use longshore_domain::group::{ChunkPlan, Group, Manifest};
use longshore_domain::job::{Job, Status};
use longshore_domain::outcome::Counts;
use longshore_domain::progress;
use longshore_domain::results::ResultsForm;

use super::findings::Findings;

/// A job's records.
pub(super) struct Records {
    /// The job.
    pub(super) job: Job,
    /// Groups of all generations in order, each with its manifest if it exists.
    pub(super) groups: Vec<(Group, Option<Manifest>)>,
    /// Form of the results; `None` if the items have no output.
    pub(super) results: Option<ResultsForm>,
}

impl Records {
    /// Returns the groups that have a manifest, with their manifests.
    pub(super) fn planned(&self) -> impl Iterator<Item = (&Group, &Manifest)> {
        self.groups.iter().filter_map(|(group, manifest)| Some((group, manifest.as_ref()?)))
    }

    /// Makes every comparison that needs only the table.
    pub(super) fn check(&self, findings: &mut Findings) {
        for (group, manifest) in &self.groups {
            findings.count("manifests", place(group), 1, u64::from(manifest.is_some()));
        }
        for (group, manifest) in self.planned() {
            findings.count("group_items", place(group), manifest.items(), group.items);
            check_cursors(group, manifest, findings);
        }
        self.check_carried_over(findings);
        self.check_totals(findings);
        // A group that was committed after the groups were read is included in the job's numbers, but missing from
        // `groups`.
        if self.groups.len() < self.job.split.groups as usize && !self.job.status.is_final() {
            findings.mark_unchecked("item_count", "the file is still being split");
        } else {
            findings.count("groups", "job", self.job.split.groups.into(), self.groups.len() as u64);
            self.check_plan(findings);
        }
    }

    /// Checks that the carried-over counts of a retry are the succeeded and skipped items of the earlier generations.
    fn check_carried_over(&self, findings: &mut Findings) {
        let mut earlier = Counts::default();
        self.groups.iter().filter(|(group, _)| !self.job.owns(group.number)).for_each(|(g, _)| earlier += g.counts);
        findings.count("base_succeeded", "job", self.job.retry.carried_over.counts.succeeded, earlier.succeeded);
        findings.count("base_skipped", "job", self.job.retry.carried_over.counts.skipped, earlier.skipped);
    }

    /// Checks that the totals of an ended job are the sum of its groups.
    fn check_totals(&self, findings: &mut Findings) {
        let job = &self.job;
        let groups: Vec<_> = self.groups.iter().map(|(group, _)| group.clone()).collect();
        let found = progress::counts(job, &groups);
        let Some(totals) = job.completion.totals else {
            findings.at_most("progress", "job", job.split.item_count, found.done());
            return findings.mark_unchecked("totals", "the job has not ended");
        };
        findings.count("succeeded", "job", totals.succeeded, found.succeeded);
        findings.count("failed", "job", totals.failed, found.failed);
        findings.count("skipped", "job", totals.skipped, found.skipped);
        if job.status == Status::Completed {
            findings.count("completed_items", "job", job.split.item_count, found.done());
            let (own, done) = (
                job.split.groups.saturating_sub(job.retry.carried_over.groups),
                job.split.done_groups.range(job.retry.carried_over.groups..),
            );
            findings.count("done_groups", "job", own.into(), done.count() as u64);
        } else {
            findings.at_most("progress", "job", job.split.item_count, found.done());
        }
    }

    /// Checks that the chunks are contiguous: every item and every byte is in at most one chunk, and no item is
    /// missing. The bytes of a job with item files begin anew with each of them.
    fn check_plan(&self, findings: &mut Findings) {
        let (mut next, mut end, mut keys) = (1, 0, None);
        for (group, manifest) in self.planned().filter(|(_, manifest)| !manifest.chunks.is_empty()) {
            if self.is_replanned(manifest, next) {
                continue;
            }
            if self.is_replanned_by_import(manifest) {
                next = check_numbers(group, manifest, next, findings);
                continue;
            }
            findings.count("group_bytes", place(group), manifest.bytes(), group.bytes);
            for (number, chunk) in manifest.chunks.iter().enumerate() {
                let place = format!("chunk {number} of group {}", group.number);
                if keys != Some(&chunk.keys) {
                    (keys, end) = (Some(&chunk.keys), 0);
                }
                findings.count("item_numbers", &place, next, chunk.first);
                findings.at_most("byte_ranges", &place, chunk.start, end);
                findings.at_most("byte_ranges", &place, chunk.end, chunk.start);
                (next, end) = (chunk.first + u64::from(chunk.items), chunk.end);
            }
        }
        findings.count("item_count", "job", self.job.split.item_count, next - 1);
        if next > 1 && !self.job.has_item_files() {
            findings.count("split_offset", "job", self.job.split.offset, end);
        }
    }

    /// Returns true if the items of an undo's group are rows that a retry of its import replanned.
    pub(super) fn is_replanned_by_import(&self, manifest: &Manifest) -> bool {
        self.job.is_undo() && manifest.chunks.first().is_some_and(ChunkPlan::is_in_work_file)
    }

    /// Returns true if a retry replanned items that belonged to earlier chunks of the file.
    fn is_replanned(&self, manifest: &Manifest, next: u64) -> bool {
        self.job.generation > 0 && manifest.chunks.first().is_some_and(|chunk| chunk.first < next)
    }
}

/// Checks that the items of a group without ranges follow those before. Returns the number of the next item.
fn check_numbers(group: &Group, manifest: &Manifest, mut next: u64, findings: &mut Findings) -> u64 {
    for (number, chunk) in manifest.chunks.iter().enumerate() {
        let place = format!("chunk {number} of group {}", group.number);
        findings.count("item_numbers", &place, next, chunk.first);
        next = chunk.first + u64::from(chunk.items);
    }
    next
}

/// Checks that a group's counts match its cursors. In a later round, only the work files show the number of ended
/// items; then the counts are only checked for being at least the number that the other cursors show.
fn check_cursors(group: &Group, manifest: &Manifest, findings: &mut Findings) {
    let (mut ended, mut certain) = (0, true);
    for (chunk, plan) in (0..).zip(&manifest.chunks) {
        match ended_items(group, chunk, plan) {
            Some(items) => ended += items,
            None => certain = false,
        }
    }
    let counted = group.counts.done();
    if certain {
        findings.count("cursors", place(group), counted, ended);
    } else {
        findings.at_most("cursors", place(group), counted, ended);
    }
    findings.at_most("group_counts", place(group), group.items, counted);
    let unknown_cursors = group.cursors.range(u32::try_from(manifest.chunks.len()).unwrap_or(u32::MAX)..).count();
    findings.count("strange_cursors", place(group), 0, unknown_cursors as u64);
}

/// Returns the ended items of a chunk, or `None` if only its work files show them.
fn ended_items(group: &Group, chunk: u32, plan: &ChunkPlan) -> Option<u64> {
    match group.cursors.get(&chunk) {
        None => Some(0),
        Some(cursor) if cursor.finished => Some(plan.items.into()),
        Some(cursor) if cursor.round == 0 => Some(u64::from(cursor.position.saturating_sub(cursor.deferred))),
        Some(_) => None,
    }
}

pub(super) fn place(group: &Group) -> String {
    format!("group {}", group.number)
}
