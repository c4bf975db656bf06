//! Message bodies with only the characters that SQS accepts.

use serde::Serialize;

/// Returns the body of a message as JSON.
///
/// JSON itself allows U+FFFE and U+FFFF, which a row may hold, but SQS does not: it refuses such a body, or replaces
/// the characters. They occur only within strings, so each is written as its escape. Source:
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html>
///
/// # Errors
/// If the message cannot be written as JSON.
pub fn body(message: &impl Serialize) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string(message)?;
    if !text.contains(['\u{FFFE}', '\u{FFFF}']) {
        return Ok(text);
    }
    Ok(text.replace('\u{FFFE}', "\\ufffe").replace('\u{FFFF}', "\\uffff"))
}

#[cfg(test)]
mod tests {
    use longshore_domain::group::ChunkPlan;
    use longshore_domain::ids::{ChunkId, JobId};
    use longshore_domain::job::{Job, Priority};
    use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage};
    use proptest::prelude::*;
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::aws_limits::sqs::{Sent, check_message};
    use longshore_domain::tenant::TenantId;
    use longshore_domain::timestamp::Timestamp;

    /// Any characters, including those that SQS refuses.
    fn text(bytes: usize) -> impl Strategy<Value = String> {
        let odd =
            proptest::sample::select(vec!['\0', '\u{1b}', '\\', '"', 'a', '\n', '\u{FFFD}', '\u{FFFE}', '\u{FFFF}']);
        proptest::collection::vec(prop_oneof![odd, any::<char>()], 0..bytes).prop_map(String::from_iter)
    }

    fn round_trips<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(message: &T) {
        let body = body(message).unwrap();
        assert_eq!(check_message(&Sent { body: &body, ..Sent::default() }), Ok(()));
        assert_eq!(&serde_json::from_str::<T>(&body).unwrap(), message);
    }

    proptest! {
        #[test]
        fn every_message_has_only_characters_that_sqs_accepts(
            inline in proptest::option::of(text(2_000)),
            numbers in any::<[u32; 4]>(),
            oversize in any::<bool>(),
        ) {
            let [position, resend, group, chunk] = numbers;
            let (job_id, generation) = (JobId::generate(), position);
            let plan = ChunkPlan { first: 1, items: group, start: 0, end: u64::from(chunk), oversize, keys: None };
            round_trips(&CreateMessage { generation, position, resend, ..CreateMessage::of_job(job_id) });
            round_trips(&CompleteMessage { job_id, generation, resend, step: resend, tenant: None, failures: 0 });
            let priority = Priority::Low;
            let tenant = TenantId::from_static("t");
            let job = Job { priority, ..Job::waiting(job_id, tenant, "import", Timestamp(0)) };
            let chunk = ChunkMessage::new(&job, ChunkId::new(group, chunk), &plan);
            round_trips(&ChunkMessage { inline, failures: resend, ..chunk });
        }
    }

    #[test]
    fn a_backslash_before_an_escaped_character_is_preserved() {
        for text in ["\\\u{FFFE}", "\u{FFFE}\u{FFFF}", "\u{FFFD}"] {
            round_trips(&text.to_owned());
        }
    }
}
