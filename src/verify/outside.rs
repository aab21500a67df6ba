//! What tests say when it is the world that they miss, not the code: no network, another time.

/// Words of libraries and systems that find no network, and of tests that say they skip for it. "Connection refused" is
/// none: a test's own server refuses, too.
const NETWORK: [&str; 18] = [
    "network is unreachable",
    "network unreachable",
    "network is down",
    "no route to host",
    "name or service not known",
    "temporary failure in name resolution",
    "nodename nor servname provided",
    "no address associated with hostname",
    "getaddrinfo failed",
    "failed to resolve",
    "could not resolve host",
    "nameresolutionerror",
    "no internet",
    "no network",
    "needs network",
    "requires network",
    "requires internet",
    "network access is not",
];

/// Words of what a date in the past or in the future breaks.
const CLOCK: [&str; 7] = [
    "certificate has expired",
    "certificate expired",
    "certificate is not yet valid",
    "signature has expired",
    "token has expired",
    "token is expired",
    "clock skew",
];

/// Whether the message of a test that did not pass tells of a missing network.
pub(super) fn tells_of_network(message: &str) -> bool {
    holds(message, &NETWORK)
}

/// Whether the message of a test that did not pass tells of a time that is not the one it was written for.
pub(super) fn tells_of_clock(message: &str) -> bool {
    holds(message, &CLOCK)
}

fn holds(message: &str, words: &[&str]) -> bool {
    let message = message.to_lowercase();
    words.iter().any(|word| message.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_messages_are_told_apart() {
        let network = [
            "E   OSError: [Errno 101] Network is unreachable",
            "socket.gaierror: [Errno -2] Name or service not known",
            "socket.gaierror: [Errno -3] Temporary failure in name resolution",
            "urllib3.exceptions.NameResolutionError: Failed to resolve 'httpbin.org'",
            "Skipped: requires network access",
        ];
        for message in network {
            assert!(tells_of_network(message) && !tells_of_clock(message), "{message}");
        }
        let clock = [
            "ssl.SSLCertVerificationError: certificate verify failed: certificate has expired (_ssl.c:1006)",
            "jwt.exceptions.ExpiredSignatureError: Signature has expired",
        ];
        for message in clock {
            assert!(tells_of_clock(message) && !tells_of_network(message), "{message}");
        }
        let neither = [
            "ConnectionRefusedError: [Errno 111] Connection refused",
            "AssertionError: assert 'expired' in response",
        ];
        for message in neither {
            assert!(
                !tells_of_clock(message) && !tells_of_network(message),
                "{message}"
            );
        }
    }
}
