//! A path through the model as sentences, so that a counterexample can be read without the model.

use stateright::Path;

use crate::protocol::{Action, Protocol};
use crate::world::{Message, Run, Step, World};

/// One line a step, and what is stored at the end.
pub(crate) fn tell(protocol: &Protocol, path: &Path<World, Action>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (world, action) in path.clone().into_vec() {
        match action {
            Some(action) => lines.push(format!("{:2}. {}", lines.len() + 1, sentence(protocol, &world, action))),
            None => lines.extend(ledger(&world)),
        }
    }
    lines.join("\n") + "\n"
}

fn sentence(protocol: &Protocol, world: &World, action: Action) -> String {
    let run = |i: usize| who(world.runs[i].message);
    match action {
        Action::Take { message, .. } => format!("{} takes its message", who(message)),
        Action::Next { run: i, .. } => format!("{} {}", run(i), what(protocol, &world.runs[i])),
        Action::LoseReply { run: i } => format!("{} {}, and the reply is lost", run(i), what(protocol, &world.runs[i])),
        Action::Crash { run: i, lost: false } => format!("{} dies; its message comes again", run(i)),
        Action::Crash { run: i, lost: true } => format!("{} dies; its message is lost", run(i)),
        Action::Duplicate { run: i } => format!("the message of {} comes again while it lives", run(i)),
        Action::Stop { .. } => "the client cancels the job".into(),
        Action::Sweep => "the sweeper sends what is unfinished".into(),
        Action::ReadGroups => "a status call reads the groups".into(),
        Action::ReadJob => "the status call reads the job, and answers".into(),
    }
}

fn who(message: Message) -> String {
    match message {
        Message::Create => "the splitter".into(),
        Message::Chunk(group, chunk) => format!("a worker of chunk {group}.{chunk}"),
        Message::Complete => "completion".into(),
    }
}

fn what(protocol: &Protocol, run: &Run) -> String {
    match &run.step {
        Step::Look | Step::Read => "reads the job".into(),
        Step::Send { group, chunk, .. } => format!("sends chunk {group}.{chunk}"),
        Step::Advance { groups } if *groups as usize == protocol.file.len() => "records the end of the split".into(),
        Step::Advance { groups } => format!("commits group {groups}"),
        Step::Commit(a) => format!("commits {} items under token {}", a.counts.done(), a.to.token),
        Step::Continue(from) => format!("goes on from token {}", from.token),
        Step::Lost => "has lost, and stops".into(),
        Step::OpenRound => "sends its chunk again for the next round".into(),
        Step::RollUp => "adds its group to those that are done".into(),
        Step::Close { group, .. } => format!("closes group {group}"),
        Step::Report { .. } => "writes the report".into(),
        Step::Finish { status, .. } => format!("gives the final status {status:?}"),
        Step::Announce => "sends the complete message".into(),
    }
}

fn ledger(world: &World) -> Vec<String> {
    let group = |g: &longshore_domain::group::Group| {
        let cursors: Vec<String> = g.cursors.iter().map(|(c, cursor)| format!("{c} at {cursor}")).collect();
        format!("group {}: {} of {} items ended; chunk {}", g.number, g.counts.done(), g.items, cursors.join(", "))
    };
    world.groups.iter().map(group).collect()
}
