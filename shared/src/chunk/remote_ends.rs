//! Ends of a delivery without a further call: no time is left, the job is paused, the handler cannot be called now,
//! or the call cannot be made. Every outcome that a handler has given is committed first, also those behind a gap.

use longshore_domain::concurrency::ParkedChunk;
use longshore_domain::message::ChunkMessage;
use longshore_domain::outcome::{Outcome, Rejection};
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::remote::ItemOutcome;
use longshore_domain::retry;
use longshore_domain::timestamp::Timestamp;

use super::attempt::{Attempt, CommitPoint, Interrupt};
use super::delivery::{ChunkEnd, ChunkError};
use super::items::Items;
use crate::remote::{NotCalled, RemoteJob};

impl<'a, S: Store, Q: Queues, F: Files> Attempt<'a, S, Q, F> {
    /// Gives each item in a gap this outcome, and takes all outcomes.
    pub(super) fn close_gaps(
        &mut self,
        remote: &RemoteJob,
        items: &Items,
        outcome: &ItemOutcome,
    ) -> Result<Option<Rejection>, Interrupt> {
        let end = self.calls.answers.last_key_value().map_or(0, |(last, _)| last + 1);
        self.close_gaps_up_to(end, remote, items, outcome)
    }

    /// Gives each item before `end` without an outcome this one, and takes all outcomes. Items that are not due yet keep
    /// their time.
    pub(super) fn close_gaps_up_to(
        &mut self,
        end: usize,
        remote: &RemoteJob,
        items: &Items,
        outcome: &ItemOutcome,
    ) -> Result<Option<Rejection>, Interrupt> {
        for i in (self.tally.position..end).filter(|i| items.waiting(*i).is_none()) {
            self.calls.answers.entry(i).or_insert_with(|| outcome.clone());
        }
        self.take_answers(remote, items)
    }

    /// Ends the delivery, because no call fits into the time left: another message continues.
    pub(super) async fn leave(&mut self, remote: &RemoteJob, items: &Items) -> Result<Option<Rejection>, Interrupt> {
        let unanswered = Outcome::Retry { after: None, reason: "the handler has not answered for the item".into() };
        self.close_gaps(remote, items, &unanswered)?;
        if self.tally.position == items.len() {
            return Ok(None);
        }
        self.commit_if_any().await?;
        let message = ChunkMessage { inline: None, ..self.calls.next_message(self.message) };
        self.worker.ports.queues.send_chunks(&[message], 0).await?;
        Err(Interrupt::End(ChunkEnd::Continued))
    }

    /// Ends the delivery, because an operator has paused the job type or the tenant: the sweeper sends the chunk again
    /// after the pause. No item spends a try, so that no pause fails an item.
    pub(super) async fn end_paused(
        &mut self,
        remote: &RemoteJob,
        items: &Items,
    ) -> Result<Option<Rejection>, Interrupt> {
        let unanswered = "an operator has paused the work before the handler has answered for the item";
        self.close_gaps(remote, items, &Outcome::Busy { reason: unanswered.into() })?;
        if self.tally.position == items.len() {
            return Ok(None);
        }
        self.commit_if_any().await?;
        Err(Interrupt::End(ChunkEnd::Paused))
    }

    /// Parks the chunk until a time: first its record, which the sweeper and other workers wake when it is due, then a
    /// delayed message, which usually comes first.
    pub(super) async fn park(
        &mut self,
        remote: &RemoteJob,
        items: &Items,
        until: Timestamp,
        reason: String,
    ) -> Result<Option<Rejection>, Interrupt> {
        self.tally.busy_until = Some(until);
        self.close_gaps(remote, items, &Outcome::Busy { reason })?;
        if self.tally.position == items.len() {
            return Ok(None);
        }
        self.commit_if_any().await?;
        let message = ChunkMessage { inline: None, ..self.calls.next_message(self.message) };
        let message = ChunkMessage { parked_until: Some(until), ..message };
        let limit = self.worker.concurrency_of_type(remote.registration().concurrency);
        let parked = ParkedChunk::new(self.job, &message, limit);
        let ports = self.worker.ports;
        ports.store.park(&self.job.job_type, &parked).await?;
        // Rounded up: no call is earlier than the handler asked for.
        if let Some(delay_s) = retry::queue_delay_s((self.worker.clock)(), Timestamp(until.0.saturating_add(999))) {
            // At least a second: the clock of the next worker can be behind, and it would park the chunk again at once.
            ports.queues.send_chunks(&[message], delay_s.max(1)).await?;
        }
        Err(Interrupt::End(ChunkEnd::HandlerWait))
    }

    /// Commits what is not committed. Checks the tolerance as after every commit: a check of the cost is due after one
    /// commit only.
    async fn commit_if_any(&mut self) -> Result<(), Interrupt> {
        if !self.tally.is_empty() {
            let group = self.commit(CommitPoint::InRound).await?;
            self.stop_if_tolerance_exceeded(&group).await?;
        }
        Ok(())
    }

    /// Fails the delivery, because the call could not be made: the message is delivered again. No item spends a try,
    /// and the circuit breaker stays as it is.
    pub(super) async fn fail(
        &mut self,
        remote: &RemoteJob,
        items: &Items,
        error: NotCalled,
    ) -> Result<Option<Rejection>, Interrupt> {
        self.close_gaps(remote, items, &Outcome::Busy { reason: error.to_string() })?;
        if self.tally.position == items.len() {
            return Ok(None);
        }
        self.commit_if_any().await?;
        Err(Interrupt::Error(ChunkError::NotCalled(error)))
    }
}
