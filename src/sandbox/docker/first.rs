//! The first process inside a container, and the marks by which it tells how the job ended.
//!
//! It starts the job as its child, so that signals and exit codes are told as they are, and orphans are taken in. It
//! tells the job's end before it ends itself: until then the kernel's counters of the container can be read. And it
//! holds the lifeline: its input comes from Quarry and ends with it, and then it kills everything inside.

use std::collections::BTreeSet;

/// Its program. On its input come a line (mark, size of the job's input, whether the job's errors go with its output,
/// variables to drop), the job's input, and then nothing until Quarry is gone. Its arguments are the job's.
pub(super) const SCRIPT: &str = r#"exec 4>&2 2>/dev/null
IFS=' ' read -r mark size merge drop
exec 3<&0 </dev/null
{
  head -c "$size" <&3
  exec >&-
  while read -r _ <&3; do :; done
  kill -KILL -1
} | {
  (
    exec 3<&-
    [ -z "$drop" ] || unset $drop
    trap 'printf "\n%s start\n" "$mark" >&4' EXIT
    if [ "$merge" = 1 ]; then exec "$@" 2>&1 4>&-; else exec "$@" 2>&4 4>&-; fi
  )
  printf '\n%s end %s\n' "$mark" "$?" >&4
}
code=$?
printf '\n%s gone %s\n' "$mark" "$code" >&4
exit "$code""#;

/// The line before the job's input.
pub(super) fn preface(mark: &str, input: usize, merged: bool, drop: &BTreeSet<String>) -> String {
    let names: Vec<&str> = drop
        .iter()
        .map(String::as_str)
        .filter(|name| is_shell_name(name))
        .collect();
    format!("{mark} {input} {} {}\n", u8::from(merged), names.join(" "))
}

/// Whether a shell can `unset` it.
fn is_shell_name(name: &str) -> bool {
    name.bytes()
        .enumerate()
        .all(|(at, byte)| byte == b'_' || byte.is_ascii_alphabetic() || (at > 0 && byte.is_ascii_digit()))
        && !name.is_empty()
}

/// What the first process told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// The job's program could not be started.
    NotStarted,
    /// The job ended with this code (128 and a signal's number for a signal, as shells say it).
    Ended(i32),
    /// The job's starter was killed, and this is its code.
    Killed(i32),
}

/// Takes the marks out of a stream.
#[derive(Debug)]
pub(super) struct Marks {
    needle: Vec<u8>,
    held: Vec<u8>,
    words: Option<Vec<u8>>,
}

impl Marks {
    pub(super) fn new(mark: &str) -> Self {
        Self {
            needle: format!("\n{mark} ").into_bytes(),
            held: Vec::new(),
            words: None,
        }
    }

    /// The job's own bytes in `chunk` (and in what was held back before).
    pub(super) fn take(&mut self, chunk: &[u8]) -> Vec<u8> {
        if let Some(words) = &mut self.words {
            words.extend_from_slice(chunk);
            return Vec::new();
        }
        self.held.extend_from_slice(chunk);
        if let Some(at) = memchr::memmem::find(&self.held, &self.needle) {
            self.words = Some(self.held.split_off(at));
            return std::mem::take(&mut self.held);
        }
        // The stream's end may be the beginning of a mark.
        let keep = (1..self.needle.len().min(self.held.len() + 1))
            .rev()
            .find(|length| self.held.ends_with(&self.needle[..*length]))
            .unwrap_or(0);
        let rest = self.held.split_off(self.held.len() - keep);
        std::mem::replace(&mut self.held, rest)
    }

    /// What was held back, when the stream is over.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// What is known by now of the job's end. That it could not be started is told before its starter's code.
    pub(super) fn told(&self) -> Option<Told> {
        let text = String::from_utf8_lossy(self.words.as_deref()?);
        let mark = std::str::from_utf8(&self.needle).unwrap_or_default().trim();
        let mut not_started = false;
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let mut words = line.split_whitespace();
            if words.next() != Some(mark) {
                continue;
            }
            let what = words.next();
            let code = words.next().and_then(|code| code.parse().ok());
            match (what, code) {
                (Some("start"), _) => not_started = true,
                (Some("end"), Some(_)) if not_started => return Some(Told::NotStarted),
                (Some("end"), Some(code)) => return Some(Told::Ended(code)),
                (Some("gone"), Some(code)) => return Some(Told::Killed(code)),
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_tell_the_end() {
        let told = |text: &str| {
            let mut marks = Marks::new("m");
            let mut own = marks.take(text.as_bytes());
            own.extend(marks.rest());
            (String::from_utf8(own).unwrap(), marks.told())
        };
        assert_eq!(
            told("out\n\nm end 3\n"),
            ("out\n".to_owned(), Some(Told::Ended(3)))
        );
        assert_eq!(told("x\nm end 3"), ("x".to_owned(), None), "half a line");
        let no = "sh: no\n\nm start\n\nm end 127\n";
        assert_eq!(told(no), ("sh: no\n".to_owned(), Some(Told::NotStarted)));
        assert_eq!(told("\nm gone 137\n"), (String::new(), Some(Told::Killed(137))));
        assert_eq!(
            told("m end 3\n"),
            ("m end 3\n".to_owned(), None),
            "no line of its own"
        );
    }

    #[test]
    fn only_names_that_a_shell_knows_are_dropped() {
        let drop = ["A", "B_2", "2B", "a-b", "x y", ""].map(str::to_owned).into();
        assert_eq!(preface("m", 3, true, &drop), "m 3 1 A B_2\n");
    }

    proptest! {
        #[test]
        fn however_it_is_cut_the_jobs_bytes_come_through(
            own in "[a-c\nm ]{0,60}",
            cuts in proptest::collection::vec(0_usize..90, 0..6),
        ) {
            let whole = format!("{own}\nMARK end 7\n").into_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
            cuts.extend([0, whole.len()]);
            cuts.sort_unstable();
            let mut marks = Marks::new("MARK");
            let mut seen = Vec::new();
            for pair in cuts.windows(2) {
                seen.extend(marks.take(&whole[pair[0]..pair[1]]));
            }
            seen.extend(marks.rest());
            prop_assert_eq!(String::from_utf8(seen).unwrap(), own);
            prop_assert_eq!(marks.told(), Some(Told::Ended(7)));
        }
    }
}
