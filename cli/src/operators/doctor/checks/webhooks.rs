//! Webhooks that accept no events.

use deployment::finding::Finding;

use super::code::Code;
use crate::operators::doctor::facts::{Facts, FailingWebhook};

/// Maximum number of webhooks with a finding of their own, oldest first.
const NAMED: usize = 3;

/// Seconds before the first failed attempt from which on events are sent again.
const REPLAY_S: i64 = 3_600;

/// Runs the checks. The owners of the webhooks can fix them, so the findings are warnings; with many of them, the cause
/// can be this stack.
pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let mut webhooks: Vec<_> = facts.failing_webhooks.iter().collect();
    webhooks.sort_by_key(|webhook| webhook.since);
    let more = webhooks.len().saturating_sub(NAMED);
    webhooks.into_iter().take(NAMED).map(|webhook| failing(facts, webhook, more)).collect()
}

/// Describes a webhook that fails. `more` is the number of those without a finding.
fn failing(facts: &Facts, webhook: &FailingWebhook, more: usize) -> Finding {
    let more = if more > 0 { format!("; {more} more fail") } else { String::new() };
    let problem = format!("it has accepted no event for {}{more}", facts.since(webhook.since));
    // An event is older than its first attempt.
    let from = webhook.since.plus_seconds(-REPLAY_S).to_rfc3339();
    let FailingWebhook { id, tenant, .. } = webhook;
    let fix = format!(
        "tell the owner, who sends the events again once the endpoint answers: `longshore webhooks replay {id} --since \
         {from}`; to look at it: `longshore operations webhooks --tenant '{tenant}'`"
    );
    let location = format!("webhook {id} of tenant {tenant}");
    let finding = Finding::warning(location, problem, fix).with_code(Code::WebhookFailing);
    finding.with_consequence("its events are sent again for three days; after five days it is disabled")
}

#[cfg(test)]
mod tests {
    use longshore_domain::tenant::TenantId;
    use longshore_domain::timestamp::Timestamp;

    use super::super::tests::{codes, healthy};
    use super::*;

    #[test]
    fn webhooks_that_accept_no_events_are_found_with_the_oldest_first() {
        let webhook = |id: &str, since| FailingWebhook {
            id: id.to_owned(),
            tenant: TenantId::from_static("auth0|ann"),
            since: Timestamp(since),
        };
        let with = |failing_webhooks| check(&Facts { now: Timestamp(3_900_000), failing_webhooks, ..healthy() });
        let found = with(vec![webhook("w1", 3_800_000), webhook("w2", 3_600_000)]);
        assert_eq!(codes(&found), ["webhook_failing", "webhook_failing"]);
        let first = &found[0];
        assert_eq!(
            (first.location.as_str(), first.problem.as_str()),
            ("webhook w2 of tenant auth0|ann", "it has accepted no event for 5 minutes")
        );
        assert!(first.fix.contains("`longshore webhooks replay w2 --since 1970-01-01T00:00:00Z`"), "{first}");
        assert!(first.fix.ends_with("`longshore operations webhooks --tenant 'auth0|ann'`"), "{first}");
        let found = with(["a", "b", "c", "d", "e"].map(|id| webhook(id, 3_600_000)).to_vec());
        assert_eq!(found.len(), NAMED);
        assert!(found[0].problem.ends_with("; 2 more fail"), "{}", found[0]);
        assert!(check(&healthy()).is_empty());
    }
}
