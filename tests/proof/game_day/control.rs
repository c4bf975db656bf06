//! A link of the chain from a fault to its end that is removed: `cargo xtask prove game-day --without NAME` must fail.

use fastrand::Rng;
use measurements::LINKS;

use super::drill::Drill;

/// The link that is no alarm, metric or finding: what is done about a fault.
pub(super) const ACTION: &str = "action";

/// The removed link, if there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct Control(Option<String>);

impl Control {
    /// The control of this run.
    pub(super) fn from_env() -> Self {
        Self(measurements::without().filter(|name| LINKS.iter().any(|(link, _)| link == name)))
    }

    /// Removes this link.
    #[cfg(test)]
    pub(super) fn without(link: &str) -> Self {
        Self(Some(link.to_owned()))
    }

    /// Returns true if this link is removed.
    pub(super) fn removes(&self, link: &str) -> bool {
        self.0.as_deref() == Some(link)
    }

    /// The faults of a day; with a removed link, one that needs it.
    pub(super) fn drills(&self, rng: &mut Rng) -> Vec<Drill> {
        let day = Drill::random_day(rng);
        let Some(link) = &self.0 else { return day };
        let variants = day.into_iter().flat_map(|drill| [drill, drill.other()]);
        variants.filter(|drill| drill.needs(link)).take(1).collect()
    }
}

#[test]
fn every_link_of_a_drill_can_be_removed_and_every_removable_link_is_one_of_a_drill() {
    let mut rng = Rng::with_seed(7);
    for (link, _) in LINKS {
        let drills = Control::without(link).drills(&mut rng);
        assert!(drills.len() == 1 && drills[0].needs(link), "{link}: {drills:?}");
    }
    for drill in Drill::all() {
        let missing: Vec<_> =
            drill.links().into_iter().filter(|link| LINKS.iter().all(|(name, _)| name != link)).collect();
        assert!(missing.is_empty(), "{drill}: {missing:?}");
    }
    assert_eq!(Control::default().drills(&mut rng).len(), 6);
}
