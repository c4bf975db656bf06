//! Check of one configuration: every reachable state, the violations and the measurements, or the shortest path to a
//! violation, as a story.
//!
//! A story is a path through the model as sentences, so that a counterexample is readable without the model.
//!
//! With a condition or a layer removed (`cargo xtask prove --without`), every configuration runs without it. This shows
//! that the checks detect the removal of a condition, or that a layer is redundant.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

use longshore_domain::group::Group;
use longshore_domain::ids::ChunkId;
use measurements::{is_complete_run, row};
use stateright::{Checker, Expectation, HasDiscoveries, Model};

use crate::protocol::{Flaw, Protocol};
use crate::step::{Action, ApiSend, Cut, Message, Redelivery, Replan, Run, Step};
use crate::world::World;

/// The result of a check.
pub(crate) struct Checked {
    /// Number of different states.
    pub(crate) states: usize,
    /// Number of steps to the furthest state.
    pub(crate) depth: usize,
    /// Violated properties, each with the path to the violation.
    pub(crate) violations: Vec<String>,
    /// Expected sights that were not reached.
    pub(crate) unseen: Vec<&'static str>,
}

/// Visits every state, until a property is violated.
pub(crate) fn check(protocol: Protocol) -> Checked {
    let checker = protocol.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let (discoveries, properties) = (checker.discoveries(), checker.model().properties());
    let (mut violations, mut unseen) = (Vec::new(), Vec::new());
    for property in properties {
        match (property.expectation, discoveries.get(property.name)) {
            (Expectation::Always, Some(path)) => {
                violations.push(format!("{}:\n{}", property.name, describe(&path.clone().into_vec())));
            }
            (Expectation::Sometimes, None) => unseen.push(property.name),
            _ => {}
        }
    }
    Checked { states: checker.unique_state_count(), depth: checker.max_depth(), violations, unseen }
}

/// Asserts that every invariant holds in every state, and that every expected sight is reached.
pub(crate) fn holds(name: &str, protocol: Protocol) {
    let start = std::time::Instant::now();
    let Checked { states, depth, violations, unseen } = check(without_removed(protocol));
    println!("{name}: {states} states, {depth} steps deep, {:.1?}", start.elapsed());
    let count = violations.len();
    row("model", &[("configuration", &name), ("states", &states), ("depth", &depth), ("violations", &count)]);
    assert!(violations.is_empty(), "{name}: {}", violations.join("\n"));
    assert!(unseen.is_empty(), "{name} proves nothing, because it never reaches {unseen:?}");
}

/// Asserts the same as [`holds`], for a configuration that is too large for a plain test run.
pub(crate) fn holds_at_large(name: &str, protocol: Protocol) {
    if is_complete_run() {
        holds(name, protocol);
    }
}

/// Returns the configuration without the condition or layer that `cargo xtask prove --without` removes.
pub(crate) fn without_removed(protocol: Protocol) -> Protocol {
    let flaw = measurements::without().and_then(|condition| Flaw::without(&condition));
    without_layer(Protocol { flaw: flaw.unwrap_or(protocol.flaw), ..protocol })
}

/// Returns the configuration without the layer that `cargo xtask prove --without` removes, if it removes one. A
/// configuration without the sweeper expects no sights.
pub(crate) fn without_layer(protocol: Protocol) -> Protocol {
    match measurements::without().as_deref() {
        Some("sweeper") if protocol.sweeper => Protocol { sweeper: false, sights: &[], ..protocol },
        Some("deduplication") => Protocol { deduplication: false, ..protocol },
        _ => protocol,
    }
}

/// The file of counterexamples, with a section for each. Tests in other processes write it too, so it is locked.
const COUNTEREXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/model/counterexamples.md");

/// Number of steps after which a flaw counts as missed; each of these configurations ends sooner.
pub(crate) const MAX_DEPTH: usize = 60;

/// Finds the shortest path that violates this property, and compares it with the stored counterexample. Panics if there
/// is no such path. `LONGSHORE_UPDATE=1` stores the new path.
///
/// The checker keeps the last discovery of a block, not the first, so each search is limited to one more step than the
/// one before.
pub(crate) fn caught(file: &str, property: &'static str, protocol: Protocol) {
    for depth in 1..=MAX_DEPTH {
        let violated = HasDiscoveries::AnyOf(BTreeSet::from([property]));
        let checker = protocol.clone().checker().target_max_depth(depth).finish_when(violated).spawn_bfs().join();
        if let Some(path) = checker.discovery(property) {
            let steps = path.clone().into_actions().len();
            let flaw = format!("{:?}", protocol.flaw);
            println!("{flaw}: caught in {} states, {steps} steps", checker.unique_state_count());
            row("model-broken", &[("flaw", &flaw), ("caught by", &property), ("steps", &steps), ("file", &file)]);
            return compare(file, &format!("Broken: {property}.\n\n{}", describe(&path.into_vec())));
        }
    }
    panic!("{:?}: not caught in {MAX_DEPTH} steps", protocol.flaw);
}

/// Compares a counterexample with the stored one of the same name.
pub(crate) fn compare(name: &str, story: &str) {
    let section = format!("\n```text\n{story}```\n");
    let file = File::open(COUNTEREXAMPLES).and_then(|file| file.lock().map(|()| file));
    let text = std::fs::read_to_string(COUNTEREXAMPLES).unwrap_or_default();
    let mut parts = text.split("\n## ");
    let head = parts.next().unwrap_or_default().to_owned();
    let mut sections: BTreeMap<_, _> = parts.filter_map(|part| part.split_once('\n')).collect();
    if std::env::var_os("LONGSHORE_UPDATE").is_some() {
        sections.insert(name, &section);
        let text = sections.iter().fold(head, |text, (name, section)| text + "\n## " + name + "\n" + section);
        assert!(std::fs::write(COUNTEREXAMPLES, text).is_ok(), "{COUNTEREXAMPLES} cannot be written");
    }
    drop(file);
    let stored = sections.get(name).copied().unwrap_or_default();
    assert_eq!(section, stored, "{name} differs from {COUNTEREXAMPLES}; LONGSHORE_UPDATE=1 stores the new one");
}

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
        Action::RetryForOneReason => "the client retries the items that failed for one reason".to_owned(),
        Action::Replay { dead_letter } => format!("an operator replays the message of {}", receiver(dead_letter)),
        Action::GiveUp { dead_letter } => format!("the sweeper reads the dead letter of {}", receiver(dead_letter)),
        Action::Sweep => "the sweeper sends what is unfinished".into(),
        Action::ReadGroups => "a status call reads the groups".into(),
        Action::ReadJob => "the status call reads the job, and answers".into(),
        Action::EndPaused { message } => format!("{} receives its message, and sees a pause", receiver(message)),
        Action::EndPausedRun { run: i } => format!("{} sees a pause, and acknowledges", run(i)),
        Action::CountPush => "the sweeper counts what it has sent".into(),
        Action::Pause => "an operator pauses the job".into(),
        Action::Resume => "the pause ends".into(),
        Action::ForgetViews => "every function sees it".into(),
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
        Step::Paused { seen } => format!("resets the count of pushes, which was {seen}"),
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
