//! What a line says, so that it can be compared with another: without what is there for its looks.

/// Marks that part sentences and what is in them.
const MARKS: [char; 6] = ['.', ',', ';', ':', '!', '?'];
/// Quotes, around words or code.
const QUOTES: &[char] = &['"', '\'', '`', '“', '”', '„', '‘', '’', '‚', '«', '»'];
/// Signs that answer by themselves, such as in a table's cell.
const ANSWERS: &[char] = &['✓', '✔', '✗', '✘', '✕', '✖', '✅', '❌', '❎', '☑', '☒'];

/// What is said in a line that is read: its words and signs, without quotes, roles, simple emphasis, marks at a word's end
/// and capitals; nothing where there is no word, or an address alone.
pub(in crate::emit::docs) fn wording(line: &str) -> String {
    let line = line.trim();
    let has_words = line.contains(|c: char| c.is_alphanumeric() || ANSWERS.contains(&c));
    if !has_words || is_address(line) {
        return String::new();
    }
    pieces(&without_emphasis(&without_quotes(line)))
}

/// A line of words without what makes it an item, a title, a quotation, or a row of a table.
pub(super) fn without_layout(line: &str) -> &str {
    let mut rest = line.trim();
    while let Some(inner) = behind_mark(rest) {
        rest = inner.trim_start();
    }
    let title = rest.trim_end_matches('#');
    let rest = if title.ends_with(char::is_whitespace) {
        title
    } else {
        rest
    };
    rest.trim_end().trim_end_matches('|').trim_end()
}

/// What stands behind the mark that begins a line.
fn behind_mark(line: &str) -> Option<&str> {
    let mut chars = line.chars();
    let rest = match chars.next()? {
        '-' | '*' | '+' | '•' | '>' | ':' | '|' => chars.as_str(),
        '#' => {
            let rest = line.trim_start_matches('#');
            // An item that counts by itself (`#.`).
            rest.strip_prefix('.').unwrap_or(rest)
        }
        '0'..='9' => {
            let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
            rest.strip_prefix(['.', ')'])
                .filter(|_| line.len() - rest.len() <= 3)?
        }
        _ => return None,
    };
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some(rest)
}

/// Whether a line is nothing but one template's instruction.
pub(super) fn is_template(words: &str) -> bool {
    [("{{", "}}"), ("{%", "%}")].iter().any(|&(open, end)| {
        let rest = words.strip_prefix(open).and_then(|rest| rest.split_once(end));
        rest.is_some_and(|(_, after)| after.trim().is_empty())
    })
}

/// Whether a line is nothing but an address.
fn is_address(line: &str) -> bool {
    let line = line.strip_prefix('<').unwrap_or(line);
    (line.starts_with("https://") || line.starts_with("http://")) && !line.contains(char::is_whitespace)
}

/// A line without quotes, and without the names of roles before them.
fn without_quotes(line: &str) -> String {
    let mut said = String::new();
    let mut rest = line;
    let mut is_open = false;
    while let Some(at) = rest.find(QUOTES) {
        let (before, found) = rest.split_at(at);
        said.push_str(before);
        rest = found.trim_start_matches('`');
        if rest.len() == found.len() {
            let mut chars = found.chars();
            chars.next();
            rest = chars.as_str();
            continue;
        }
        is_open = !is_open;
        if is_open {
            if let Some(start) = role_start(&said) {
                said.truncate(start);
                rest = shown(rest);
            }
        } else {
            // A link's end.
            rest = rest.trim_start_matches('_');
        }
    }
    said.push_str(rest);
    said
}

/// Where the name of a role begins that ends a text (`:code:`, `{code}`).
fn role_start(said: &str) -> Option<usize> {
    let is_name = |c: char| c.is_alphanumeric() || "-_.+:".contains(c);
    if let Some(inner) = said.strip_suffix('}') {
        let outer = inner.trim_end_matches(is_name).strip_suffix('{')?;
        return (outer.len() + 1 < inner.len()).then_some(outer.len());
    }
    let start = said.trim_end_matches(is_name).len();
    let name = &said[start..];
    (name.len() > 2 && name.starts_with(':') && name.ends_with(':')).then_some(start)
}

/// What a role shows of the name that begins here: of `~a.b` the last part.
fn shown(rest: &str) -> &str {
    let Some(path) = rest.strip_prefix('~') else {
        return rest.strip_prefix('!').unwrap_or(rest);
    };
    let end = path.find('`').unwrap_or(path.len());
    path[..end].rfind('.').map_or(path, |dot| &path[dot + 1..])
}

/// A line without simple emphasis: between two equal runs of marks that stand around words.
fn without_emphasis(line: &str) -> String {
    let mut said = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['*', '_']) {
        let (before, found) = rest.split_at(at);
        said.push_str(before);
        let mark = if found.starts_with('*') { '*' } else { '_' };
        let inner = found.trim_start_matches(mark);
        let length = found.len() - inner.len();
        let begins = length <= 3 && !said.ends_with(char::is_alphanumeric);
        let end = inner
            .find(mark)
            .filter(|end| begins && is_emphasis(inner, *end, mark, length));
        if let Some(end) = end {
            said.push_str(&inner[..end]);
            rest = &inner[end + length..];
        } else {
            said.push_str(&found[..length]);
            rest = inner;
        }
    }
    said.push_str(rest);
    said
}

/// Whether words that begin behind as many marks end before the marks at `end`.
fn is_emphasis(inner: &str, end: usize, mark: char, length: usize) -> bool {
    let (words, close) = inner.split_at(end);
    let after = close.trim_start_matches(mark);
    close.len() - after.len() == length
        && !words.is_empty()
        && !words.starts_with(char::is_whitespace)
        && !words.ends_with(char::is_whitespace)
        && !after.starts_with(char::is_alphanumeric)
}

/// The words and signs of a line, each parted from the next by a blank.
fn pieces(line: &str) -> String {
    let mut said = String::new();
    let mut before: Option<char> = None;
    for (at, sign) in line.char_indices() {
        let after = &line[at + sign.len_utf8()..];
        let goes_on = before.is_some_and(is_of_word);
        if is_of_word(sign) {
            if !goes_on && !said.is_empty() {
                said.push(' ');
            }
            said.extend(sign.to_lowercase());
        } else if !sign.is_whitespace() && !is_mark(before, sign, after) && !is_escape(sign, after) {
            if !said.is_empty() {
                said.push(' ');
            }
            said.push(sign);
        }
        before = Some(sign);
    }
    said
}

fn is_of_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// Whether a sign is a mark at a word's end.
fn is_mark(before: Option<char>, sign: char, after: &str) -> bool {
    MARKS.contains(&sign)
        && before.is_some_and(|before| !before.is_whitespace())
        && after
            .trim_start_matches(MARKS)
            .chars()
            .next()
            .is_none_or(|next| next.is_whitespace() || next == ')')
}

/// Whether a sign says no more than that the next one is no markup.
fn is_escape(sign: char, after: &str) -> bool {
    sign == '\\'
        && after
            .chars()
            .next()
            .is_none_or(|next| next.is_ascii_punctuation() || next.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_do_not_change_what_is_said() {
        for (one, other) in [
            ("It is ``ten``.", "it is :func:`ten`"),
            ("``size``", ":attr:`~a.Box.size`,"),
            ("``size``", "{attr}`!size`"),
            ("`one`_, two", "one two"),
            ("**one** *two* __three__", "one two three"),
            ("\"one\" and ‘two’", "one and two"),
            ("x>3", "x  >  3"),
            ("a \\*b", "a *b"),
            ("don't", "don’t"),
        ] {
            assert_eq!(wording(one), wording(other), "{one}");
        }
    }

    #[test]
    fn signs_are_said() {
        for (one, other) in [
            ("``x > 3``", "``x < 3``"),
            ("``*args``", "``**args``"),
            ("The default is -1.", "The default is 1."),
            ("| a | ✗ |", "| a | ✓ |"),
            ("✗", "✓"),
            ("1.0", "10"),
            ("x != 3", "x = 3"),
            ("a_b", "a-b"),
            (":type: int", ":type: float"),
            ("`:one:` two", "`` two"),
        ] {
            assert_ne!(wording(one), wording(other), "{one}");
        }
        for nothing in ["====", "| - |", "<https://x.org/a>", "https://x.org/a", "", "``"] {
            assert_eq!(wording(nothing), "", "{nothing}");
        }
    }

    #[test]
    fn layout_is_left_out() {
        for (line, words) in [
            ("- one", "one"),
            ("* - 2) one", "one"),
            ("12. one", "one"),
            ("#. one", "one"),
            ("## One ##", "One"),
            ("| a | b |", "a | b"),
            ("> one", "one"),
            ("-1", "-1"),
            ("*one*", "*one*"),
            ("2024. one", "2024. one"),
            ("C#", "C#"),
            ("1.", ""),
        ] {
            assert_eq!(without_layout(line), words, "{line}");
        }
    }
}
