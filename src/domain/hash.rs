//! Content hashes: what makes "same input, same bytes" checkable.

use sha2::{Digest, Sha256};

/// The SHA-256 of `bytes`, as 64 lower-case hex digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes as lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(DIGITS[usize::from(digit)]));
        }
    }
    text
}

/// Hashes a list of named parts so that no two different lists collide by concatenation:
/// every part is preceded by its name's and its own length.
#[derive(Debug, Clone, Default)]
pub struct KeyHasher(Sha256);

impl KeyHasher {
    /// An empty key; `stage` and `version` separate the keys of different stages and of a stage's revisions.
    pub fn new(stage: &str, version: u32) -> Self {
        Self::default()
            .part("stage", stage.as_bytes())
            .part("version", &version.to_le_bytes())
    }

    /// Adds one named part.
    #[must_use]
    pub fn part(mut self, name: &str, bytes: &[u8]) -> Self {
        for piece in [name.as_bytes(), bytes] {
            self.0.update((piece.len() as u64).to_le_bytes());
            self.0.update(piece);
        }
        self
    }

    /// Adds a value by its JSON form (struct fields keep their declared order, maps must be sorted).
    #[must_use]
    pub fn json(self, name: &str, value: &impl serde::Serialize) -> Self {
        let bytes = serde_json::to_vec(value).unwrap_or_else(|error| error.to_string().into_bytes());
        self.part(name, &bytes)
    }

    /// The key: 64 lower-case hex digits.
    pub fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        let ab_c = KeyHasher::default().part("ab", b"c").finish();
        let a_bc = KeyHasher::default().part("a", b"bc").finish();
        assert_ne!(ab_c, a_bc);
        assert_eq!(
            sha256_hex(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
