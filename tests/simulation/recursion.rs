//! Flows in which a function invokes itself through its queue more often than Lambda allows by default.
//!
//! Lambda counts the invocations of a function in a chain of messages. It refuses the seventeenth, and moves its
//! message to the dead-letter queue. <https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html>

use longshore_domain::job::Status;

use crate::kinds::Kind;
use crate::plan::JobPlan;
use crate::rows::{OK, RETRY, SKIP};
use crate::world::World;

/// A flow: its job, and its execution.
struct Flow {
    name: &'static str,
    job: fn() -> JobPlan,
    run: fn(&mut World),
    /// Flags for splitter, worker and completion: true if the function exceeds Lambda's limit in the flow.
    loops: [bool; 4],
}

const FLOWS: [Flow; 6] = [
    Flow {
        name: "a file of many chunks",
        job: || JobPlan::plain(&[OK; 300], Kind::Fine),
        run: |world| world.run_in_turns((0..64).map(|task| (task, 1)).collect()),
        loops: [false, false, false, false],
    },
    Flow {
        name: "rows that are retried",
        job: || JobPlan::plain(&[RETRY; 60], Kind::Simulated),
        run: |world| world.run_in_turns((0..64).map(|task| (task, 1)).collect()),
        loops: [false, false, false, false],
    },
    Flow {
        name: "chunks of a limited type, each woken by the previous one",
        job: || JobPlan::plain(&[OK; 300], Kind::Limited),
        run: |world| world.run_in_turns((0..64).map(|task| (task, 1)).collect()),
        loops: [false, true, false, false],
    },
    Flow {
        name: "the continuations of a slow chunk",
        job: || JobPlan::plain(&[OK; 60], Kind::Coarse),
        run: |world| world.run_slowly(4_000),
        loops: [false, true, false, false],
    },
    Flow {
        name: "the turns of a splitter",
        job: || JobPlan::plain(&[OK; 300], Kind::Fine),
        run: |world| world.run_slowly(1_000),
        loops: [true, false, false, false],
    },
    Flow {
        name: "the turns of a completion",
        job: || JobPlan::plain(&[SKIP; 300], Kind::Fine),
        run: |world| world.run_with_slow_completions(1_000),
        loops: [false, false, true, false],
    },
];

#[test]
fn only_these_flows_depend_on_recursive_loops() {
    #[allow(clippy::disallowed_methods, reason = "the order of parked chunks is random")]
    longshore_domain::random::seed(2);
    for Flow { name, job, run, loops } in FLOWS {
        let mut allowed = World::alone(job());
        run(&mut allowed);
        allowed.run_to_the_end();
        assert_eq!((allowed.job().status, allowed.failed_count()), (Status::Completed, 0), "{name}");
        let hops = allowed.most_hops();
        assert_eq!(hops.map(|hops| hops > 16), loops, "{name}: {hops:?}");

        let mut refused = World::alone(job());
        refused.refuse_loops();
        run(&mut refused);
        refused.run_to_the_end();
        let is_complete = refused.job().status == Status::Completed && refused.failed_count() == 0;
        // The sweeper resumes a refused split, so only a refused worker loses rows.
        let [_, worker_loops, ..] = loops;
        assert_eq!(is_complete, !worker_loops, "{name}: {hops:?}, {:?}", refused.most_hops());
    }
}
