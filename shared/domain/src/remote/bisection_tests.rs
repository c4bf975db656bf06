//! Tests of the bisection: a worker that offers items to handlers that fail in different ways.

use std::collections::{BTreeSet, VecDeque};

use proptest::prelude::*;

use super::{AfterFault, BatchCounts, Bisection, Search};

// A new member or step does not compile until it is here, and in the golden file of its shape: docs/design/versions.md.
const _: fn(Bisection) = |Bisection { max: _, limit: _, size: _, answered: _, faults: _, search: _ }| {};
const _: fn(Search) = |search| match search {
    Search::None | Search::FirstHalf { suspects: _ } | Search::Item { suspects: _ } => {}
    Search::SecondHalf { suspects: _, half: _ } => {}
};

/// Items with an answer; `None` for a fault.
type Handler<'h> = dyn FnMut(&[u32]) -> Option<Vec<u32>> + 'h;

/// Everything that a worker did with the items of a chunk.
#[derive(Default, Debug)]
struct Run {
    calls: u32,
    faults: u32,
    /// Items in the order of their outcomes.
    answered: Vec<u32>,
    /// Items that failed alone.
    failed: Vec<u32>,
    /// For each of them: the size of the first batch that failed, and the number of calls after it.
    searches: Vec<(u32, u32)>,
}

impl Run {
    /// Sends all items. The state goes through JSON before each call, as in a message.
    fn new(items: u32, max: u32, handler: &mut Handler<'_>) -> Self {
        let (mut run, mut open) = (Self::default(), (0..items).collect::<VecDeque<_>>());
        let (mut state, mut search) = (Bisection::new(max), None);
        while !open.is_empty() {
            state = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
            let batch: Vec<_> = open.iter().copied().take(state.next_size() as usize).collect();
            let sent = batch.len() as u32;
            assert!((1..=max).contains(&sent));
            run.calls += 1;
            assert!(run.calls < 100_000, "no end");
            state = match handler(&batch) {
                Some(answered) => {
                    open.retain(|item| !answered.contains(item));
                    run.answered.extend(&answered);
                    state.after_answer(BatchCounts { sent, answered: answered.len() as u32 })
                }
                None => {
                    run.faults += 1;
                    let (first, at) = *search.get_or_insert((sent, run.calls));
                    let (state, consequence) = state.after_fault(sent);
                    if consequence == AfterFault::Alone {
                        assert_eq!(sent, 1);
                        run.failed.extend(open.pop_front());
                        run.searches.push((first, run.calls - at));
                        search = None;
                    }
                    state
                }
            };
        }
        run
    }
}

fn poisoned(poison: &BTreeSet<u32>) -> impl FnMut(&[u32]) -> Option<Vec<u32>> + '_ {
    |batch| (!batch.iter().any(|item| poison.contains(item))).then(|| batch.to_vec())
}

fn check(items: u32, max: u32, poison: &BTreeSet<u32>) -> Run {
    let run = Run::new(items, max, &mut poisoned(poison));
    assert_eq!(run.failed, poison.iter().copied().collect::<Vec<_>>(), "each fails alone, once, in order");
    let good: Vec<_> = (0..items).filter(|item| !poison.contains(item)).collect();
    assert_eq!(run.answered, good, "each other item has one outcome");
    for (size, calls) in &run.searches {
        let bound = 2.0 * f64::from(*size).log2();
        assert!(f64::from(*calls) <= bound, "{calls} calls after a batch of {size} failed");
    }
    let log = f64::from(max.min(items)).log2();
    let bound = f64::from(items.div_ceil(max)) + poison.len() as f64 * (2.0 * log + 2.0);
    assert!(f64::from(run.calls) <= bound, "{} calls, {} items, {} poisonous, {max}", run.calls, items, poison.len());
    run
}

#[test]
fn a_poisonous_item_anywhere_in_a_batch_of_any_size_fails_alone_within_the_bound() {
    for size in 1..=130 {
        for item in 0..size {
            check(size, size, &BTreeSet::from([item]));
        }
    }
    for item in (0..1_000).step_by(7) {
        check(1_000, 1_000, &BTreeSet::from([item]));
    }
}

#[test]
fn a_chunk_of_poisonous_items_takes_few_calls_for_each() {
    let run = check(1_000, 1_000, &(0..1_000).collect());
    assert!(run.calls < 3_100, "{} calls", run.calls);
}

#[test]
fn a_handler_that_is_too_slow_for_its_batches_gets_smaller_ones() {
    let run = Run::new(20_000, 1_000, &mut |batch| (batch.len() <= 300).then(|| batch.to_vec()));
    assert_eq!(run.answered, (0..20_000).collect::<Vec<_>>());
    assert!(run.failed.is_empty() && run.calls <= 120, "{} calls", run.calls);
}

#[test]
fn a_single_fault_costs_no_item_an_attempt_and_batches_are_soon_large_again() {
    let mut first = true;
    let run = Run::new(100_000, 1_000, &mut |batch| (!std::mem::take(&mut first)).then(|| batch.to_vec()));
    assert_eq!((run.faults, run.failed.len(), run.answered.len()), (1, 0, 100_000));
    assert!(run.calls <= 100 + 1 + 10, "{} calls", run.calls);
}

#[test]
fn unanswered_items_are_sent_again_in_smaller_batches() {
    for (at_once, most_calls) in [(1, 1_000), (40, 40), (999, 2)] {
        let mut sizes = Vec::new();
        let run = Run::new(1_000, 1_000, &mut |batch| {
            sizes.push(batch.len());
            Some(batch[..batch.len().min(at_once)].to_vec())
        });
        assert_eq!(run.answered, (0..1_000).collect::<Vec<_>>());
        assert!(run.calls <= most_calls, "{} calls for {at_once} at once", run.calls);
        assert!(sizes.iter().sum::<usize>() < 4_000, "items are sent again and again: {sizes:?}");
        assert!(sizes.windows(2).all(|pair| pair[0] <= at_once || pair[1] < pair[0]), "{sizes:?}");
    }
}

#[test]
fn an_item_that_is_never_answered_fails_alone() {
    let silent = 500;
    let run = Run::new(1_000, 100, &mut |batch| {
        let answered: Vec<_> = batch.iter().copied().filter(|item| *item != silent).collect();
        (!answered.is_empty()).then_some(answered)
    });
    assert_eq!((run.failed.as_slice(), run.answered.len()), (&[silent][..], 999));
    assert!(run.calls <= 20, "{} calls", run.calls);
}

proptest! {
    #[test]
    fn any_poisonous_items_fail_alone_within_the_bound(
        items in 1_u32..1_000,
        max in 1_u32..=1_000,
        share in 0.0_f64..1.0,
        seed in any::<u64>(),
    ) {
        let mut random = fastrand::Rng::with_seed(seed);
        let share = share.powi(3);
        check(items, max, &(0..items).filter(|_| random.f64() < share).collect());
    }

    #[test]
    fn every_item_has_one_outcome_whatever_the_handler_does(
        items in 1_u32..300,
        max in 1_u32..=300,
        faults in 0.0_f64..0.9,
        seed in any::<u64>(),
    ) {
        let mut random = fastrand::Rng::with_seed(seed);
        let run = Run::new(items, max, &mut |batch| {
            if random.f64() < faults {
                return None;
            }
            let answered: Vec<_> = batch.iter().copied().filter(|_| random.f64() < 0.8).collect();
            (!answered.is_empty()).then_some(answered)
        });
        let mut ended = [run.answered, run.failed].concat();
        ended.sort_unstable();
        prop_assert_eq!(ended, (0..items).collect::<Vec<_>>());
    }
}
