//! Which of the user's settings reach builds: where packages come from and how to get there, and nothing that
//! would bend the resolution. They reach builds only: no test run, lock, ledger or manifest sees them.

use std::collections::BTreeMap;

/// Variables that say where an index is and how it is reached. Variables that change *what* is resolved
/// (`UV_CONSTRAINT`, `UV_PRERELEASE`, `UV_FIND_LINKS`, `PIP_CONSTRAINT` …) are none of them.
const REACHES: &[&str] = &[
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_INDEX_STRATEGY",
    "UV_KEYRING_PROVIDER",
    "UV_INSECURE_HOST",
    "UV_SYSTEM_CERTS",
    "UV_NATIVE_TLS",
    "UV_OFFLINE",
    "UV_HTTP_TIMEOUT",
    "UV_HTTP_RETRIES",
    "UV_CONCURRENT_DOWNLOADS",
    "UV_CONCURRENT_BUILDS",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_TRUSTED_HOST",
    "PIP_CERT",
    "PIP_DEFAULT_TIMEOUT",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
];

/// What uv takes from another tool's variable when its own is not set.
const STANDS_IN: &[(&str, &[&str])] = &[
    ("UV_DEFAULT_INDEX", &["UV_INDEX_URL", "PIP_INDEX_URL"]),
    ("UV_INDEX", &["UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL"]),
    ("UV_INSECURE_HOST", &["PIP_TRUSTED_HOST"]),
    (
        "SSL_CERT_FILE",
        &["PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"],
    ),
];

/// Picks out of the user's environment what builds need.
pub fn build_env(variables: impl IntoIterator<Item = (String, String)>) -> BTreeMap<String, String> {
    let mut env: BTreeMap<String, String> = variables
        .into_iter()
        .filter(|(name, value)| reaches_builds(name) && !value.is_empty())
        .collect();
    for (name, others) in STANDS_IN {
        if !env.contains_key(*name)
            && let Some(value) = others.iter().find_map(|other| env.get(*other).cloned())
        {
            env.insert((*name).to_owned(), value);
        }
    }
    // uv warns about its old names; the new ones hold the same now.
    env.remove("UV_INDEX_URL");
    env.remove("UV_EXTRA_INDEX_URL");
    env
}

/// Whether a variable is one that builds see.
fn reaches_builds(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let proxy = upper.ends_with("_PROXY") && (name == upper || name == name.to_ascii_lowercase());
    let credentials = name
        .strip_prefix("UV_INDEX_")
        .is_some_and(|rest| rest.ends_with("_USERNAME") || rest.ends_with("_PASSWORD"));
    credentials || REACHES.contains(&if proxy { upper.as_str() } else { name })
}

/// The files and folders that these settings name: a build in a closed room needs them.
pub fn named_files(env: &BTreeMap<String, String>) -> Vec<&str> {
    const FILES: [&str; 5] = [
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "PIP_CERT",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
    ];
    let mut files: Vec<_> = FILES
        .iter()
        .filter_map(|name| env.get(*name))
        .map(String::as_str)
        .filter(|path| path.starts_with('/'))
        .collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// The text without any address's host (`https://me:secret@host/simple/six/` → `https://…/simple/six/`): what may
/// stand in a ledger or a manifest.
pub fn without_hosts(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, tail) = rest.split_at(at + 3);
        let end = tail
            .find(|c: char| c == '/' || c.is_whitespace() || "()`'\"<>,".contains(c))
            .unwrap_or(tail.len());
        clean.push_str(before);
        // `file:///path` has no host.
        if end > 0 {
            clean.push('…');
        }
        rest = &tail[end..];
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn picked(variables: &[(&str, &str)]) -> BTreeMap<String, String> {
        build_env(
            variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        )
    }

    #[test]
    fn only_what_says_where_an_index_is_gets_through() {
        let env = picked(&[
            ("UV_INDEX_PRIVATE_PASSWORD", "secret"),
            ("UV_CONSTRAINT", "x"),
            ("UV_EXCLUDE_NEWER", "2020-01-01"),
            ("HOME", "/home/me"),
            ("GITHUB_TOKEN", "t"),
            ("https_proxy", "http://proxy:1"),
            ("Https_Proxy", "http://proxy:2"),
            ("NO_PROXY", ""),
        ]);
        let names: Vec<_> = env.keys().map(String::as_str).collect();
        assert_eq!(names, ["UV_INDEX_PRIVATE_PASSWORD", "https_proxy"]);
    }

    #[test]
    fn settings_for_pip_hold_for_uv_unless_uv_has_its_own() {
        let env = picked(&[
            ("PIP_INDEX_URL", "https://a.example/simple"),
            ("PIP_CERT", "/ca.pem"),
        ]);
        assert_eq!(env["UV_DEFAULT_INDEX"], "https://a.example/simple");
        assert_eq!(env["SSL_CERT_FILE"], "/ca.pem");
        let env = picked(&[
            ("PIP_INDEX_URL", "https://a.example"),
            ("UV_INDEX_URL", "https://b.example"),
        ]);
        assert_eq!(env["UV_DEFAULT_INDEX"], "https://b.example");
        assert!(!env.contains_key("UV_INDEX_URL"));
    }

    #[test]
    fn files_that_settings_name_are_found_once() {
        let env = picked(&[
            ("SSL_CERT_FILE", "/ca.pem"),
            ("PIP_CERT", "/ca.pem"),
            ("SSL_CERT_DIR", "certs"),
        ]);
        assert_eq!(named_files(&env), ["/ca.pem"]);
    }

    #[test]
    fn hosts_and_secrets_leave_a_text() {
        let text = "Failed to fetch: `https://me:secret@index.example.org/simple/six/` (see http://x:80)";
        assert_eq!(
            without_hosts(text),
            "Failed to fetch: `https://…/simple/six/` (see http://…)"
        );
        assert_eq!(without_hosts("file:///testbed"), "file:///testbed");
    }

    proptest! {
        #[test]
        fn no_host_survives(host in "[a-z]{3,8}\\.example", before in "[a-z ]{0,9}", path in "(/[a-z]{1,4}){0,3}") {
            let clean = without_hosts(&format!("{before}https://{host}{path} and git+ssh://{host}"));
            prop_assert!(!clean.contains(&host), "{}", clean);
        }
    }
}
