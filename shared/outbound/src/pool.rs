//! Idle connections, for further calls to the same origin.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::limits::Limits;
use crate::url::Origin;

/// Maximum number of idle connections, over all origins.
const IDLE: usize = 64;

/// Idle connections. A connection is here only between calls: while it is in use, the call owns it.
///
/// Times are those of the wall clock. The monotonic clock can stand still while Lambda suspends the process, and servers
/// close idle connections meanwhile.
pub(crate) struct Pool<C> {
    idle: Mutex<Vec<Idle<C>>>,
    limits: Limits,
}

struct Idle<C> {
    origin: Origin,
    connection: C,
    opened: SystemTime,
    since: SystemTime,
}

impl<C> Pool<C> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { idle: Mutex::new(Vec::new()), limits }
    }

    /// Takes the origin's connection that was used last. Closes all that are too old.
    pub(crate) fn take(&self, origin: &Origin, now: SystemTime) -> Option<C> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // After a clock that was set back, the age is unknown.
        let young = |since, limit: Duration| now.duration_since(since).is_ok_and(|age| age < limit);
        idle.retain(|kept| young(kept.since, self.limits.keep_idle) && young(kept.opened, self.limits.keep_age));
        let at = idle.iter().rposition(|kept| kept.origin == *origin)?;
        Some(idle.remove(at).connection)
    }

    /// Keeps a connection. Above the limit, the one that is idle for longest is closed.
    pub(crate) fn put(&self, origin: &Origin, connection: C, opened: SystemTime, now: SystemTime) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() >= IDLE {
            idle.remove(0);
        }
        idle.push(Idle { origin: origin.clone(), connection, opened, since: now });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(host: &str, port: u16) -> Origin {
        Origin { host: host.to_owned(), port }
    }

    #[test]
    fn a_connection_is_used_again_only_for_its_origin() {
        let (pool, now) = (Pool::new(Limits::default()), SystemTime::now());
        pool.put(&origin("a", 443), 1, now, now);
        pool.put(&origin("a", 443), 2, now, now);
        assert_eq!(pool.take(&origin("b", 443), now), None);
        assert_eq!(pool.take(&origin("a", 8443), now), None);
        assert_eq!(pool.take(&origin("a", 443), now), Some(2), "the last one");
        assert_eq!(pool.take(&origin("a", 443), now), Some(1));
        assert_eq!(pool.take(&origin("a", 443), now), None);
    }

    #[test]
    fn a_connection_ends_when_it_was_idle_or_open_for_too_long() {
        let limits = Limits::default();
        let (pool, start, a) = (Pool::new(limits), SystemTime::now(), origin("a", 443));
        let instant = Duration::from_millis(1);
        for (opened, since, now, kept) in [
            (start, start, start + limits.keep_idle - instant, true),
            (start, start, start + limits.keep_idle, false),
            (start, start + limits.keep_age - instant, start + limits.keep_age - instant, true),
            (start, start + limits.keep_age - instant, start + limits.keep_age, false),
            (start, start, start - instant, false),
        ] {
            pool.put(&a, 1, opened, since);
            assert_eq!(pool.take(&a, now).is_some(), kept, "{:?}", now.duration_since(start));
        }
    }

    #[test]
    fn the_number_of_idle_connections_is_limited() {
        let (pool, now) = (Pool::new(Limits::default()), SystemTime::now());
        for connection in 0..=IDLE {
            pool.put(&origin("a", 443), connection, now, now);
        }
        let kept: Vec<_> = std::iter::from_fn(|| pool.take(&origin("a", 443), now)).collect();
        assert_eq!(kept, (1..=IDLE).rev().collect::<Vec<_>>(), "the longest idle was closed");
    }
}
