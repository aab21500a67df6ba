//! `SHA256SUMS`, as `sha256sum --check` reads it.

use std::collections::BTreeMap;

use crate::domain::hash::sha256_hex;

/// The file's name.
pub const NAME: &str = "SHA256SUMS";

/// The text for these files, by name; the sums' own file is left out.
pub fn write(files: &BTreeMap<String, Vec<u8>>) -> String {
    let lines = files.iter().filter(|(name, _)| *name != NAME);
    lines.fold(String::new(), |text, (name, bytes)| {
        text + &sha256_hex(bytes) + "  " + name + "\n"
    })
}

/// The sums by file name.
///
/// # Errors
/// The number (from 1) of the first line that is not `<64 hex digits>  <name>`, or names a file again.
pub fn read(text: &str) -> Result<BTreeMap<String, String>, usize> {
    let mut sums = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let (sum, name) = line.split_once("  ").ok_or(index + 1)?;
        let is_sum = sum.len() == 64 && sum.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_sum || name.is_empty() || sums.insert(name.to_owned(), sum.to_owned()).is_some() {
            return Err(index + 1);
        }
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_come_back(files in proptest::collection::btree_map("[a-z./-]{1,12}", any::<Vec<u8>>(), 0..5)) {
            let sums = read(&write(&files)).unwrap();
            prop_assert_eq!(sums.len(), files.len());
            for (name, bytes) in &files {
                prop_assert_eq!(&sums[name], &sha256_hex(bytes));
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            if let Ok(sums) = read(&text) {
                prop_assert_eq!(sums.len(), text.lines().count());
            }
        }
    }

    #[test]
    fn the_place_of_a_wrong_line_is_told() {
        let sum = sha256_hex(b"");
        assert_eq!(read(&format!("{sum}  a\n{sum} b\n")), Err(2));
        assert_eq!(read(&format!("{sum}  a\n{sum}  a\n")), Err(2));
        assert_eq!(read("abc  a\n"), Err(1));
    }
}
