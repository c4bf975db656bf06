//! The steps of the calls that change an import that has ended, and their sentences.

use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, MarkUndone, Reopen, Selection, Transition};
use longshore_domain::timestamp::Timestamp;
use uuid::Uuid;

use crate::small::Small;
use crate::undo_calls::{Action, Call, Calls, Flaw, State, Undo};

impl Calls {
    /// Does the next step of a call.
    pub(crate) fn advance(&self, state: &mut State, call: Call) {
        match call {
            Call::LookBeforeUndo(read) | Call::LookBeforeDelete(read) if state.is_active(read.undo.undone_by) => {}
            Call::LookBeforeUndo(_) if self.flaw == Flaw::CheckedBeforeRead => {
                state.calls.push(Call::Mark(state.import.clone()));
            }
            Call::LookBeforeUndo(read) => state.calls.push(Call::Mark(read)),
            Call::LookBeforeDelete(read) => state.calls.push(Call::Delete(read)),
            Call::Mark(read) => self.mark(state, &read),
            Call::Reopen(generation, selection) => {
                let mark = state.import.undo.undone_by;
                if self.flaw == Flaw::MarkIgnored {
                    state.import.undo.undone_by = None;
                }
                let at = state.tick();
                state.import.reopen(&Reopen {
                    generation,
                    at,
                    deadline_at: Timestamp(i64::MAX),
                    selection,
                    registration: None,
                });
                state.import.undo.undone_by = mark;
            }
            Call::Delete(read) => {
                if self.flaw == Flaw::DeletedUnread || state.import.is_unchanged_since(&read) {
                    let at = state.tick();
                    state.import.delete(at);
                }
            }
        }
    }

    fn mark(&self, state: &mut State, read: &Job) {
        let import = &state.import;
        let is_any = |flaw| self.flaw == flaw;
        let mark = MarkUndone {
            import: import.job_id,
            generation: if is_any(Flaw::AnyGeneration) { import.generation } else { read.generation },
            before: if is_any(Flaw::AnyUndoBefore) { import.undo.undone_by } else { read.undo.undone_by },
            by: JobId(Uuid::from_u128(1 + state.undos.len() as u128)),
            at: Timestamp(state.now + 1),
        };
        if let Transition::Made(import) = state.import.mark_undone(&mark) {
            state.now += 1;
            state.undos.push(Undo { id: mark.by, active: true, generation: import.generation });
        }
    }
}

impl Small for Calls {
    fn sentence(&self, state: &State, action: &Action) -> String {
        match action {
            Action::BeginUndo => "an undo call reads the import".into(),
            Action::BeginRetry(Selection::All) => "a retry call reads the import".into(),
            Action::BeginRetry(_) => "a replay call reads the import".into(),
            Action::BeginDelete => "a delete call reads the import".into(),
            Action::Next(call) => match &state.calls[*call] {
                Call::LookBeforeUndo(_) => "an undo call reads the last undo".into(),
                Call::Mark(_) => "an undo call stores the undo, and marks the import".into(),
                Call::Reopen(generation, _) => format!("generation {} begins", generation + 1),
                Call::LookBeforeDelete(_) => "a delete call reads the last undo".into(),
                Call::Delete(_) => "a delete call deletes the import".into(),
            },
            Action::EndGeneration => format!("generation {} ends", state.import.generation),
            Action::EndUndo(undo) => format!("undo {undo} ends"),
            Action::PassStallTime => "the stall time passes".into(),
        }
    }
}
