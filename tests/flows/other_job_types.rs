//! Job types outside the library: the example crate, and one without a file.

use longshore_tests::harness::report::Report;
use longshore_tests::harness::watch::Watch;
use serde_json::json;

use crate::shared::{Story, counts, lines, stack, work};

#[test]
fn the_example_job_type_runs_on_the_stack() -> Story {
    let file = lines(["name,email", "Ann,ann@example.org", ",nobody@example.org", "Bob,bob", "Cy,cy@example.org"]);
    let (job, report) = work(stack(), "invite", &file, &json!({ "event": "the launch" }))?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [2, 1, 1]), "{job}");
    assert_eq!(report.failures()[&3], ("bad_email".to_owned(), "email".to_owned()));
    assert_eq!(report.skipped[0].reported, ["nobody to greet"]);
    Ok(())
}

#[test]
fn a_job_without_a_file_is_one_item() -> Story {
    let stack = stack();
    for (action, expected) in [("ok", [1, 0, 0]), ("reject", [0, 1, 0]), ("skip", [0, 0, 1])] {
        let options = json!({ "action": action });
        let asked = stack.client.ask("probe-once", None, &options)?.expect(202)?;
        let id = asked["jobId"].as_str().unwrap_or_default();
        let job = Watch::new(stack, id).end()?;
        assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), expected), "{job}");
        Report::read(&stack.client, id)?.partitions(&[vec![options.to_string()]])?;
    }
    Ok(())
}
