//! What of a shell's text is run: conditions decided where their words are known, on Linux and for the interpreter that
//! was filled in before. What is not decided is taken both ways, and told.

mod truth;
mod variables;

use std::collections::BTreeMap;

use self::truth::{Truth, glob, is_known, is_test, known, test};
use self::variables::{Variables, sets};
use super::command::acts;
use super::plan::{Act, Step};
use super::shell::{Command, FOR_LATER, Joined, commands};
use crate::domain::settings::Place;

/// The steps of a shell's text; `place` gives the line that many below its first. `environment` is what is set where it
/// runs, as far as that is known.
pub(super) fn steps(
    text: &str,
    environment: &BTreeMap<String, String>,
    place: &dyn Fn(u32) -> Place,
) -> Vec<Step> {
    let mut steps = Vec::new();
    for taken in taken(commands(text), environment) {
        let place = place(taken.command.offset);
        let acts = acts(&taken.command.words);
        // A variable of the shell's own is no part of what programs see.
        if acts.is_empty() || sets(&taken.command.words).is_some() {
            continue;
        }
        let is_said = taken.command.words.last().is_none_or(|word| word != FOR_LATER);
        if let Some(note) = taken.note.filter(|_| is_said) {
            let act = Act::Note(note);
            steps.push(Step {
                place: place.clone(),
                act,
            });
        }
        if taken.runs {
            steps.extend(acts.into_iter().map(|act| Step {
                place: place.clone(),
                act,
            }));
        }
    }
    steps
}

/// A command, whether it runs, and what is to be said of that.
struct Taken {
    command: Command,
    runs: bool,
    note: Option<String>,
}

/// An `if` or a `case` that is open.
struct Frame {
    /// What it asks, in words.
    asks: String,
    /// A case's word.
    word: Option<String>,
    /// The commands of a condition that is being read.
    condition: Option<Vec<Command>>,
    /// Whether its present branch is taken.
    now: Truth,
    /// Whether an earlier one was.
    before: bool,
    told: bool,
}

impl Frame {
    /// Enters a branch whose condition came to `truth`.
    fn enter(&mut self, truth: Truth) {
        self.now = if self.before { Truth::No } else { truth };
        self.before |= truth == Truth::Yes;
    }
}

fn taken(commands: Vec<Command>, environment: &BTreeMap<String, String>) -> Vec<Taken> {
    let mut reader = Reader {
        variables: Variables::new(&commands, environment),
        ..Reader::default()
    };
    for command in commands {
        reader.command(command);
    }
    reader.out
}

#[derive(Default)]
struct Reader {
    frames: Vec<Frame>,
    out: Vec<Taken>,
    /// How the list of commands that is joined by `&&` and `||` came out so far, and its last words.
    list: Option<(Truth, String)>,
    variables: Variables,
}

impl Reader {
    fn command(&mut self, mut command: Command) {
        if !matches!(command.joined, Joined::And | Joined::Or | Joined::Pipe) {
            self.list = None;
        }
        self.variables.fill(&mut command.words);
        let mut in_pattern = command.joined == Joined::Clause;
        loop {
            let first = command.words.first().map(String::as_str).unwrap_or_default();
            match first {
                "" if command.words.is_empty() => return,
                "if" => self.frames.push(Frame {
                    asks: String::new(),
                    word: None,
                    condition: Some(vec![]),
                    now: Truth::Yes,
                    before: false,
                    told: false,
                }),
                "elif" => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.condition = Some(vec![]);
                    }
                }
                "then" => {
                    self.list = None;
                    if let Some(frame) = self.frames.last_mut()
                        && let Some(condition) = frame.condition.take()
                    {
                        frame.asks = shown(&condition);
                        let truth = decide(&condition);
                        frame.enter(truth);
                    }
                }
                "else" => {
                    self.list = None;
                    if let Some(frame) = self.frames.last_mut() {
                        let other = if frame.now == Truth::Unknown {
                            Truth::Unknown
                        } else {
                            Truth::Yes
                        };
                        frame.enter(other);
                    }
                }
                "fi" | "esac" => {
                    self.frames.pop();
                    // What follows on the line is joined to the whole.
                    self.list = Some((Truth::Yes, first.to_owned()));
                }
                "case" if command.words.get(2).is_some_and(|word| word == "in") => {
                    let word = known(&command.words[1]);
                    self.frames.push(Frame {
                        asks: String::new(),
                        word: Some(word),
                        condition: None,
                        now: Truth::No,
                        before: false,
                        told: false,
                    });
                    command.words.drain(..3);
                    in_pattern = true;
                    if command.words.is_empty() {
                        return;
                    }
                    continue;
                }
                "do" | "{" | "(" => {}
                _ => {
                    if self.pattern(&mut command, in_pattern) {
                        in_pattern = false;
                        if command.words.is_empty() {
                            return;
                        }
                        continue;
                    }
                    return self.plain(command);
                }
            }
            command.words.remove(0);
            if command.words.is_empty() {
                return;
            }
        }
    }

    /// Takes a case's pattern off a command; false where it has none.
    fn pattern(&mut self, command: &mut Command, begins: bool) -> bool {
        let Some(frame) = self.frames.last_mut() else {
            return false;
        };
        let Some(word) = frame.word.clone() else {
            return false;
        };
        let first = command.words[0].trim_start_matches('(').to_owned();
        let (pattern, ends) = match first.strip_suffix(')') {
            Some(pattern) if !first.contains("$(") => (pattern, true),
            // `2.7|3.6)`: the first of them ends at the bar.
            _ => (first.as_str(), false),
        };
        let waits = frame.condition.is_some();
        let stands_alone = begins && command.words.len() == 1;
        if !(ends || waits || stands_alone) {
            return false;
        }
        let fresh = !waits;
        let truth = match (pattern, is_known(&word)) {
            ("*", _) => Truth::Yes,
            (_, true) => Truth::of(glob(pattern, &word)),
            _ => Truth::Unknown,
        };
        // Of alternatives one that holds is enough.
        let known = if fresh { Truth::No } else { frame.now };
        let truth = known.not().and(truth.not()).not();
        frame.asks = format!("{word} is {pattern}");
        if ends {
            frame.condition = None;
            frame.enter(truth);
        } else {
            frame.condition = Some(vec![]);
            frame.now = truth;
        }
        command.words.remove(0);
        true
    }

    fn plain(&mut self, command: Command) {
        if let Some(frame) = self.frames.last_mut()
            && let Some(condition) = &mut frame.condition
        {
            condition.push(command);
            return;
        }
        let words = command.words.join(" ");
        let is_test = is_test(&command.words);
        let own = if is_test { test(&command.words) } else { Truth::Yes };
        let (runs, joined_note, next) = match (&self.list, command.joined) {
            (Some((truth, said)), Joined::And) => {
                let note = match truth {
                    Truth::Yes => None,
                    Truth::No => Some(format!("`{words}` is left out: `{said}` does not hold")),
                    Truth::Unknown => {
                        Some(format!("whether `{said}` holds is not known: `{words}` is taken"))
                    }
                };
                (*truth != Truth::No, note, truth.and(own))
            }
            (Some((truth, said)), Joined::Or) => {
                let note = match truth {
                    Truth::No => None,
                    Truth::Yes => Some(format!("`{words}` is left out: it is for when `{said}` fails")),
                    Truth::Unknown => {
                        Some(format!("whether `{said}` holds is not known: `{words}` is taken"))
                    }
                };
                (*truth != Truth::Yes, note, truth.not().and(own.not()).not())
            }
            (Some((truth, _)), Joined::Pipe) => (*truth != Truth::No, None, *truth),
            _ => (true, None, own),
        };
        let is_joined_loosely = matches!(
            (&self.list, command.joined),
            (Some((Truth::Unknown, _)), Joined::And | Joined::Or)
        );
        self.list = Some((next, words.clone()));
        let mut note = joined_note;
        let mut runs = runs;
        if let Some(frame) = self.frames.iter().find(|frame| frame.now == Truth::No) {
            note =
                (!frame.asks.is_empty()).then(|| format!("`{words}` is left out: not where {}", frame.asks));
            runs = false;
        } else if let Some(frame) = self
            .frames
            .iter_mut()
            .find(|frame| frame.now == Truth::Unknown && !frame.told)
            && !acts(&command.words).is_empty()
            && sets(&command.words).is_none()
            && command.words.last().is_none_or(|word| word != FOR_LATER)
        {
            frame.told = true;
            note = Some(format!(
                "whether {} is not known: it is taken both ways",
                frame.asks
            ));
        }
        let is_sure = self.frames.iter().all(|frame| frame.now == Truth::Yes) && !is_joined_loosely;
        self.variables.learn(&command.words, runs, is_sure);
        self.out.push(Taken { command, runs, note });
    }
}

fn shown(condition: &[Command]) -> String {
    let mut text = String::new();
    for command in condition {
        let sign = match command.joined {
            _ if text.is_empty() => "",
            Joined::Or => " || ",
            Joined::Pipe => " | ",
            _ => " && ",
        };
        text.push_str(sign);
        text.push_str(&command.words.join(" "));
    }
    format!("`{text}` holds")
}

/// Whether a condition's commands succeed: tests alone are known.
fn decide(condition: &[Command]) -> Truth {
    let mut truth = Truth::Yes;
    for (at, command) in condition.iter().enumerate() {
        let piped = condition
            .get(at + 1)
            .is_some_and(|next| next.joined == Joined::Pipe);
        let own = match command
            .words
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .as_slice()
        {
            ["true" | ":"] => Truth::Yes,
            ["false"] => Truth::No,
            _ if is_test(&command.words) && !piped && command.joined != Joined::Pipe => test(&command.words),
            _ => Truth::Unknown,
        };
        truth = match command.joined {
            _ if at == 0 => own,
            Joined::Or => truth.not().and(own.not()).not(),
            Joined::And => truth.and(own),
            _ => own,
        };
    }
    truth
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Lines of what is installed and told, each with its offset.
    fn of(text: &str) -> Vec<String> {
        let place = |offset| Place::new("f", offset);
        let line = |step: Step| {
            let what = match step.act {
                Act::Install(what) => what,
                Act::Note(note) => format!("({note})"),
                other => format!("{other:?}"),
            };
            format!("{} {what}", step.place.line.unwrap_or_default())
        };
        steps(text, &BTreeMap::new(), &place)
            .into_iter()
            .map(line)
            .collect()
    }

    #[test]
    fn the_branch_of_the_interpreter_is_taken() {
        let text = "if [[ \"3.9\" == 2.* ]]; then\n  pip install old\nelif [ 3.9 = 3.9 ] && [ \"$RUNNER_OS\" != \"Windows\" ]\nthen pip install now\nelse\n  pip install other\nfi\npip install all\n";
        assert_eq!(
            of(text),
            [
                "1 (`pip install old` is left out: not where `[[ 3.9 == 2.* ]]` holds)",
                "3 now",
                "5 (`pip install other` is left out: not where `[ 3.9 = 3.9 ] && [ $RUNNER_OS != Windows ]` holds)",
                "7 all"
            ]
        );
        let case = "case \"3.9\" in\n  2.7|3.6)\n    pip install old ;;\n  3.8|3.9) pip install now;;\n  *) pip install rest\n    ;;\nesac\npip install all\n";
        let installs: Vec<_> = of(case).into_iter().filter(|line| !line.contains('(')).collect();
        assert_eq!(installs, ["3 now", "7 all"]);
    }

    #[test]
    fn what_is_not_decided_is_taken_both_ways_and_told() {
        let text = "if [ -f extra.txt ]; then pip install a; pip install b; else pip install c; fi\n[ -n \"$X\" ] && pip install d\n";
        assert_eq!(
            of(text),
            [
                "0 (whether `[ -f extra.txt ]` holds is not known: it is taken both ways)",
                "0 a",
                "0 b",
                "0 c",
                "1 (whether `[ -n $X ]` holds is not known: `pip install d` is taken)",
                "1 d"
            ]
        );
    }

    #[test]
    fn what_is_for_a_failure_is_left_out() {
        assert_eq!(
            of(
                "pip install a || pip install b\n[ 1 -lt 2 ] || pip install c\n[ linux == \"$TRAVIS_OS_NAME\" ] && pip install d\npip install e && pip install f\npip install g || true"
            ),
            [
                "0 a",
                "0 (`pip install b` is left out: it is for when `pip install a` fails)",
                "1 (`pip install c` is left out: it is for when `[ 1 -lt 2 ]` fails)",
                "2 d",
                "3 e",
                "3 f",
                "4 g"
            ]
        );
    }

    #[test]
    fn variables_of_the_text_are_filled_in() {
        let text = "python -m pip install --upgrade pip\nif [[ full == 'full' ]]; then EXTRAS=',stats'; fi\n\
                    if [[ latest == 'pinned' ]]; then DEPS='-r ci/pinned.txt'; fi\npip install .[dev$EXTRAS] $DEPS\n";
        assert_eq!(of(text), ["3 -e .[dev,stats]"]);
        let pinned = text.replace("latest", "pinned");
        assert_eq!(of(&pinned), ["3 -e .[dev,stats]", "3 -r ci/pinned.txt"]);
        // Nobody knows whether it is set.
        let open = "if [ -f a ]; then X=six; fi\npip install ${X} ${Y:-seven} $Z eight\n";
        let installs: Vec<_> = of(open).into_iter().filter(|line| !line.contains('(')).collect();
        assert_eq!(installs, ["1 eight"]);
        assert_eq!(
            of(
                "Y=\npip install ${Y:-seven}\nexport A=nine\npip install $A\nif [ \"$Y\" = \"\" ]; then pip install ten; fi"
            ),
            ["1 seven", "2 Env(\"A\", \"nine\")", "3 nine", "4 ten"]
        );
    }

    #[test]
    fn the_environment_is_filled_in() {
        let environment = BTreeMap::from([("EXTRA".to_owned(), "test,yaml".to_owned())]);
        let place = |offset| Place::new("f", offset);
        let steps = steps("pip install -e '.[${EXTRA}]'", &environment, &place);
        assert_eq!(steps[0].act, Act::Install("-e .[test,yaml]".to_owned()));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "(if |then |else|elif |fi|case a in|esac|a\\)|\\*\\)|;;|;|&&|\\|\\||\\||\\[ |\\]|\n|pip install a|! |é|\\{ ){0,30}") {
            let _ = of(&text);
        }
    }
}
