//! Named seeds of each target: inputs with a purpose, and the inputs of fixed crashes.

/// Joins byte strings, at compile time.
macro_rules! seed {
    ($($part:expr),+ $(,)?) => {{
        const PARTS: &[&[u8]] = &[$($part),+];
        const BYTES: [u8; $crate::seeds::length(PARTS)] = $crate::seeds::join(PARTS);
        &BYTES
    }};
}

mod images;
mod messages;
mod preparation;
mod requests;
mod rows;
mod splitter;

/// A name that states the purpose, and the input.
pub type Seed = (&'static str, &'static [u8]);

/// The seeds of all targets.
pub const SEEDS: [(&str, &[Seed]); 6] = [
    ("images", images::SEEDS),
    ("messages", messages::SEEDS),
    ("preparation", preparation::SEEDS),
    ("requests", requests::SEEDS),
    ("rows", rows::SEEDS),
    ("splitter", splitter::SEEDS),
];

/// Returns the seeds of a target; none if there is no such target.
#[must_use]
pub fn seeds(target: &str) -> &'static [Seed] {
    SEEDS.into_iter().find(|(name, _)| *name == target).map_or(&[], |(_, seeds)| seeds)
}

const fn length(mut parts: &[&[u8]]) -> usize {
    let mut length = 0;
    while let [part, rest @ ..] = parts {
        length += part.len();
        parts = rest;
    }
    length
}

const fn join<const LENGTH: usize>(mut parts: &[&[u8]]) -> [u8; LENGTH] {
    let (mut bytes, mut end) = ([0; LENGTH], 0);
    while let [part, rest @ ..] = parts {
        let mut at = 0;
        while at < part.len() {
            bytes[end] = part[at];
            (end, at) = (end + 1, at + 1);
        }
        parts = rest;
    }
    bytes
}
