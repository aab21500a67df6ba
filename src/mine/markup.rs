//! Which stretches of a text are talk, and which are code or comments.

/// A copy of the text, byte for byte as long, in which code (fenced, inline; indented where `indented` is set) and HTML
/// comments are blanks. Line ends stay.
pub(super) fn blank_markup(text: &str, indented: bool) -> String {
    let mut out = text.as_bytes().to_vec();
    let mut at = 0;
    let mut after_blank = true;
    while at < text.len() {
        let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
        let line = &text[at..end];
        if let Some((mark, length)) = fence(line) {
            let close = fence_end(text, end, mark, length);
            blank(&mut out, at, close);
            at = close;
            after_blank = false;
            continue;
        }
        if indented
            && after_blank
            && (line.starts_with("    ") || line.starts_with('\t'))
            && !line.trim().is_empty()
        {
            blank(&mut out, at, end);
            at = end + 1;
            continue;
        }
        after_blank = line.trim().is_empty();
        at = inline(text, at, end, &mut out);
    }
    // Only whole characters were replaced, by ASCII blanks.
    String::from_utf8(out).unwrap_or_default()
}

fn blank(out: &mut [u8], from: usize, to: usize) {
    let to = to.min(out.len());
    out[from..to]
        .iter_mut()
        .filter(|byte| **byte != b'\n')
        .for_each(|byte| *byte = b' ');
}

/// The mark and length of a fence that opens (or could close) on this line.
fn fence(line: &str) -> Option<(u8, usize)> {
    let inner = line.trim_start_matches(' ');
    let mark = *inner
        .as_bytes()
        .first()
        .filter(|mark| matches!(mark, b'`' | b'~'))?;
    let length = inner.bytes().take_while(|byte| *byte == mark).count();
    // A line such as "```x``` y" is inline code.
    let info_has_mark = mark == b'`' && inner[length..].contains('`');
    (line.len() - inner.len() <= 3 && length >= 3 && !info_has_mark).then_some((mark, length))
}

/// Where a fenced block ends: after its closing line, or at the end of the text.
fn fence_end(text: &str, from: usize, mark: u8, length: usize) -> usize {
    let mut at = from;
    while at < text.len() {
        let start = at + 1;
        let end = text[start.min(text.len())..]
            .find('\n')
            .map_or(text.len(), |found| start + found);
        let line = &text[start.min(text.len())..end];
        if fence(line).is_some_and(|found| found.0 == mark && found.1 >= length)
            && line.trim().bytes().all(|byte| byte == mark)
        {
            return end;
        }
        at = end;
    }
    text.len()
}

/// Blanks inline code and comments of one line (both may run on over lines); returns where reading goes on.
fn inline(text: &str, from: usize, line_end: usize, out: &mut [u8]) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < line_end {
        if text[at..].starts_with("<!--") {
            let close = text[at..]
                .find("-->")
                .map_or(text.len(), |length| at + length + 3);
            blank(out, at, close);
            at = close;
            if at > line_end {
                return at;
            }
        } else if bytes[at] == b'`' {
            let length = bytes[at..].iter().take_while(|byte| **byte == b'`').count();
            let close = span_end(text, at + length, length);
            if let Some(close) = close {
                blank(out, at, close);
            }
            at = close.unwrap_or(at + length);
            if at > line_end {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    line_end + 1
}

/// Where an inline span ends that was opened by `length` backticks: after as many, within the paragraph.
fn span_end(text: &str, from: usize, length: usize) -> Option<usize> {
    let paragraph = text[from..].find("\n\n").map_or(text.len(), |found| from + found);
    let bytes = &text.as_bytes()[..paragraph];
    let mut at = from;
    while at < paragraph {
        if bytes[at] == b'`' {
            let run = bytes[at..].iter().take_while(|byte| **byte == b'`').count();
            if run == length {
                return Some(at + run);
            }
            at += run;
        } else {
            at += 1;
        }
    }
    None
}
