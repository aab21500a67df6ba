//! Where GitHub's API is: its own, or an Enterprise Server's.

use super::error::GithubError;
use crate::domain::address::{parts, shown};

/// GitHub's own API.
pub const GITHUB: &str = "https://api.github.com";

/// Where an API is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// Scheme and host.
    pub(super) base: String,
    /// The path of GraphQL.
    pub(super) graphql: &'static str,
    /// What paths of REST begin with.
    pub(super) rest: &'static str,
}

impl Address {
    pub(super) fn read(text: &str) -> Result<Self, GithubError> {
        let bad = |why| GithubError::Address {
            address: shown(text),
            why,
        };
        let (scheme, rest) = parts(text).ok_or_else(|| bad("it does not begin with `https://`"))?;
        let rest = rest.trim_end_matches('/');
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !host.ends_with(']') => (name, Some(port)),
            _ => (host, None),
        };
        let here = matches!(name, "localhost" | "127.0.0.1" | "[::1]");
        if name.is_empty() {
            return Err(bad("it names no host"));
        }
        if text.contains(['?', '#']) {
            return Err(bad("a query has no place in it"));
        }
        if text.contains('@') {
            return Err(bad("a user, a password or a token has no place in it"));
        }
        let is_port =
            |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
        if port.is_some_and(|port| !is_port(port)) {
            return Err(bad("its port is no number below 65536"));
        }
        match scheme.as_str() {
            "https" => {}
            "http" if here => {}
            _ => return Err(bad("tokens go over `https://` only")),
        }
        let (graphql, rest) = match path {
            "" => ("/graphql", ""),
            "api/v3" => ("/api/graphql", "/api/v3"),
            _ => return Err(bad("its path is neither empty nor `/api/v3`")),
        };
        let base = format!("{scheme}://{host}");
        if base.parse::<http::Uri>().is_err() {
            return Err(bad("it is no address"));
        }
        Ok(Self { base, graphql, rest })
    }
}

/// The address that git clones a repository of this API from, without the repository's name.
///
/// # Errors
/// [`GithubError::Address`] when the API's address is none.
pub fn clone_base(api: &str) -> Result<String, GithubError> {
    let address = Address::read(api)?;
    Ok(if address.base == GITHUB {
        "https://github.com".to_owned()
    } else {
        address.base
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_githubs_or_an_enterprise_servers_and_tokens_do_not_go_in_the_clear() {
        let read =
            |text: &str| Address::read(text).map(|address| (address.base, address.graphql, address.rest));
        let own = |base: &str| Ok::<_, ()>((base.to_owned(), "/graphql", ""));
        assert_eq!(read(GITHUB).map_err(|_| ()), own(GITHUB));
        assert_eq!(
            read("http://127.0.0.1:80/").map_err(|_| ()),
            own("http://127.0.0.1:80")
        );
        assert_eq!(
            read("https://code.example.org/api/v3/").map_err(|_| ()),
            Ok(("https://code.example.org".to_owned(), "/api/graphql", "/api/v3"))
        );
        for wrong in [
            "api.github.com",
            "http://example.org",
            "https://",
            "https://a@b",
            "https://h/x",
            "ftp://h",
            "https://:80",
            "http://localhost:notaport",
            "http://localhost:65536",
            "http://localhost:",
            "http://127.0.0.1:1?token=s3cret",
            "https://h/?token=s3cret",
        ] {
            let refused = read(wrong).unwrap_err().to_string();
            assert!(!refused.contains("s3cret"), "{refused}");
        }
        assert_eq!(read("http://[::1]").map_err(|_| ()), own("http://[::1]"));
        let secret = read("https://ann:s3cret@h/api/v3").unwrap_err();
        let told = format!("{secret} {secret:?}");
        assert!(
            told.contains("`https://h/api/v3`") && !told.contains("s3cret"),
            "{told}"
        );
        assert_eq!(clone_base(GITHUB).unwrap(), "https://github.com");
        assert_eq!(
            clone_base("HTTPS://api.github.com/").unwrap(),
            "https://github.com"
        );
        assert_eq!(clone_base("https://h/api/v3").unwrap(), "https://h");
    }
}
