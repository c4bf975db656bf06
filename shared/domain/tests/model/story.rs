//! Stories: a path through the model as sentences, so that a counterexample is readable without the model.

use longshore_domain::group::Group;
use longshore_domain::ids::ChunkId;

use crate::step::{Action, ApiSend, Cut, Message, Redelivery, Replan, Run, Step};
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
    let run = |i: usize| actor(&world.runs[i]);
    match action {
        Action::Take { message, .. } => format!("{} receives its message", receiver(message)),
        Action::Next { run: i, .. } => format!("{} {}", run(i), predicate(&world.runs[i])),
        Action::LoseReply { run: i } => format!("{} {}, and the reply is lost", run(i), predicate(&world.runs[i])),
        Action::Crash { run: i, .. } if world.runs[i].gives_up => format!("{} crashes", run(i)),
        Action::Crash { run: i, redelivery: Redelivery::Again } => {
            format!("{} crashes; its message is redelivered", run(i))
        }
        Action::Crash { run: i, redelivery: Redelivery::Lost } => format!("{} crashes; its message is lost", run(i)),
        Action::Crash { run: i, redelivery: Redelivery::Dead } => {
            format!("{} crashes at the last delivery; its message is dead-lettered", run(i))
        }
        Action::Duplicate { run: i } => format!("the message of {} is redelivered while it runs", run(i)),
        Action::HandOver { run: i } => format!("{} is almost out of time", run(i)),
        Action::Stop { send } => "the client cancels the job".to_owned() + loss(send),
        Action::Retry { send } => "the client retries the job".to_owned() + loss(send),
        Action::Replay { dead_letter } => format!("an operator replays the message of {}", receiver(dead_letter)),
        Action::GiveUp { dead_letter } => format!("the sweeper reads the dead letter of {}", receiver(dead_letter)),
        Action::Sweep => "the sweeper sends what is unfinished".into(),
        Action::ReadGroups => "a status call reads the groups".into(),
        Action::ReadJob => "the status call reads the job, and answers".into(),
    }
}

fn loss(send: ApiSend) -> &'static str {
    match send {
        ApiSend::Sent => "",
        ApiSend::Lost => ", and its message is lost",
    }
}

fn actor(run: &Run) -> String {
    let receiver = receiver(run.message);
    if run.gives_up { format!("the sweeper instead of {receiver}") } else { receiver }
}

fn receiver(message: Message) -> String {
    let suffix = |generation: u32| match generation {
        0 => String::new(),
        n => format!(" of generation {n}"),
    };
    match message {
        Message::Create(generation) => format!("the splitter{}", suffix(generation)),
        Message::Chunk(ChunkId { group, chunk }) => format!("a worker of chunk {group}.{chunk}"),
        Message::Complete(generation) => format!("completion{}", suffix(generation)),
    }
}

fn predicate(run: &Run) -> String {
    match &run.step {
        Step::Look | Step::Read => "reads the job".into(),
        Step::Send { chunk: ChunkId { group, chunk }, .. } => format!("sends chunk {group}.{chunk}"),
        Step::Advance { cut: Cut::End, .. } => "records the end of the split".into(),
        Step::Advance { groups, cut: Cut::Part(_), .. } => format!("commits group {groups}"),
        Step::Advance { groups, cut: Cut::Replan(Replan { chunk: ChunkId { group, chunk }, .. }), .. } => {
            format!("commits group {groups} with the remaining items of chunk {group}.{chunk}")
        }
        Step::ReadBack { group, .. } => format!("reads the job again after group {group}"),
        Step::Commit(a) => format!("commits {} items under token {}", a.counts.done(), a.to.token),
        Step::Continue(from) => format!("continues from token {}", from.token),
        Step::Lost => "stops after its lost commit".into(),
        Step::OpenRound => "sends its chunk again for the next round".into(),
        Step::HandOver { .. } => "sends a continuation".into(),
        Step::RollUp => "adds its group to the done groups".into(),
        Step::Close { group, .. } => format!("closes group {group}"),
        Step::Report { .. } => "writes the report".into(),
        Step::Finish { status, .. } => format!("sets the final status {status:?}"),
        Step::Announce(_) => "sends the complete message".into(),
    }
}

fn ledger(world: &World) -> Vec<String> {
    let group = |g: &Group| {
        let cursors: Vec<String> = g.cursors.iter().map(|(c, cursor)| format!("{c} at {cursor}")).collect();
        let cursors = if cursors.is_empty() { "not started".into() } else { format!("chunk {}", cursors.join(", ")) };
        format!("group {}: {} of {} items ended; {cursors}", g.number, g.counts.done(), g.items)
    };
    let job = &world.job;
    let generation = if job.generation > 0 { format!(" in generation {}", job.generation) } else { String::new() };
    let status = format!(
        "job: {:?}{generation}, {} groups, {} of them done",
        job.status,
        job.split.groups,
        job.split.done_groups.len()
    );
    std::iter::once(status).chain(world.groups.iter().map(group)).collect()
}
