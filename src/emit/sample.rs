//! Which instances of a version are looked at by people: a stratified sample, large enough to speak for the whole.
//!
//! The size is Cochran's for a proportion (Sampling Techniques, 3rd ed., section 4.4, with p = 1/2, which is the
//! largest) and its correction for a finite population. Doc2Feat-Bench, section 2.2.1, has at least 84 of 634 tasks for
//! a margin of 10 % at 95 %. Each stratum gets its share by largest remainders, and one at least.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::annotate::Parent;
use super::export::container::quoted;
use super::instance::Instance;
use crate::domain::decimal::Decimal;
use crate::domain::hash::sha256_hex;
use crate::domain::ids::{InstanceId, RepoName};

/// A number above 0 and below 1, kept to six decimals: what is written down is what was drawn by, to the last digit.
pub type Level = Decimal<1_000_000, 1, 999_999>;

/// What a sample must be good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// How often the interval must hold the truth: above 1/2.
    pub confidence: Level,
    /// Half the interval's width.
    pub margin: Level,
}

/// What instances are told apart by before they are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stratify {
    /// Their repositories.
    Repo,
    /// Nothing: all are one stratum.
    None,
}

impl Stratify {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Repo => "repo",
            Self::None => "none",
        }
    }

    /// The stratum of a repository's instances.
    pub fn stratum(self, repo: &RepoName) -> String {
        match self {
            Self::Repo => repo.to_string(),
            Self::None => "all".to_owned(),
        }
    }

    /// Every instance with its stratum.
    pub fn strata(self, rows: &[Instance]) -> Vec<(InstanceId, String)> {
        rows.iter()
            .map(|row| (row.instance_id.clone(), self.stratum(&row.repo)))
            .collect()
    }
}

/// Everything that a sample follows from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    /// What it must be good for.
    pub wanted: Wanted,
    /// What each share is taken of.
    pub stratify: Stratify,
    /// What is drawn by.
    pub seed: String,
    /// The version that is drawn from.
    pub parent: Parent,
}

impl Draw {
    /// The command that draws it from the version in this folder.
    pub fn command(&self, folder: &str) -> String {
        format!(
            "quarry sample {} --stratify {} --confidence {} --margin {} --seed {} --json",
            quoted(folder),
            self.stratify.name(),
            self.wanted.confidence.value(),
            self.wanted.margin.value(),
            quoted(&self.seed)
        )
    }
}

/// A sample, with everything that it can be drawn again by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// How many instances there are.
    pub population: usize,
    /// How many were drawn.
    pub size: usize,
    /// How often the interval holds the truth.
    pub confidence: Level,
    /// Half the interval's width.
    pub margin: Level,
    /// What each share was taken of.
    pub stratify: Stratify,
    /// What was drawn by.
    pub seed: String,
    /// The version that was drawn from.
    pub parent: Parent,
    /// How many of each stratum: there, and drawn.
    pub strata: BTreeMap<String, (usize, usize)>,
    /// The instances, by their ids.
    pub instances: Vec<InstanceId>,
}

impl Sample {
    /// What it says that it follows from.
    pub fn draw(&self) -> Draw {
        Draw {
            wanted: Wanted {
                confidence: self.confidence,
                margin: self.margin,
            },
            stratify: self.stratify,
            seed: self.seed.clone(),
            parent: self.parent.clone(),
        }
    }

    /// In what it is not `drawn`, which was drawn by what it says; `None` where it is that very sample.
    pub fn fault(&self, drawn: &Self) -> Option<String> {
        if self == drawn {
            return None;
        }
        let lists = self.instances.len();
        let missing = |of: &Self, from: &Self| {
            of.instances
                .iter()
                .find(|id| !from.instances.contains(id))
                .cloned()
        };
        Some(if self.size != lists {
            format!(
                "it lists {lists} instances, and says that {} were drawn",
                self.size
            )
        } else if let Some(id) = missing(drawn, self) {
            format!("`{id}`, which is drawn by its seed, is not in it")
        } else if let Some(id) = missing(self, drawn) {
            format!("`{id}` is in it, and is not drawn by its seed")
        } else {
            "its counts or its order are not those of what is drawn by its seed".to_owned()
        })
    }
}

/// How many of `population` must be looked at, at least.
pub fn size(population: usize, wanted: Wanted) -> usize {
    if population == 0 {
        return 0;
    }
    let z = quantile(f64::midpoint(1.0, wanted.confidence.value()));
    let margin = wanted.margin.value();
    let infinite = z * z / (4.0 * margin * margin);
    let finite = infinite / (1.0 + (infinite - 1.0) / population as f64);
    // Ten digits are enough for any population; the rest is the machine's noise.
    let needed = ((finite * 1e6).round() / 1e6).ceil().max(1.0);
    (1..=population)
        .find(|count| *count as f64 >= needed)
        .unwrap_or(population)
}

/// Draws a sample of the instances, given with their strata in any order. The same draw gives the same ones.
pub fn sample(instances: &[(InstanceId, String)], draw: &Draw) -> Sample {
    let seed = &draw.seed;
    let mut strata: BTreeMap<&str, Vec<(String, &InstanceId)>> = BTreeMap::new();
    for (id, stratum) in instances {
        let lot = sha256_hex(format!("{seed}\n{id}").as_bytes());
        strata.entry(stratum).or_default().push((lot, id));
    }
    let total = size(instances.len(), draw.wanted).max(strata.len());
    let sizes: Vec<usize> = strata.values().map(Vec::len).collect();
    let shares = shares(&sizes, total);
    let mut drawn = vec![];
    let mut told = BTreeMap::new();
    for ((name, mut lots), share) in strata.into_iter().zip(shares) {
        lots.sort();
        told.insert(name.to_owned(), (lots.len(), share));
        drawn.extend(lots.into_iter().take(share).map(|(_, id)| id.clone()));
    }
    drawn.sort();
    Sample {
        population: instances.len(),
        size: drawn.len(),
        confidence: draw.wanted.confidence,
        margin: draw.wanted.margin,
        stratify: draw.stratify,
        seed: seed.clone(),
        parent: draw.parent.clone(),
        strata: told,
        instances: drawn,
    }
}

/// `total` spread over strata of these sizes: each its share rounded down, one at least, and what is left to the largest
/// remainders (the earlier of equals).
fn shares(sizes: &[usize], total: usize) -> Vec<usize> {
    let population: usize = sizes.iter().sum();
    if population == 0 {
        return vec![0; sizes.len()];
    }
    let mut shares: Vec<usize> = sizes
        .iter()
        .map(|size| (size * total / population).max(1))
        .collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|place| (usize::MAX - sizes[*place] * total % population, *place));
    let mut left = total.saturating_sub(shares.iter().sum());
    while left > 0 {
        let before = left;
        for place in &order {
            if left > 0 && shares[*place] < sizes[*place] {
                shares[*place] += 1;
                left -= 1;
            }
        }
        if before == left {
            break;
        }
    }
    shares
}

/// The standard normal's quantile for a probability above 1/2: Abramowitz and Stegun, 26.2.23, to 4.5e-4.
fn quantile(probability: f64) -> f64 {
    let t = (-2.0 * (1.0 - probability).ln()).sqrt();
    let above = 0.010_328_f64.mul_add(t, 0.802_853).mul_add(t, 2.515_517);
    let below = 0.001_308_f64
        .mul_add(t, 0.189_269)
        .mul_add(t, 1.432_788)
        .mul_add(t, 1.0);
    t - above / below
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wanted(confidence: f64, margin: f64) -> Wanted {
        Wanted {
            confidence: Level::nearest(confidence).unwrap(),
            margin: Level::nearest(margin).unwrap(),
        }
    }

    fn usual() -> Wanted {
        wanted(0.95, 0.05)
    }

    fn draw(seed: &str) -> Draw {
        Draw {
            wanted: usual(),
            stratify: Stratify::Repo,
            seed: seed.to_owned(),
            parent: Parent {
                name: "sample".into(),
                version: "0.1.0".into(),
                sha256: "ab".into(),
            },
        }
    }

    #[test]
    fn sizes_are_cochrans() {
        assert_eq!(size(634, wanted(0.95, 0.10)), 84);
        assert_eq!(size(634, usual()), 240);
        assert_eq!(size(1_000_000, usual()), 385);
        assert_eq!((size(0, usual()), size(1, usual()), size(3, usual())), (0, 1, 3));
        assert!((quantile(0.975) - 1.96).abs() < 1e-3 && (quantile(0.995) - 2.5758).abs() < 1e-3);
    }

    fn ids(strata: &[usize]) -> Vec<(InstanceId, String)> {
        let named = strata.iter().enumerate();
        named
            .flat_map(|(stratum, size)| {
                (0..*size)
                    .map(move |number| (InstanceId(format!("s{stratum}-{number}")), format!("s{stratum}")))
            })
            .collect()
    }

    #[test]
    fn what_is_written_down_draws_the_same_again() {
        let instances = ids(&[30, 7]);
        let drawn = sample(
            &instances,
            &Draw {
                wanted: wanted(0.9, 0.123_456),
                ..draw("it's 7")
            },
        );
        let text = serde_json::to_string(&drawn).unwrap();
        assert!(
            text.contains(r#""confidence":0.9,"margin":0.123456,"stratify":"repo","seed":"it's 7""#),
            "{text}"
        );
        let read: Sample = serde_json::from_str(&text).unwrap();
        assert_eq!(read.fault(&sample(&instances, &read.draw())), None);
        assert_eq!(
            read.draw().command("a b"),
            r"quarry sample 'a b' --stratify repo --confidence 0.9 --margin 0.123456 --seed 'it'\''s 7' --json"
        );
        assert!(serde_json::from_str::<Sample>(&text.replacen("0.9,", "1.0,", 1)).is_err());
    }

    #[test]
    fn a_sample_that_was_edited_is_told_from_what_is_drawn() {
        let instances = ids(&[30, 7]);
        let drawn = sample(
            &instances,
            &Draw {
                wanted: wanted(0.9, 0.2),
                ..draw("7")
            },
        );
        let fault = |change: &dyn Fn(&mut Sample)| {
            let mut edited = drawn.clone();
            change(&mut edited);
            edited
                .fault(&sample(&instances, &edited.draw()))
                .unwrap_or_default()
        };
        let first = drawn.instances[0].clone();
        let size = drawn.size;
        assert_eq!(
            fault(&|sample| drop(sample.instances.remove(0))),
            format!("it lists {} instances, and says that {size} were drawn", size - 1)
        );
        assert_eq!(
            fault(&|sample| {
                sample.instances.remove(0);
                sample.size -= 1;
            }),
            format!("`{first}`, which is drawn by its seed, is not in it")
        );
        assert!(fault(&|sample| sample.seed.push('8')).contains("by its seed"));
        assert!(
            fault(&|sample| sample.margin = Level::nearest(0.9).unwrap())
                .contains("is not drawn by its seed")
        );
        assert!(fault(&|sample| sample.population += 1).contains("its counts"));
    }

    proptest! {
        #[test]
        fn every_stratum_has_its_share_whatever_the_order(strata in prop::collection::vec(1_usize..80, 1..6), seed in "[a-z]{1,4}") {
            let instances = ids(&strata);
            let drawn = sample(&instances, &draw(&seed));
            let mut turned = instances.clone();
            turned.reverse();
            prop_assert_eq!(&drawn, &sample(&turned, &draw(&seed)));
            prop_assert!(drawn.size >= size(instances.len(), usual()));
            let wanted = size(instances.len(), usual()).max(strata.len());
            for (there, taken) in drawn.strata.values() {
                prop_assert!(*taken >= 1 && taken <= there);
                let share = there * wanted / instances.len();
                prop_assert!(*taken >= share && *taken <= share + strata.len(), "{} of {}", taken, there);
            }
        }
    }
}
