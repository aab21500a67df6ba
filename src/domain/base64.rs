//! Base64 (RFC 4648, section 4: the standard alphabet, with padding): how a row holds bytes that are not UTF-8.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text of these bytes.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 4];
        group[1..=chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes(group);
        for place in 0..4 {
            let index = bits >> (18 - 6 * place) & 63;
            text.push(if place > chunk.len() {
                '='
            } else {
                char::from(ALPHABET[index as usize])
            });
        }
    }
    text
}

/// The bytes of this text; `None` when it is not exactly what [`encode`] writes.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for group in text.as_bytes().chunks(4) {
        let mut bits = 0;
        let mut digits = 0_usize;
        for byte in group.iter().take_while(|byte| **byte != b'=') {
            let index = ALPHABET.iter().position(|letter| letter == byte)?;
            bits = bits << 6 | u32::try_from(index).ok()?;
            digits += 1;
        }
        bits <<= 6 * (4 - digits);
        bytes.extend_from_slice(&bits.to_be_bytes()[1..=3][..digits.saturating_sub(1)]);
    }
    // Lengths, padding and spare bits all have one right form.
    (encode(&bytes) == text).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..50)) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }

        #[test]
        fn only_the_one_form_is_read(text in "[A-Za-z0-9+/=]{0,12}") {
            if let Some(bytes) = decode(&text) {
                prop_assert_eq!(encode(&bytes), text);
            }
        }
    }

    #[test]
    fn the_standards_examples() {
        for (plain, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(encode(plain.as_bytes()), text);
        }
        for wrong in ["Zg", "Zh==", "Zg==Zg==", "=", "Z!==", "Zm9v\n"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
