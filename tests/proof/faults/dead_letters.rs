//! A dead letter that an operator discards: the sweeper records it, and deletes its message after the resolution.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use longshore_domain::random::nonce;
use longshore_tests::harness::client::Client;
use longshore_tests::harness::stack::Stack;

use super::jobs::patient;

/// Maximum time for recording, discarding and deleting, while each of these calls fails several times.
const PATIENCE: Duration = Duration::from_secs(200);

/// Puts an unreadable message into a dead-letter queue, and discards it until it is deleted. The sweeper must be
/// running.
pub(crate) fn discard_one(stack: &Stack) -> Result<()> {
    let mark = nonce();
    let operator = stack.users.add_operator(&format!("operator-{mark}"))?;
    let client = patient(stack).with_token(&operator.token);
    let body = format!("{{unreadable {mark}");
    let send = stack.aws.sqs().send_message().queue_url(stack.output("ChunkDlqUrl")?).message_body(&body);
    stack.run(send.send()).context("cannot send the message")?;
    let deadline = Instant::now() + PATIENCE;
    while stack.peek("ChunkDlqUrl")?.contains(&body) {
        if Instant::now() > deadline {
            bail!("a discarded dead letter is still in its queue");
        }
        // Faults occur in these calls, too. The next iteration is the retry.
        let _ = discard_all(&client);
        thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

fn discard_all(client: &Client) -> Result<()> {
    let page = client.get("/api/dead-letters?limit=100&queue=chunk")?.expect(200)?;
    for dead_letter in page["deadLetters"].as_array().into_iter().flatten() {
        let id = dead_letter["letterId"].as_str().context("the dead letter has no id")?;
        client.call("DELETE", &format!("/api/dead-letters/{id}"), &[], &[])?;
    }
    Ok(())
}
