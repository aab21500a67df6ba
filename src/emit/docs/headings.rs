//! Which section of a document a line is in.

/// The headings of a document that a line (from 1) stands under, outermost first: reStructuredText and Markdown.
pub(super) fn path(text: &str, line: usize) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut styles: Vec<(char, bool)> = vec![];
    let mut open: Vec<(usize, String)> = vec![];
    let mut fence = false;
    let mut at = 0;
    while at < lines.len() && at < line {
        let words = lines[at];
        if words.trim_start().starts_with("```") || words.trim_start().starts_with("~~~") {
            fence = !fence && adornment(words.trim_start()).is_none_or(|mark| mark == '`' || mark == '~');
        }
        let next = lines.get(at + 1).copied().unwrap_or_default();
        let level_of = |styles: &mut Vec<(char, bool)>, style: (char, bool)| {
            styles
                .iter()
                .position(|known| *known == style)
                .unwrap_or_else(|| {
                    styles.push(style);
                    styles.len() - 1
                })
        };
        let mut found = None;
        if fence {
        } else if let Some((level, title)) = atx(words) {
            found = Some((level, title.to_owned()));
        } else if let Some(mark) = adornment(words)
            && !next.is_empty()
            && lines
                .get(at + 2)
                .is_some_and(|below| adornment(below) == Some(mark))
        {
            found = Some((level_of(&mut styles, (mark, true)), next.trim().to_owned()));
            at += 2;
        } else if !words.is_empty()
            && !words.starts_with([' ', '\t'])
            && adornment(words).is_none()
            && let Some(mark) = adornment(next)
            && next.len() >= words.chars().count().min(4)
            && (at == 0 || lines[at - 1].is_empty())
        {
            found = Some((level_of(&mut styles, (mark, false)), words.to_owned()));
            at += 1;
        }
        if let Some((level, title)) = found {
            open.retain(|(outer, _)| *outer < level);
            open.push((level, title));
        }
        at += 1;
    }
    open.into_iter().map(|(_, title)| title).collect()
}

fn adornment(words: &str) -> Option<char> {
    let mark = words.chars().next().filter(char::is_ascii_punctuation)?;
    (words.len() >= 3 && words.chars().all(|c| c == mark)).then_some(mark)
}

fn atx(words: &str) -> Option<(usize, &str)> {
    let level = words.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &words[level..];
    ((1..=6).contains(&level) && rest.starts_with(' '))
        .then(|| (level, rest.trim().trim_end_matches('#').trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_under_its_headings() {
        let rst = "=====\nTitle\n=====\n\nPart\n----\n\ntext\n\nDeep\n~~~~\n\nmore\n\nOther\n-----\nend\n";
        assert_eq!(path(rst, 8), ["Title", "Part"]);
        assert_eq!(path(rst, 13), ["Title", "Part", "Deep"]);
        assert_eq!(path(rst, 17), ["Title", "Other"]);
        assert!(path(rst, 0).is_empty());
        let markdown = "# A\n## B\n```\n# no\n```\nx\n# C\ny\n";
        assert_eq!(path(markdown, 6), ["A", "B"]);
        assert_eq!(path(markdown, 8), ["C"]);
    }
}
