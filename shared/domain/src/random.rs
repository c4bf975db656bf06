//! Random names and fractions. Their bits are the operating system's, unless a simulation has seeded this thread.
//!
//! A simulation run must be reproducible, including the names of its attempts and its jitter. Nothing else may seed a
//! thread: a repeated sequence would repeat names that must be unique. `clippy.toml` refuses it outside the simulation.

use std::cell::Cell;

use uuid::{Builder, Uuid};

thread_local! {
    static STATE: Cell<Option<u64>> = const { Cell::new(None) };
    /// Number of ids that a seeded thread has generated.
    static IDS: Cell<u64> = const { Cell::new(0) };
}

/// Makes this thread draw from the deterministic sequence of this seed from now on.
pub fn seed(seed: u64) {
    STATE.set(Some(seed));
    IDS.set(0);
}

/// Returns a new id that is greater than all earlier ones of its process. It begins with the time, or in a seeded thread
/// with the number of the id.
pub fn ordered_id() -> Uuid {
    if STATE.get().is_none() {
        return Uuid::now_v7();
    }
    IDS.set(IDS.get() + 1);
    let [.., a, b, c, d, e, f, g, h, i, j] = bits().to_be_bytes();
    Builder::from_unix_timestamp_millis(IDS.get(), &[a, b, c, d, e, f, g, h, i, j]).into_uuid()
}

/// Returns a new id that begins with this time, in milliseconds since the Unix epoch. In a seeded thread, see
/// [`ordered_id`].
pub fn ordered_id_at(millis: u64) -> Uuid {
    if STATE.get().is_some() {
        return ordered_id();
    }
    let [.., a, b, c, d, e, f, g, h, i, j] = bits().to_be_bytes();
    Builder::from_unix_timestamp_millis(millis, &[a, b, c, d, e, f, g, h, i, j]).into_uuid()
}

/// Returns eight random characters that name one attempt at a chunk, so that no attempt takes another's write for its
/// own.
pub fn nonce() -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let bits = bits();
    (0..8).map(|i| char::from(ALPHABET[(bits >> (5 * i)) as usize & 31])).collect()
}

/// Returns a random fraction in 0..1, for jitter.
pub fn fraction() -> f64 {
    (bits() as u32) as f64 / f64::from(u32::MAX)
}

/// Returns 128 random bits.
fn bits() -> u128 {
    match STATE.get() {
        None => Uuid::new_v4().as_u128(),
        Some(state) => {
            let (high, state) = split_mix(state);
            let (low, state) = split_mix(state);
            STATE.set(Some(state));
            (u128::from(high) << 64) | u128::from(low)
        }
    }
}

/// Returns the next number of a SplitMix64 sequence and the next state.
#[must_use]
pub const fn split_mix(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31), state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "what is tested")]
    fn only_seeded_threads_repeat_their_random_bits() {
        let names = || {
            seed(7);
            [nonce(), nonce(), ordered_id().to_string()]
        };
        assert_eq!(names(), names());
        assert_ne!(names()[0], names()[1]);
        let drawn = || std::thread::spawn(nonce).join().unwrap();
        assert_ne!(drawn(), drawn());
        let ids = [(); 3].map(|()| ordered_id());
        assert!(ids.is_sorted() && ids[0] != ids[1], "{ids:?}");
        assert_ne!(std::thread::spawn(ordered_id).join().unwrap(), ids[0]);
    }
}
