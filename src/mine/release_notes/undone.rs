//! Which pull requests were reverted, where that still stands.
//!
//! A revert names what it undoes by its commit, by its number, or by its title alone; where git's own words stand right
//! below its title, that may say what it will (`Back out sheep`). It counts where it is on the same branch as what it
//! undoes, undoes the whole of it, and was not reverted itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::Regex;

use crate::domain::candidate::{Relation, RelationKind};
use crate::mine::graph::Node;
use crate::mine::merges::Landed;
use crate::mine::pattern::compiled;
use crate::mine::subjects::{Landing, relations};
use crate::mine::trunk::Trunk;

/// A pull request as it landed, with its own commits.
pub(super) type Whole = (Landed, Vec<Node>);

/// Pull requests that were reverted, each with the commit that did it. `owners` tells which pull request a commit is of.
pub(super) fn undone(
    trunk: &Trunk<'_>,
    landed: &BTreeMap<u32, Whole>,
    owners: &HashMap<Node, u32>,
) -> BTreeMap<u32, Node> {
    let mut titles: BTreeMap<String, Vec<Node>> = BTreeMap::new();
    let mut at_once: BTreeMap<Node, usize> = BTreeMap::new();
    for whole in landed.values() {
        let landing = whole.0.commit;
        *at_once.entry(landing).or_default() += 1;
        let title = trunk.words(landing).and_then(|words| words.title.as_deref());
        let only = only(whole).map(|own| trunk.graph.commit(own).subject());
        for title in title.into_iter().chain(only) {
            titles.entry(title.to_owned()).or_default().push(landing);
        }
    }
    let mut reverts: Vec<(Node, Node)> = vec![];
    for node in trunk.graph.nodes().filter(|node| trunk.all.contains(*node)) {
        let of = owners.get(&node).and_then(|number| landed.get(number));
        // A step inside a pull request; what lands that has its title.
        if of.is_some_and(|(landing, _)| landing.commit != node) {
            continue;
        }
        // A merge need not tell the title; its only commit does.
        let own = of.and_then(only);
        let Some(revert) = revert(trunk, node).or_else(|| revert(trunk, own?)) else {
            continue;
        };
        let target = target(trunk, &revert, node, landed, owners, &titles);
        titles.entry(revert.text).or_default().push(node);
        if let Some(target) = target
            && target < node
            && trunk.root(target) == trunk.root(node)
        {
            reverts.push((node, target));
        }
    }
    // The newest first: what was reverted itself undoes nothing.
    let mut undone: BTreeMap<Node, Node> = BTreeMap::new();
    for (node, target) in reverts.into_iter().rev() {
        if !undone.contains_key(&node) {
            undone.entry(target).or_insert(node);
        }
    }
    let alone = landed
        .iter()
        .filter(|(_, (landing, _))| at_once.get(&landing.commit) == Some(&1));
    alone
        .filter_map(|(number, (landing, _))| Some((*number, *undone.get(&landing.commit)?)))
        .collect()
}

/// A pull request's commit, where it has one alone.
fn only(whole: &Whole) -> Option<Node> {
    match whole.1.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// Whether a message says that it undoes another change wholly.
pub(super) fn undoes(message: &str) -> bool {
    let subject = message.lines().next().unwrap_or_default();
    is_revert(subject) || by_body(subject, message).is_some()
}

/// The pull requests that a message says it lands again, after they were reverted.
pub(super) fn lands_again(message: &str) -> BTreeSet<u32> {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"(?i)\bre-?(?:land(?:s|ed|ing)?|appl(?:y|ies|ied|ying))(?: of)?:? (?:PR |pull request )?#([1-9][0-9]{0,8})\b",
        )
    });
    FORM.captures_iter(message)
        .filter_map(|found| found[1].parse().ok())
        .collect()
}

/// What the first words below a title undo, where they are git's own.
fn by_body(subject: &str, message: &str) -> Option<Relation> {
    static FORM: LazyLock<Regex> =
        LazyLock::new(|| compiled(r"(?i)\A[^\n]*\s+This reverts commit ([0-9a-f]{40})\b"));
    let is_whole = !subject.to_ascii_lowercase().contains("partial");
    let found = FORM.captures(message).filter(|_| is_whole)?;
    Some(Relation {
        kind: RelationKind::Reverts,
        number: None,
        commit: found[1].parse().ok(),
        text: subject.trim().to_owned(),
    })
}

/// `Reapply "…"` undoes the revert of that.
fn by_title(subject: &str) -> Option<Relation> {
    let rest = subject.trim().strip_prefix("Reapply \"")?;
    Some(Relation {
        kind: RelationKind::Reverts,
        number: None,
        commit: None,
        text: format!("Revert \"Revert \"{rest}\""),
    })
}

/// Whether a message's first line says that it undoes another change wholly.
fn is_revert(subject: &str) -> bool {
    let head = subject.trim_start().as_bytes();
    head.get(..6)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"revert"))
}

/// What a commit says it undoes.
fn revert(trunk: &Trunk<'_>, node: Node) -> Option<Relation> {
    let message = trunk.graph.commit(node).message.as_str();
    let words = trunk.words(node);
    let title = words.and_then(|words| words.title.as_deref());
    let source = match words.and_then(|words| words.landing.as_ref()) {
        Some(Landing::Merge { source, .. }) => source.as_deref(),
        _ => None,
    };
    let subject = title.unwrap_or_else(|| message.lines().next().unwrap_or_default());
    let told = if is_revert(subject) || source.is_some_and(|source| source.contains("revert-")) {
        relations(title, source, &[], &[message])
            .into_iter()
            .find(|relation| relation.kind == RelationKind::Reverts)
    } else {
        None
    };
    told.or_else(|| by_body(subject, message))
        .or_else(|| by_title(subject))
}

/// The commit that brought what a revert undoes.
fn target(
    trunk: &Trunk<'_>,
    revert: &Relation,
    node: Node,
    landed: &BTreeMap<u32, Whole>,
    owners: &HashMap<Node, u32>,
    titles: &BTreeMap<String, Vec<Node>>,
) -> Option<Node> {
    if let Some(at) = revert.commit.and_then(|commit| trunk.graph.find(commit)) {
        return match owners.get(&at).and_then(|number| landed.get(number)) {
            Some((landing, own)) => (landing.commit == at || own.len() == 1).then_some(landing.commit),
            None => Some(at),
        };
    }
    let quoted = quoted(&revert.text);
    // In a revert of a revert the number may be that of what the first one undid.
    let is_of_quoted = !quoted.is_some_and(|quoted| is_revert(quoted) && !quoted.ends_with(')'));
    let by_number = revert.number.filter(|_| is_of_quoted);
    by_number
        .and_then(|number| landed.get(&number))
        .map(|(landing, _)| landing.commit)
        .or_else(|| {
            let same = titles.get(quoted?)?;
            same.iter().copied().filter(|at| *at < node).max()
        })
}

/// What stands between a text's first quotation mark and its last one.
fn quoted(text: &str) -> Option<&str> {
    let from = text.find(['"', '\'', '“'])?;
    let first = text[from..].chars().next()?;
    let to = text.rfind(['"', '\'', '”'])?;
    text.get(from + first.len_utf8()..to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::candidate::MergeKind;
    use crate::domain::history::{CommitRecord, Person};
    use crate::domain::ids::CommitSha;
    use crate::mine::graph::Graph;
    use crate::mine::trunk::Root;

    fn sha(place: u8) -> CommitSha {
        CommitSha::from_bytes([place; 20])
    }

    /// One commit after the other, each that ends in a number the landing of that pull request.
    fn told(messages: &[String]) -> BTreeMap<u32, Node> {
        let commits = (0_u8..).zip(messages).map(|(place, message)| CommitRecord {
            sha: sha(place),
            tree: sha(0),
            parents: (place > 0).then(|| sha(place - 1)).into_iter().collect(),
            author: Person::default(),
            authored_at: 0,
            committer: Person::default(),
            committed_at: i64::from(place),
            message: message.clone(),
        });
        let graph = Graph::new(commits.collect());
        let tip = graph.commit(graph.nodes().end - 1).sha;
        let root = Root {
            name: "main".to_owned(),
            tip,
            trusted: true,
        };
        let trunk = Trunk::new(&graph, vec![root]);
        let landed: BTreeMap<u32, Whole> = graph
            .nodes()
            .filter_map(|node| {
                let landing = trunk.words(node)?.landing.as_ref()?;
                let landed = Landed {
                    commit: node,
                    base: node - 1,
                    kind: MergeKind::Squash,
                    evidence: vec![],
                };
                Some((*landing.numbers().first()?, (landed, vec![])))
            })
            .collect();
        let owners = landed
            .iter()
            .map(|(number, (landed, _))| (landed.commit, *number))
            .collect();
        undone(&trunk, &landed, &owners)
    }

    #[test]
    fn what_a_revert_undoes_is_told_unless_that_was_reverted() {
        let messages = [
            "Start".to_owned(),
            "Wool option (#2)".to_owned(),
            "Revert \"Wool option\" (#6)".to_owned(),
            "Wool option, again (#7)".to_owned(),
            "Goats (#8)".to_owned(),
            "Revert \"Goats (#8)\"".to_owned(),
            format!(
                "Revert \"Revert \"Goats (#8)\"\"\n\nThis reverts commit {}.",
                sha(5)
            ),
            "Sheep (#9)".to_owned(),
            "Partially revert \"Sheep (#9)\"".to_owned(),
            "Cows (#10)".to_owned(),
            format!("Revert \"Cows\"\n\nThis reverts commit {}.", sha(9)),
            "Hens (#11)".to_owned(),
            "Revert \"Hens\" (#12)".to_owned(),
            "Revert \"Revert \"Hens\"\" (#13)".to_owned(),
        ];
        let more = [
            "Pigs (#14)".to_owned(),
            format!("Back out pigs (#15)\n\nThis reverts commit {}.", sha(14)),
            "Geese (#16)".to_owned(),
            format!(
                "Back out some geese, partially (#17)\n\nThis reverts commit {}.",
                sha(16)
            ),
            "Ducks (#18)".to_owned(),
            "Revert \"Ducks (#18)\" (#19)".to_owned(),
            "Reapply \"Ducks (#18)\" (#20)".to_owned(),
            format!("Ducks of old\n\n* Reads them\n\nThis reverts commit {}.", sha(18)),
        ];
        // The first half stands alone: a revert that was reverted counts for nothing only from then on.
        assert_eq!(told(&messages[..6]), BTreeMap::from([(2, 2), (8, 5)]));
        assert_eq!(told(&messages), BTreeMap::from([(2, 2), (10, 10), (12, 13)]));
        let all = [messages.as_slice(), more.as_slice()].concat();
        let told = told(&all);
        assert_eq!(
            told.into_iter()
                .filter(|(number, _)| *number > 13)
                .collect::<Vec<_>>(),
            [(14, 15), (19, 20)]
        );
    }

    #[test]
    fn who_lands_a_change_again_says_so() {
        for (message, numbers) in [
            ("Sheep, second try\n\nRelands #30.", &[30][..]),
            ("Re-land of PR #31 and re-applies #32", &[31, 32][..]),
            ("Lands #33 on the island #34", &[][..]),
        ] {
            let numbers: BTreeSet<u32> = numbers.iter().copied().collect();
            assert_eq!(lands_again(message), numbers, "{message}");
        }
        assert!(undoes("Revert \"Sheep\""));
        assert!(!undoes("Sheep\n\nSee above.\nThis reverts commit or another."));
    }
}
