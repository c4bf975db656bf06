//! Stories: a path through the model as sentences, so that a counterexample is readable without the model.

use longshore_domain::group::Group;

use crate::step::{Action, Cut, Message, Redelivery, Run, Step};
use crate::world::World;

/// Writes one line per step, and the stored state at the end.
pub(crate) fn describe(path: &[(World, Option<Action>)]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (world, action) in path {
        match action {
            Some(action) => lines.push(format!("{:2}. {}", lines.len() + 1, sentence(world, *action))),
            None => lines.extend(ledger(world)),
        }
    }
    lines.join("\n") + "\n"
}

fn sentence(world: &World, action: Action) -> String {
    let run = |i: usize| who(&world.runs[i]);
    match action {
        Action::Take { message, .. } => format!("{} takes its message", whose(message)),
        Action::Next { run: i, .. } => format!("{} {}", run(i), what(&world.runs[i])),
        Action::LoseReply { run: i } => format!("{} {}, and the reply is lost", run(i), what(&world.runs[i])),
        Action::Crash { run: i, .. } if world.runs[i].gives_up => format!("{} dies", run(i)),
        Action::Crash { run: i, redelivery: Redelivery::Again } => format!("{} dies; its message comes again", run(i)),
        Action::Crash { run: i, redelivery: Redelivery::Lost } => format!("{} dies; its message is lost", run(i)),
        Action::Crash { run: i, redelivery: Redelivery::Dead } => {
            format!("{} dies once too often; its message is dead", run(i))
        }
        Action::Duplicate { run: i } => format!("the message of {} comes again while it lives", run(i)),
        Action::HandOver { run: i } => format!("{} has hardly any time left", run(i)),
        Action::Stop { sent } => "the client cancels the job".to_owned() + unless(sent),
        Action::Retry { sent } => "the client has the job run again".to_owned() + unless(sent),
        Action::Replay { dead_letter } => format!("an operator replays the message of {}", whose(dead_letter)),
        Action::GiveUp { dead_letter } => format!("the sweeper reads the dead message of {}", whose(dead_letter)),
        Action::Sweep => "the sweeper sends what is unfinished".into(),
        Action::ReadGroups => "a status call reads the groups".into(),
        Action::ReadJob => "the status call reads the job, and answers".into(),
    }
}

fn unless(sent: bool) -> &'static str {
    if sent { "" } else { ", and the message about it is lost" }
}

fn who(run: &Run) -> String {
    if run.gives_up { format!("the sweeper in place of {}", whose(run.message)) } else { whose(run.message) }
}

fn whose(message: Message) -> String {
    let of = |generation: u32| match generation {
        0 => String::new(),
        n => format!(" of generation {n}"),
    };
    match message {
        Message::Create(generation) => format!("the splitter{}", of(generation)),
        Message::Chunk(group, chunk) => format!("a worker of chunk {group}.{chunk}"),
        Message::Complete(generation) => format!("completion{}", of(generation)),
    }
}

fn what(run: &Run) -> String {
    match &run.step {
        Step::Look | Step::Read => "reads the job".into(),
        Step::Send { group, chunk, .. } => format!("sends chunk {group}.{chunk}"),
        Step::Advance { cut: Cut::End, .. } => "records the end of the split".into(),
        Step::Advance { groups, cut: Cut::Part(_), .. } => format!("commits group {groups}"),
        Step::Advance { groups, cut: Cut::Replan { chunk: of, .. }, .. } => {
            format!("commits group {groups} of what chunk {}.{} has left", of.group, of.chunk)
        }
        Step::ReadBack { group, .. } => format!("reads the job back after group {group}"),
        Step::Commit(a) => format!("commits {} items under token {}", a.counts.done(), a.to.token),
        Step::Continue(from) => format!("goes on from token {}", from.token),
        Step::Lost => "has lost, and stops".into(),
        Step::OpenRound => "sends its chunk again for the next round".into(),
        Step::HandOver { .. } => "sends a message that goes on in its place".into(),
        Step::RollUp => "adds its group to those that are done".into(),
        Step::Close { group, .. } => format!("closes group {group}"),
        Step::Report { .. } => "writes the report".into(),
        Step::Finish { status, .. } => format!("gives the final status {status:?}"),
        Step::Announce(_) => "sends the complete message".into(),
    }
}

fn ledger(world: &World) -> Vec<String> {
    let group = |g: &Group| {
        let cursors: Vec<String> = g.cursors.iter().map(|(c, cursor)| format!("{c} at {cursor}")).collect();
        let cursors = if cursors.is_empty() { "not begun".into() } else { format!("chunk {}", cursors.join(", ")) };
        format!("group {}: {} of {} items ended; {cursors}", g.number, g.counts.done(), g.items)
    };
    let job = &world.job;
    let of = if job.generation > 0 { format!(" in generation {}", job.generation) } else { String::new() };
    let status =
        format!("job: {:?}{of}, {} groups, {} of them done", job.status, job.split.groups, job.split.done_groups.len());
    std::iter::once(status).chain(world.groups.iter().map(group)).collect()
}
