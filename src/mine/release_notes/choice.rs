//! Which of several pull requests an entry tells of: the second half of the [rule](super::resolve).

use super::resolve::{Evidence, Found, Known, LandedAt, Verdict};
use crate::mine::graph::Node;

impl Known {
    /// Chooses among those that can be the entry's; whether several were equally good.
    pub(super) fn choose(&self, pulls: &mut [Found]) -> bool {
        let mut able: Vec<usize> = (0..pulls.len())
            .filter(|place| pulls[*place].verdict == Verdict::Weaker)
            .collect();
        able.sort_by_key(|place| self.rank(&pulls[*place]));
        let named: Vec<usize> = able
            .iter()
            .copied()
            .filter(|place| pulls[*place].evidence.contains(&Evidence::Named))
            .collect();
        let stands = |place: &usize| self.undone(&pulls[*place]).is_none();
        let standing: Vec<usize> = named.iter().copied().filter(stands).collect();
        let first = able.first().copied();
        let (chosen, ambiguous) = if !standing.is_empty() {
            let instead = self.instead_of_heads(pulls, &able, &standing);
            (instead.map_or(standing, |other| vec![other]), false)
        } else if !named.is_empty() {
            let again = self.landed_again(pulls, &able, &named);
            (again.map_or(named, |again| vec![again]), false)
        } else if let Some(first) = first {
            let good = |place: usize| self.rank(&pulls[place]).0;
            let equal = able.get(1).is_some_and(|second| good(first) == good(*second));
            (vec![first], equal)
        } else {
            return false;
        };
        let lost = able
            .iter()
            .copied()
            .filter(|place| self.undone(&pulls[*place]).is_some());
        for place in lost.collect::<Vec<_>>() {
            pulls[place].verdict = Verdict::Reverted;
        }
        for place in chosen {
            pulls[place].verdict = Verdict::Chosen;
        }
        ambiguous
    }

    /// Where only their heads show that those which the entry names landed: the best other one that landed for itself, and
    /// that more than a mention shows. It took these heads in.
    fn instead_of_heads(&self, pulls: &[Found], able: &[usize], named: &[usize]) -> Option<usize> {
        let by_head = |place: &usize| !self.landed.contains_key(&pulls[*place].number);
        let other = |place: &usize| {
            let first_hand = |landed: &LandedAt| landed.undone.is_none() && !landed.second_hand;
            !by_head(place)
                && self.how(&pulls[*place]).is_some_and(first_hand)
                && self.strength(&pulls[*place]) < MENTIONED
        };
        let alone = named.iter().all(by_head);
        able.iter().copied().find(|place| alone && other(place))
    }

    /// The best one that landed after those that the entry names were reverted, and that more than a mention shows.
    fn landed_again(&self, pulls: &[Found], able: &[usize], named: &[usize]) -> Option<usize> {
        let undone = named
            .iter()
            .filter_map(|place| self.undone(&pulls[*place]))
            .max()?;
        able.iter().copied().find(|place| {
            let found = &pulls[*place];
            self.how(found).is_some_and(|landed| {
                landed.undone.is_none() && !landed.second_hand && landed.commit > undone
            }) && self.strength(found) < MENTIONED
        })
    }

    fn how(&self, found: &Found) -> Option<&LandedAt> {
        self.landing(found.number, found.evidence.contains(&Evidence::Named))
    }

    fn undone(&self, found: &Found) -> Option<Node> {
        self.how(found)?.undone
    }

    /// How good a pull request is, the best first; those with the same first part are equally good.
    fn rank(&self, found: &Found) -> (Good, Option<i64>, u32) {
        let landed = self.how(found);
        let good = (
            landed.is_some_and(|landed| landed.undone.is_some()),
            landed.is_some_and(|landed| landed.second_hand),
            self.strength(found),
            usize::MAX - found.evidence.len(),
        );
        (good, landed.map(|landed| landed.at), found.number)
    }

    /// How strong the evidence is, the strongest first.
    fn strength(&self, found: &Found) -> u8 {
        let slight = self.slight.contains(&found.number);
        let has = |evidence| found.evidence.contains(&evidence);
        let of_issue = has(Evidence::Api) || has(Evidence::Closes) || has(Evidence::Mentions);
        match () {
            () if has(Evidence::Named) => 0,
            () if has(Evidence::Fragment) && !slight => 1,
            () if has(Evidence::Line) && of_issue && !slight => 2,
            () if has(Evidence::Api) => 3,
            () if has(Evidence::Closes) => 4,
            () if has(Evidence::Line) && !slight => 5,
            () => MENTIONED,
        }
    }
}

/// What [`Known::strength`] is of one that messages only name.
const MENTIONED: u8 = 6;

/// Whether it was undone, whether it is second-hand, how strong its evidence is, how few kinds it has.
type Good = (bool, bool, u8, usize);
