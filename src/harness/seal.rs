//! The seal on each line of the runner's channel: HMAC-SHA256 (RFC 2104), its first 32 hex digits.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

const BLOCK: usize = 64;

/// How many hex digits of the digest a line carries.
pub(super) const DIGITS: usize = 32;

/// HMAC-SHA256 of `message` under `key` (RFC 2104, section 2).
fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0_u8; BLOCK];
    if key.len() > BLOCK {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let pad = |byte: u8| block.map(|key| key ^ byte);
    let inner = Sha256::new()
        .chain_update(pad(0x36))
        .chain_update(message)
        .finalize();
    Sha256::new()
        .chain_update(pad(0x5c))
        .chain_update(inner)
        .finalize()
        .into()
}

/// The seal of `message`: 32 lower-case hex digits.
pub(super) fn seal(secret: &[u8], message: &[u8]) -> String {
    let digest = hmac_sha256(secret, message);
    digest
        .iter()
        .take(DIGITS / 2)
        .fold(String::with_capacity(DIGITS), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test cases 1, 2 and 6.
    #[test]
    fn the_published_vectors() {
        let hex = |bytes: [u8; 32]| {
            bytes.iter().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            })
        };
        assert_eq!(
            hex(hmac_sha256(&[0x0b; 20], b"Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
        assert_eq!(
            hex(hmac_sha256(b"Jefe", b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        let long = b"Test Using Larger Than Block-Size Key - Hash Key First";
        assert_eq!(
            hex(hmac_sha256(&[0xaa; 131], long)),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
        assert_eq!(
            seal(b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c7"
        );
    }
}
