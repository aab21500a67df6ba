//! Shell text as commands: continued lines joined, quotes taken off, lists of commands split.

use std::iter::Peekable;
use std::str::Chars;

use crate::domain::settings::Line;

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    /// Its words, variables set in front of it left in.
    pub(super) words: Vec<String>,
    /// How many lines below the text's first it starts.
    pub(super) offset: u32,
    /// How it is joined to the one before.
    pub(super) joined: Joined,
}

/// In the place of the file that GitHub's runner reads variables for later steps from, after a command that writes there.
pub(super) const FOR_LATER: &str = ">GITHUB_ENV";

/// How a command follows the one before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Joined {
    /// After it, whatever came of it.
    #[default]
    Next,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
    /// `;;`: another of a case's clauses begins.
    Clause,
}

/// The words of one line of text; an open quote ends with the line.
pub(super) fn words(line: &str) -> Vec<String> {
    commands(line)
        .into_iter()
        .flat_map(|command| command.words)
        .collect()
}

/// The commands of a text, in order, those of conditions and loops among them; substitutions are not followed.
pub(super) fn commands(text: &str) -> Vec<Command> {
    let mut reader = Reader::default();
    let mut signs = text.chars().peekable();
    let mut line = 0;
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => match signs.next() {
                Some('\n') => line += 1,
                Some('\r') if signs.peek() == Some(&'\n') => {
                    signs.next();
                    line += 1;
                }
                Some(inner) => reader.push(inner, line),
                None => {}
            },
            '\'' | '"' => {
                reader.open(line);
                while let Some(inner) = signs.next() {
                    match inner {
                        inner if inner == sign => break,
                        '\\' if sign == '"' => reader.extend(signs.next()),
                        '\n' => {
                            line += 1;
                            reader.extend(Some(' '));
                        }
                        inner => reader.extend(Some(inner)),
                    }
                }
            }
            '#' if !reader.in_word() => {
                while signs.peek().is_some_and(|inner| *inner != '\n') {
                    signs.next();
                }
            }
            // `${{ … }}` is filled in before a shell sees the text; what is left of it is one word.
            '$' if signs.peek() == Some(&'{') => {
                reader.push('$', line);
                let mut depth = 0_u32;
                while let Some(inner) = signs.peek().copied().filter(|inner| *inner != '\n') {
                    signs.next();
                    reader.push(inner, line);
                    match inner {
                        '{' => depth += 1,
                        '}' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            // What another command prints is not known, and its words are not this one's.
            '$' if signs.peek() == Some(&'(') => {
                let inner = substitution(&mut signs, &mut line);
                // A single word is a variable of make's.
                let known = !inner.contains(char::is_whitespace);
                let shown = if known { inner } else { "()".to_owned() };
                reader.push('$', line);
                shown.chars().for_each(|sign| reader.push(sign, line));
            }
            '`' => {
                for inner in signs.by_ref().take_while(|inner| *inner != '`') {
                    line += u32::from(inner == '\n');
                }
                reader.push('$', line);
            }
            '>' if !reader.in_word() => reader.skip_word = true,
            '\n' => {
                reader.end_command();
                line += 1;
            }
            ';' | '&' | '|' => {
                reader.end_command();
                let twice = signs.next_if(|next| *next == sign).is_some();
                reader.joined = match (sign, twice) {
                    ('&', true) => Joined::And,
                    ('|', true) => Joined::Or,
                    ('|', false) => Joined::Pipe,
                    (';', true) => Joined::Clause,
                    _ => Joined::Next,
                };
            }
            ' ' | '\t' | '\r' => reader.end_word(),
            sign => reader.push(sign, line),
        }
    }
    reader.end_command();
    reader.commands
}

/// `(…)`, brackets inside counted; what is open at the text's end ends there.
fn substitution(signs: &mut Peekable<Chars<'_>>, line: &mut u32) -> String {
    let mut inner = String::new();
    let mut depth = 0_u32;
    for sign in signs.by_ref() {
        inner.push(sign);
        match sign {
            '(' => depth += 1,
            ')' => depth -= 1,
            '\n' => *line += 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    inner
}

#[derive(Default)]
struct Reader {
    commands: Vec<Command>,
    current: Vec<String>,
    word: Option<String>,
    start: u32,
    /// How the command that comes next is joined.
    joined: Joined,
    /// The next word is a file that output goes to.
    skip_word: bool,
}

impl Reader {
    fn open(&mut self, line: u32) {
        if self.word.is_none() {
            if self.current.is_empty() {
                self.start = line;
            }
            self.word = Some(String::new());
        }
    }

    fn push(&mut self, sign: char, line: u32) {
        self.open(line);
        self.extend(Some(sign));
    }

    fn extend(&mut self, sign: Option<char>) {
        if let Some(word) = &mut self.word {
            word.extend(sign);
        }
    }

    fn in_word(&self) -> bool {
        self.word.is_some()
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            if self.skip_word {
                self.skip_word = false;
                if word.contains("GITHUB_ENV") && self.current.first().is_some_and(|first| first == "echo") {
                    self.current.push(FOR_LATER.to_owned());
                }
            } else {
                self.current.push(word);
            }
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.skip_word = false;
        if !self.current.is_empty() {
            self.commands.push(Command {
                words: std::mem::take(&mut self.current),
                offset: self.start,
                joined: std::mem::take(&mut self.joined),
            });
        }
    }
}

/// The commands of several lines that each stand by themselves.
pub(super) fn commands_of(lines: &[Line]) -> Vec<(Vec<String>, &Line)> {
    let each = lines.iter().flat_map(|line| {
        commands(&line.text)
            .into_iter()
            .map(move |command| (command.words, line))
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_split_as_a_shell_does() {
        let text = "# first\npip install -U pip && \\\n  pip install 'pytest<7' \"a b\" >> log.txt\nA=1 tox -e ${{ matrix.env }} # why\nif x; then y; fi\n";
        let found: Vec<_> = commands(text)
            .into_iter()
            .map(|command| (command.offset, command.words.join("|")))
            .collect();
        let expected = [
            (1, "pip|install|-U|pip"),
            (2, "pip|install|pytest<7|a b"),
            (3, "A=1|tox|-e|${{ matrix.env }}"),
            (4, "if|x"),
            (4, "then|y"),
            (4, "fi"),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(line, words)| (*line, (*words).to_owned()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_another_command_prints_is_no_word() {
        let words = |text: &str| super::words(text).join("|");
        assert_eq!(
            words("pip install $(cat a.txt | grep -v (b)) pytest"),
            "pip|install|$()|pytest"
        );
        assert_eq!(words("pip install `cat a.txt` pytest"), "pip|install|$|pytest");
        assert_eq!(words("$(PYTHON) -m pytest"), "$(PYTHON)|-m|pytest");
        assert_eq!(words("a $(b"), "a|$(b");
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "(\\\\|`|\\$\\(|\\)|'|\"|\\$\\{|\\}|#|>|;|&|\n|\r| |[a-zé]){0,60}") {
            let _ = commands(&text);
        }
    }
}
