//! What can happen next, and to whom: the arrows between the states of the model.

use crate::step::Message;

/// One step of the whole system.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Action {
    /// A function gets a message. `choice` picks what handlers say in its first run.
    Take { message: Message, choice: usize },
    /// The function at this place of the list does its next step.
    Next { run: usize, choice: usize },
    /// It does, but never hears of it, and will do it again.
    LoseReply { run: usize },
    /// It dies.
    Crash { run: usize, redelivery: Redelivery },
    /// Its message comes again while it lives.
    Duplicate { run: usize },
    /// Its time is nearly over.
    HandOver { run: usize },
    /// The client cancels; `sent` if the API lived to ask for completion.
    Stop { sent: bool },
    /// The client has what is left run again; `sent` if the API lived to send the message.
    Retry { sent: bool },
    /// An operator replays this dead letter.
    Replay { dead_letter: Message },
    /// The sweeper reads this dead letter, and gives up what it asks for.
    GiveUp { dead_letter: Message },
    /// The sweeper finds what the ledger says is unfinished and sends it.
    Sweep,
    /// A status call reads the groups.
    ReadGroups,
    /// Then it reads the job, and answers.
    ReadJob,
}

/// What becomes of the message of a function that dies.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Redelivery {
    /// It comes again.
    Again,
    /// It does not.
    Lost,
    /// It failed too often, and lies in the dead-letter queue.
    Dead,
}
