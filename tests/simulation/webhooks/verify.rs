//! The end of a run without faults, and the checks of what the endpoints and the list have then.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use longshore_domain::event::EventsQuery;
use longshore_domain::ports::{DeliveriesFrom, DeliveriesQuery, Events, Webhooks};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::DeliveryState;

use super::receivers::{Behavior, TENANTS};
use super::{Queued, Run, START};
use crate::clock::{CLOCK, true_time};
use crate::faults;
use crate::tasks::now;

/// Runs of the test.
const SEEDS: u64 = 620;
/// Events of a run.
const EVENTS: usize = 600;

impl Run {
    /// Runs without faults until nothing is due. Returns the time that it takes, in seconds.
    fn settle(&mut self) {
        faults::clear();
        for running in std::mem::take(&mut self.running) {
            self.give_back(running.message);
        }
        for id in self.jobs.clone() {
            now(self.mover(id));
        }
        // What was given up is sent again.
        self.replay();
        let end = true_time().plus_days(10);
        while true_time() < end {
            self.queue.extend(self.sent.take_webhooks().into_iter().map(|sent| Queued {
                message: sent.message,
                visible_at: true_time().plus_seconds(i64::from(sent.delay_s)),
                receives: 0,
            }));
            self.sweep();
            for queued in std::mem::take(&mut self.queue) {
                if queued.visible_at <= true_time() {
                    assert!(now(self.deliverer(&queued.message)), "a delivery fails without a fault");
                } else {
                    self.queue.push(queued);
                }
            }
            // At first a minute, then longer.
            let passed = true_time().millis_since(START).max(60_000);
            CLOCK.set(CLOCK.get() + (passed / 50).clamp(61_000, 3_600_000));
        }
    }

    /// Checks a run that has settled. Returns the number of its events.
    fn verify(&self) -> u64 {
        let stored = self.receivers.stored.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut count = 0;
        for (name, behavior) in TENANTS {
            let tenant = TenantId::from_static(name);
            let query = EventsQuery { tenant: &tenant, after: None, before: Timestamp(i64::MAX / 2), limit: 100_000 };
            let events = now(self.memory.events(&query)).unwrap();
            let listed: BTreeSet<_> = events.iter().map(|listed| listed.event.id.clone()).collect();
            assert_eq!(listed.len(), events.len(), "two events of one id");
            let received: BTreeSet<_> = stored.get(&tenant).into_iter().flatten().map(|(id, _)| id.clone()).collect();
            let endpoint = &now(self.memory.endpoints(&tenant)).unwrap()[0];
            let (endpoint_id, from) = (endpoint.endpoint_id, DeliveriesFrom::Before(None));
            let query = DeliveriesQuery { tenant: &tenant, endpoint_id, from, limit: 100_000 };
            let deliveries = now(self.memory.deliveries_of(&query)).unwrap();
            assert_eq!(deliveries.len(), events.len(), "one delivery for each event");
            let is_delivered = |state: &DeliveryState| {
                matches!(state, DeliveryState::Delivered { .. }) != (behavior == Behavior::Dead)
            };
            assert!(deliveries.iter().all(|delivery| is_delivered(&delivery.state)), "{name}: {deliveries:?}");
            if behavior == Behavior::Dead {
                assert!(received.is_empty());
                // Disabled once it has accepted nothing for days, unless all of its deliveries had failed before.
                assert!(deliveries.iter().all(|delivery| delivery.due().is_none()));
            } else {
                assert_eq!(received, listed, "{name}");
            }
            count += events.len() as u64;
        }
        count
    }
}

#[test]
fn ten_thousand_events_arrive_at_endpoints_that_fail_whatever_dies() {
    let mut events = 0;
    for seed in 0..SEEDS {
        let mut run = Run::new(seed);
        for _ in 0..EVENTS {
            run.event();
        }
        run.settle();
        events += run.verify();
    }
    assert!(events > 10_000, "{events}");
}
