//! Text patches of one file: whether they apply, to what result, and whether two of them change the same lines.
//!
//! The rules are those of `git apply`: a hunk may have moved, the nearest place counts, its context must match exactly,
//! a hunk at the beginning or the end of a file must stay there, and no two hunks share lines.

use memchr::memchr;

use crate::domain::diff::hunk_lengths;

/// One hunk: the lines it expects and the lines it leaves, line ends included.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk<'a> {
    old_start: usize,
    new_start: usize,
    before: Vec<&'a [u8]>,
    after: Vec<&'a [u8]>,
    /// The removed (`-`) and added (`+`) lines, in order.
    changed: Vec<(u8, &'a [u8])>,
    trailing: usize,
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines = vec![];
    let mut rest = text;
    while !rest.is_empty() {
        let end = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, tail) = rest.split_at(end);
        lines.push(line);
        rest = tail;
    }
    lines
}

/// `@@ -a,b +c,d @@` → `(a, c)`.
fn starts(head: &[u8]) -> Option<(usize, usize)> {
    let text = std::str::from_utf8(head)
        .ok()
        .or_else(|| std::str::from_utf8(head.get(..60)?).ok())?;
    let mut words = text.split(' ').skip(1);
    let mut start = |sign: char| words.next()?.strip_prefix(sign)?.split(',').next()?.parse().ok();
    Some((start('-')?, start('+')?))
}

/// The hunks of a file's section; `None` when it holds none (binary, mode, pure rename) or is cut short.
fn hunks(section: &[u8]) -> Option<Vec<Hunk<'_>>> {
    let mut hunks = vec![];
    let mut rest = lines(section)
        .into_iter()
        .skip_while(|line| !line.starts_with(b"@@ -"))
        .peekable();
    while let Some(head) = rest.next() {
        let (old_start, new_start) = starts(head)?;
        let (mut old, mut new) = hunk_lengths(head)?;
        let mut hunk = Hunk {
            old_start,
            new_start,
            before: vec![],
            after: vec![],
            changed: vec![],
            trailing: 0,
        };
        while old > 0 || new > 0 || rest.peek().is_some_and(|line| line.starts_with(b"\\")) {
            let line = rest.next()?;
            let (kind, mut text) = line.split_first()?;
            if rest.peek().is_some_and(|next| next.starts_with(b"\\")) {
                text = text.strip_suffix(b"\n").unwrap_or(text);
            }
            match kind {
                b' ' => {
                    hunk.before.push(text);
                    hunk.after.push(text);
                    hunk.trailing += 1;
                    (old, new) = (old.checked_sub(1)?, new.checked_sub(1)?);
                }
                b'-' => {
                    hunk.changed.push((b'-', text));
                    hunk.before.push(text);
                    hunk.trailing = 0;
                    old = old.checked_sub(1)?;
                }
                b'+' => {
                    hunk.changed.push((b'+', text));
                    hunk.after.push(text);
                    hunk.trailing = 0;
                    new = new.checked_sub(1)?;
                }
                b'\\' => {}
                _ => return None,
            }
        }
        hunks.push(hunk);
    }
    (!hunks.is_empty()).then_some(hunks)
}

/// What a file's section makes of a content; `None` when it does not apply, or is no text patch.
pub fn apply(section: &[u8], content: &[u8]) -> Option<Vec<u8>> {
    // Each line, and whether a hunk wrote it.
    let mut image: Vec<(&[u8], bool)> = lines(content).into_iter().map(|line| (line, false)).collect();
    for hunk in hunks(section)? {
        let place = place(&hunk, &image)?;
        let after = hunk.after.iter().map(|line| (*line, true));
        image.splice(place..place + hunk.before.len(), after);
    }
    Some(image.iter().flat_map(|(line, _)| line.iter().copied()).collect())
}

fn place(hunk: &Hunk<'_>, image: &[(&[u8], bool)]) -> Option<usize> {
    let room = image.len().checked_sub(hunk.before.len())?;
    let fits = |at: usize| {
        image[at..at + hunk.before.len()]
            .iter()
            .zip(&hunk.before)
            .all(|((line, written), wanted)| !written && line == wanted)
    };
    if hunk.old_start <= 1 {
        return Some(0).filter(|at| fits(*at) && (hunk.trailing > 0 || room == 0));
    }
    if hunk.trailing == 0 {
        return Some(room).filter(|at| fits(*at));
    }
    let wanted = hunk.new_start.saturating_sub(1).min(image.len());
    let reach = wanted.max(image.len() - wanted);
    (0..=reach).find_map(|distance| {
        let after = Some(wanted + distance).filter(|at| *at <= room && fits(*at));
        after.or_else(|| wanted.checked_sub(distance).filter(|at| *at <= room && fits(*at)))
    })
}

/// Whether two sections of the same file remove and add the same lines in the same order, whatever stands around them
/// and wherever that is. Sections without hunks must be the same bytes.
pub fn same_changes(one: &[u8], other: &[u8]) -> bool {
    match (hunks(one), hunks(other)) {
        (Some(one), Some(other)) => one
            .iter()
            .flat_map(|hunk| &hunk.changed)
            .eq(other.iter().flat_map(|hunk| &hunk.changed)),
        (None, None) => one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
