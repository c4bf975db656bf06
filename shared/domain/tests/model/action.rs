//! Actions: the transitions between the states of the model.

use crate::step::Message;

/// One step of the whole system.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Action {
    /// A function receives a message. `choice` selects the handlers' outcomes in its first run.
    Take { message: Message, choice: usize },
    /// The function at this index does its next step.
    Next { run: usize, choice: usize },
    /// The function does its next step, but the reply is lost, so it will repeat the step.
    LoseReply { run: usize },
    /// The function dies.
    Crash { run: usize, redelivery: Redelivery },
    /// The function's message is delivered again while it lives.
    Duplicate { run: usize },
    /// The function's time is nearly over: it hands over.
    HandOver { run: usize },
    /// The client cancels; `sent` if the API lived to send the complete message.
    Stop { sent: bool },
    /// The client retries the remaining items; `sent` if the API lived to send the message.
    Retry { sent: bool },
    /// An operator replays this dead letter.
    Replay { dead_letter: Message },
    /// The sweeper reads this dead letter, and gives up its work.
    GiveUp { dead_letter: Message },
    /// The sweeper sends whatever the ledger shows as unfinished.
    Sweep,
    /// A status call reads the groups.
    ReadGroups,
    /// The status call then reads the job, and answers.
    ReadJob,
}

/// Redelivery of the message of a function that dies.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Redelivery {
    /// The message is delivered again.
    Again,
    /// The message is lost.
    Lost,
    /// The message failed too often, and is in the dead-letter queue.
    Dead,
}
