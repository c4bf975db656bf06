//! Undos of imports, and previews of them: clients request them from the real API, at any time and concurrently with
//! other requests.

use longshore_domain::dataset::Dataset;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Selection, Status, UndoneImport};
use longshore_domain::ports::JobStore;
use longshore_domain::tenant::TenantId;

use super::acts::Act;
use super::state::{Customer, Seen};
use super::{World, now};
use crate::faults::count_fault;
use crate::kinds::Kind;
use crate::plan::ActionRates;
use crate::rows::ACTIONS;
use crate::{imports, lineage, report};

/// Events in which undos or previews are requested and run with faults.
const EVENTS: usize = 200;

/// What runs during a paused request.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum What {
    /// Another request.
    Request,
    /// Another request, and everything that follows from it.
    Follows,
}

impl World {
    /// Lets clients preview the undos of ended imports, and undo them, some of them concurrently with another request.
    /// Returns false if none is undone.
    pub(crate) fn undo_imports(&mut self) -> bool {
        let is_undoable = |world: &mut Self| {
            world.customer().action_rates.undos > 0
                && world.customer().expired.is_none()
                && world.stored().is_some_and(|job| job.is_undoable())
        };
        if self.all(|world| !is_undoable(world)) || !self.rng.often(700) {
            return false;
        }
        // Only a preview begins before the stall time.
        for (act, rate, wait_s) in [(Act::Preview, 300, 0), (Act::Undo, 700, self.environment.stall_s + 10)] {
            self.pass(wait_s * 1_000);
            self.each(|world| {
                if is_undoable(world) && world.rng.often(rate) {
                    world.request_with_another(act.clone());
                }
            });
            let events = self.rng.below(EVENTS);
            self.run_events(events);
        }
        true
    }

    /// Begins a request about an ended import, and often a concurrent one.
    fn request_with_another(&mut self, act: Act) {
        self.begin_request(act);
        match self.rng.weighted(&[45, 12, 15, 12, 8, 8]) {
            1 => self.begin_request(Act::Undo),
            2 => self.begin_request(Act::Preview),
            3 => self.begin_request(self.retry_of_all()),
            4 => self.begin_request(Act::Delete),
            5 => self.begin_request(Act::Replay),
            _ => {}
        }
    }

    /// Splits the file, and cancels the job when some of its chunks are worked.
    pub(crate) fn cancel_after_the_split(&mut self) {
        self.deliver_all();
        self.run_tasks();
        self.deliver_all();
        self.step(0);
        self.steps(0, 30);
        self.cancel();
    }

    /// Begins a request. After `steps` of its steps, another one runs to its end, and with `What::Follows` also what
    /// follows from it.
    pub(crate) fn interrupt(&mut self, steps: usize, [first, second]: [Act; 2], what: What) {
        self.pass((self.environment.stall_s + 10) * 1_000);
        self.begin_request(first);
        self.steps(0, steps);
        let paused = std::mem::take(&mut self.tasks);
        self.begin_request(second);
        self.run_tasks();
        if what == What::Follows {
            self.run_until_idle();
        }
        self.tasks.extend(paused);
        self.run_tasks();
    }

    /// A retry of the job as it has ended.
    pub(crate) fn retry_of_all(&self) -> Act {
        Act::Retry { generation: self.job().generation, selection: Box::new(Selection::All) }
    }

    /// Returns true if a job is deleted or removed.
    pub(super) fn is_gone(&self, id: JobId) -> bool {
        now(self.store.job(id)).unwrap().is_none_or(|job| job.is_deleted())
    }

    fn is_active(&self, id: JobId) -> bool {
        now(self.store.job(id)).unwrap().is_some_and(|job| !job.status.is_final())
    }

    /// Checks that an import changes only as its undo allows: it has at most one active undo, which begins after the
    /// stall time, and it is neither reopened after its mark nor deleted during its undo.
    pub(super) fn check_mark(&self, before: &Job, job: &Job) {
        let (was, is) = (before.undo.undone_by, job.undo.undone_by);
        if job.is_deleted() && !before.is_deleted() {
            assert!(was.is_none_or(|undo| !self.is_active(undo)), "an import was deleted during its undo: {job:?}");
        }
        let is_same_generation = before.generation == job.generation;
        assert!(was.is_none() || is_same_generation, "an import was reopened after its undo: {job:?}");
        if was == is {
            return;
        }
        assert!(
            before.status.is_final() && is_same_generation && !before.is_deleted(),
            "an import was marked: {job:?}"
        );
        assert!(was.is_none_or(|undo| !self.is_active(undo)), "an import has two active undos: {job:?}");
        let undo = is.and_then(|undo| now(self.store.job(undo)).unwrap()).expect("the undo is stored with the mark");
        let undoes = UndoneImport { job_id: job.job_id, groups: job.split.groups, preview: false };
        assert_eq!(undo.undo.undoes, Some(undoes), "the undo is of the import as it has ended");
        let ended = job.times.finished_at.expect("a job that has ended");
        let begins = ended.plus_seconds(self.environment.stall_s);
        assert!(undo.times.created_at >= begins, "an undo has begun before the stall time: {undo:?}");
    }

    /// Makes the undo of the current job a job of the world, with the same client.
    pub(super) fn adopt_undo(&mut self, import: &Job) {
        let Some(id) = import.undo.undone_by.filter(|id| self.customers.iter().all(|other| other.id != *id)) else {
            return;
        };
        count_fault("undo begun");
        self.adopt(id, import);
    }

    /// Makes an undo of an import, or a preview, a job of the world, with the client of the import.
    pub(super) fn adopt(&mut self, id: JobId, import: &Job) {
        let changes = lineage::changes(&self.dataset_of(import.job_id));
        let undoes = now(self.store.job(id)).unwrap().and_then(|job| job.undo.undoes);
        // While a preview is requested, the import can be retried, which continues its split.
        let is_as_read = undoes.is_some_and(|of| of.groups == import.split.groups);
        let is_whole = is_as_read && import.item_count_final();
        let Customer { tenant, dialect, action_rates, expires, ref possible, .. } = *self.customer_of(import.job_id);
        // Each retry has filed at most all rows again. A row can have any action, because it may be corrected.
        let rows = possible.len() * (1 + import.generation as usize);
        self.customers.push(Customer {
            id,
            tenant,
            kind: Kind::Undo,
            dialect,
            is_compressed: false,
            action_rates: ActionRates { corrects: 0, undos: 0, ..action_rates },
            seen: Seen::default(),
            expired: None,
            expires,
            changes,
            least: if is_whole { possible.len() } else { 0 },
            possible: vec![(1 << ACTIONS.len()) - 1; rows],
            corrected: Default::default(),
        });
    }

    /// The client of an import.
    pub(super) fn customer_of(&self, import: JobId) -> &Customer {
        self.customers.iter().find(|customer| customer.id == import).expect("the import is of the world")
    }

    /// The dataset of an import.
    pub(super) fn dataset_of(&self, import: JobId) -> Dataset {
        let Customer { tenant, kind, .. } = self.customer_of(import);
        imports::dataset(TenantId::from_static(tenant), kind.rule().expect("an import has a rule"))
    }

    /// Checks that nothing of the import is left for the keys of which no row is in the report of its completed undo,
    /// that the undo has changed only what the import wrote, and the reasons of the rows that it skipped. A preview
    /// leaves everything.
    pub(super) fn check_undone(&self, undo: &Job) {
        let UndoneImport { job_id: import, preview, .. } = undo.undo.undoes.expect("an undo has an import");
        let of = self.dataset_of(import);
        if undo.split.item_count as usize > self.customer_of(import).possible.len() {
            count_fault("undo of rows filed again");
        }
        let files = ["failed.csv", "skipped.csv", "unprocessed.csv"].map(|name| self.report_rows(name));
        for key in ACTIONS {
            let is_listed = files.iter().any(|rows| rows.values().any(|action| action == key));
            let is_undone = undo.status == Status::Completed && !preview && !is_listed;
            assert!(!is_undone || !lineage::remains(&of, key, import), "the undone import has left {key}: {undo:?}");
            let is_of_import = |(by, removed)| by != undo.job_id || removed == import;
            assert!(
                lineage::undone(&of, key).into_iter().all(is_of_import),
                "the undo has removed a version of another job"
            );
        }
        let [_, skipped, _] = &files;
        for (row, reason) in report::reasons(&self.files, undo) {
            if skipped[&row] == report::GONE {
                continue;
            }
            let holder = self.kinds.records.versions(&of).get(&skipped[&row]).and_then(|version| version.writer);
            let writers: Vec<_> = lineage::writers(&of, &skipped[&row]).into_iter().chain(holder).collect();
            let is_explained = match reason.as_str() {
                "not_written" => writers.iter().any(|writer| writer.job < import),
                "changed_since" => {
                    let by_undo = |(by, _)| by > undo.job_id;
                    writers.iter().any(|writer| writer.job > import)
                        || lineage::undone(&of, &skipped[&row]).into_iter().any(by_undo)
                }
                _ => false,
            };
            assert!(is_explained, "row {row} was skipped with {reason}: {writers:?}");
        }
    }
}
