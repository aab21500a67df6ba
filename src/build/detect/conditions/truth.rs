//! A shell's tests (`[ a = b ]`), decided where their words are known.

/// Variables and commands whose value is the same wherever Quarry runs.
const KNOWN: &[(&str, &str)] = &[
    ("$RUNNER_OS", "Linux"),
    ("${RUNNER_OS}", "Linux"),
    ("$TRAVIS_OS_NAME", "linux"),
    ("${TRAVIS_OS_NAME}", "linux"),
    ("$OSTYPE", "linux-gnu"),
    ("${OSTYPE}", "linux-gnu"),
    ("$(uname)", "Linux"),
    ("`uname`", "Linux"),
];

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    Yes,
    No,
    Unknown,
}

impl Truth {
    pub(super) fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    pub(super) fn not(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, Self::Yes) => Self::Yes,
            _ => Self::Unknown,
        }
    }
}

pub(super) fn is_test(words: &[String]) -> bool {
    let words = words.strip_prefix(&["!".to_owned()]).unwrap_or(words);
    let begins = words
        .first()
        .is_some_and(|word| matches!(word.as_str(), "[" | "[[" | "test"));
    begins
        || words
            .last()
            .is_some_and(|word| matches!(word.as_str(), "]" | "]]"))
}

/// `[ a = b ]`, `[[ a == b* ]]`, `! test -z a`, and a part of `[[ … && … ]]`.
pub(super) fn test(words: &[String]) -> Truth {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut not = false;
    words.retain(|word| {
        not ^= *word == "!";
        !matches!(*word, "[" | "[[" | "]" | "]]" | "test" | "!")
    });
    let truth = match words.as_slice() {
        ["-z", text] => single(text, str::is_empty),
        ["-n", text] | [text] => single(text, |text| !text.is_empty()),
        [left, sign, right] => {
            let (left, right) = (known(left), known(right));
            if !is_known(&left) || !is_known(&right) {
                return Truth::Unknown;
            }
            let number = |text: &str| text.parse::<i64>().ok();
            match (*sign, number(&left).zip(number(&right))) {
                ("=" | "==", _) => Truth::of(glob(&right, &left)),
                ("!=", _) => Truth::of(!glob(&right, &left)),
                ("-eq", Some((a, b))) => Truth::of(a == b),
                ("-ne", Some((a, b))) => Truth::of(a != b),
                ("-ge", Some((a, b))) => Truth::of(a >= b),
                ("-gt", Some((a, b))) => Truth::of(a > b),
                ("-le", Some((a, b))) => Truth::of(a <= b),
                ("-lt", Some((a, b))) => Truth::of(a < b),
                _ => Truth::Unknown,
            }
        }
        _ => Truth::Unknown,
    };
    if not { truth.not() } else { truth }
}

fn single(text: &str, holds: impl Fn(&str) -> bool) -> Truth {
    let text = known(text);
    if is_known(&text) {
        Truth::of(holds(&text))
    } else {
        Truth::Unknown
    }
}

pub(super) fn known(text: &str) -> String {
    let mut text = text.to_owned();
    for (name, value) in KNOWN {
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if let Some((before, rest)) = text.split_once(name).filter(|(_, rest)| ends(rest)) {
            text = format!("{before}{value}{rest}");
        }
    }
    text
}

pub(super) fn is_known(text: &str) -> bool {
    !text.contains(['$', '`', '{'])
}

/// Whether a shell's pattern of `*` and `?` matches a text.
pub(super) fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    // The last star seen, and where it began to match.
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(sign) if *sign == '?' || *sign == text[from] => {
                at += 1;
                from += 1;
            }
            _ => match &mut star {
                Some((place, begun)) => {
                    *begun += 1;
                    at = *place + 1;
                    from = *begun;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|sign| *sign == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_decided_where_their_words_are_known() {
        let of = |line: &str| {
            let words: Vec<String> = line
                .split(' ')
                .map(|word| word.trim_matches('\'').to_owned())
                .collect();
            (is_test(&words), test(&words))
        };
        for (line, truth) in [
            ("[ a = a ]", Truth::Yes),
            ("[[ 3.9 == 3.* ]]", Truth::Yes),
            ("! [ 2 -ge 3 ]", Truth::Yes),
            ("test -z a", Truth::No),
            ("[ -n '' ]", Truth::No),
            ("[ $RUNNER_OS = Linux ]", Truth::Yes),
            ("[ $RUNNER_OSX = Linux ]", Truth::Unknown),
            ("[ -f x ]", Truth::Unknown),
            ("[ a -ge b ]", Truth::Unknown),
        ] {
            assert_eq!(of(line), (true, truth), "{line}");
        }
        assert!(!of("pip install a").0);
    }

    #[test]
    fn patterns_match_as_a_shells_do() {
        for (pattern, text, matches) in [
            ("3.*", "3.9", true),
            ("*", "", true),
            ("a*b*c", "axxbyyc", true),
            ("a?c", "abc", true),
            ("a*b", "ac", false),
            ("", "a", false),
        ] {
            assert_eq!(glob(pattern, text), matches, "{pattern} {text}");
        }
    }
}
