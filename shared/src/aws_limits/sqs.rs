//! Limits of SQS, and the checks of sent messages.

use super::Refusal;

super::limit::limits! {
    "SQS";
    /// Size of a message, its body and attributes together.
    MESSAGE_BYTES = 1024 * 1024, "bytes", "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html";
    /// Size of all messages of a batch together.
    BATCH_BYTES = 1024 * 1024, "bytes", "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html";
    /// Messages of a batch.
    BATCH_MESSAGES = 10, "messages", "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html";
    /// Delay of a message.
    DELAY_SECONDS = 900, "s", "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html";
    /// Visibility timeout of a message.
    VISIBILITY_SECONDS = 43_200, "s", "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html";
    /// Attributes of a message.
    ATTRIBUTES = 10, "attributes", "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html";
    /// Length of a message group id and of a deduplication id: letters, digits and punctuation of ASCII.
    ID_CHARACTERS = 128, "characters", "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html";
}

/// A message to send.
#[derive(Copy, Clone, Debug, Default)]
pub struct Sent<'a> {
    /// Body of the message.
    pub body: &'a str,
    /// Message group.
    pub group_id: Option<&'a str>,
    /// Deduplication id.
    pub deduplication_id: Option<&'a str>,
    /// Delay in seconds.
    pub delay_s: i64,
}

/// Checks a message: body, ids and delay.
///
/// # Errors
/// The refusal that SQS would return.
pub fn check_message(sent: &Sent<'_>) -> Result<(), Refusal> {
    if sent.body.is_empty() {
        return Err(Refusal::new("MissingParameter", "The request must contain the parameter MessageBody."));
    }
    if sent.body.len() > MESSAGE_BYTES {
        return Err(invalid(format!(
            "One or more parameters are invalid. Reason: Message must be shorter than {MESSAGE_BYTES} bytes."
        )));
    }
    if let Some(odd) = sent.body.chars().find(|c| !is_allowed(*c)) {
        let message = format!("Invalid characters found: #x{:X}", u32::from(odd));
        return Err(Refusal::new("InvalidMessageContents", message));
    }
    for (name, id) in [("MessageGroupId", sent.group_id), ("MessageDeduplicationId", sent.deduplication_id)] {
        if id.is_some_and(|id| !is_id(id)) {
            let rule = format!(
                "{name} can only include alphanumeric and punctuation characters. 1 to {ID_CHARACTERS} in length."
            );
            return Err(invalid(format!("Value for parameter {name} is invalid. Reason: {rule}")));
        }
    }
    if !(0..=DELAY_SECONDS as i64).contains(&sent.delay_s) {
        let rule = format!("DelaySeconds must be >= 0 and <= {DELAY_SECONDS}");
        return Err(invalid(format!("Value {} for parameter DelaySeconds is invalid. Reason: {rule}.", sent.delay_s)));
    }
    Ok(())
}

/// Checks a batch as a whole, by the sizes of its bodies; each message has its own check.
///
/// # Errors
/// The refusal that SQS would return.
pub fn check_batch(bodies: &[usize]) -> Result<(), Refusal> {
    if bodies.is_empty() {
        let message = "There should be at least one SendMessageBatchRequestEntry in the request.";
        return Err(Refusal::new("AWS.SimpleQueueService.EmptyBatchRequest", message));
    }
    if bodies.len() > BATCH_MESSAGES {
        let message =
            format!("Maximum number of entries per request are {BATCH_MESSAGES}. You have sent {}.", bodies.len());
        return Err(Refusal::new("AWS.SimpleQueueService.TooManyEntriesInBatchRequest", message));
    }
    let bytes: usize = bodies.iter().sum();
    if bytes > BATCH_BYTES {
        let message = format!("Batch requests cannot be longer than {BATCH_BYTES} bytes. You have sent {bytes} bytes.");
        return Err(Refusal::new("AWS.SimpleQueueService.BatchRequestTooLong", message));
    }
    Ok(())
}

/// Returns true for the characters that SQS accepts: `#x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000
/// to #x10FFFF`; a `char` is never a surrogate.
/// Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html>
pub const fn is_allowed(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

fn is_id(id: &str) -> bool {
    (1..=ID_CHARACTERS).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
}

fn invalid(message: String) -> Refusal {
    Refusal::new("InvalidParameterValue", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(sent: Sent<'_>) -> Option<&'static str> {
        check_message(&sent).err().map(|refusal| refusal.code)
    }

    #[test]
    fn a_message_is_refused_for_its_characters_size_ids_and_delay() {
        let ok = Sent { body: "a\t\n\r\u{7f}\u{fffd}\u{10000}", group_id: Some("t-1@x.org"), ..Sent::default() };
        assert_eq!(code(ok), None);
        for odd in ["\0", "\u{8}", "\u{b}", "\u{1f}", "\u{fffe}", "\u{ffff}"] {
            assert_eq!(code(Sent { body: odd, ..ok }), Some("InvalidMessageContents"), "{odd:?}");
        }
        let (most, more) = ("x".repeat(MESSAGE_BYTES), "x".repeat(MESSAGE_BYTES + 1));
        assert_eq!(code(Sent { body: &most, ..ok }), None);
        assert_eq!(code(Sent { body: &more, ..ok }), Some("InvalidParameterValue"));
        assert_eq!(code(Sent { body: "", ..ok }), Some("MissingParameter"));
        for (id, fine) in [
            ("x".repeat(128), true),
            ("x".repeat(129), false),
            (String::new(), false),
            ("a b".into(), false),
            ("ü".into(), false),
        ] {
            assert_eq!(code(Sent { group_id: Some(&id), ..ok }).is_none(), fine, "{id}");
            assert_eq!(code(Sent { deduplication_id: Some(&id), ..ok }).is_none(), fine, "{id}");
        }
        for (delay_s, fine) in [(0, true), (900, true), (901, false), (-1, false)] {
            assert_eq!(code(Sent { delay_s, ..ok }).is_none(), fine, "{delay_s}");
        }
    }

    #[test]
    fn a_batch_is_refused_for_its_number_and_its_size() {
        assert!(check_batch(&[]).is_err());
        assert!(check_batch(&[1; 10]).is_ok());
        assert!(check_batch(&[1; 11]).is_err());
        assert!(check_batch(&[BATCH_BYTES / 2, BATCH_BYTES / 2]).is_ok());
        assert!(check_batch(&[BATCH_BYTES, 1]).is_err());
    }
}
