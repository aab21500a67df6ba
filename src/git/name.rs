//! Which repository on a forge a mirror is of.

use std::path::Path;

use crate::domain::ids::RepoName;

/// The repository a mirror is of: by its `remote.origin.url`, else by a folder name of the form `owner+name` or
/// `owner__name` in its path (the nearest one), with or without `.git`. `None` when neither tells.
pub fn mirror_repo_name(path: &Path) -> Option<RepoName> {
    origin_url(path)
        .as_deref()
        .and_then(name_in_url)
        .or_else(|| name_in_path(path))
}

fn origin_url(path: &Path) -> Option<String> {
    let repository = git2::Repository::open_bare(path)
        .or_else(|_| git2::Repository::open(path))
        .ok()?;
    // Only the mirror's own settings: `insteadOf` and the like of the user do not rename it.
    let config = repository
        .config()
        .ok()?
        .open_level(git2::ConfigLevel::Local)
        .ok()?;
    config.get_string("remote.origin.url").ok()
}

/// The repository that an address is of: the last two parts of a path on a host.
pub fn name_in_url(url: &str) -> Option<RepoName> {
    let url = url.trim_end_matches('/');
    let url = url.strip_suffix(".git").unwrap_or(url);
    // `host/owner/name`, or scp's `user@host:owner/name`; a plain path says nothing by its last two folders.
    let after_host = match url.split_once("://") {
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("file") => return None,
        Some((_, rest)) => rest.split_once('/')?.1,
        None => {
            let (_, rest) = url
                .split_once(':')
                .filter(|(host, _)| !host.contains('/') && host.len() > 1)?;
            rest
        }
    };
    let mut parts = after_host.rsplit('/');
    let (name, owner) = (parts.next()?, parts.next()?);
    if parts.any(|part| !part.is_empty()) {
        None
    } else {
        format!("{owner}/{name}").parse().ok()
    }
}

fn name_in_path(path: &Path) -> Option<RepoName> {
    path.components().rev().find_map(|part| {
        let text = part.as_os_str().to_str()?;
        let text = text.strip_suffix(".git").unwrap_or(text);
        let (owner, name) = text.split_once('+').or_else(|| text.split_once("__"))?;
        format!("{owner}/{name}").parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(name: Option<RepoName>) -> String {
        name.map_or("-".to_owned(), |name| name.to_string())
    }

    #[test]
    fn urls_name_a_repository() {
        for (url, name) in [
            ("https://github.com/psf/requests", "psf/requests"),
            ("https://github.com/psf/requests.git", "psf/requests"),
            ("https://user@github.com:443/psf/requests.git/", "psf/requests"),
            ("ssh://git@github.com/psf/requests.git", "psf/requests"),
            ("git@github.com:psf/requests.git", "psf/requests"),
            ("https://gitlab.com/group/sub/project", "-"),
            ("/srv/mirrors/requests.git", "-"),
            ("file:///srv/mirrors/requests.git", "-"),
            ("FILE:///a/b.git", "-"),
            ("../requests", "-"),
            ("", "-"),
        ] {
            assert_eq!(show(name_in_url(url)), name, "{url}");
        }
    }

    #[test]
    fn folder_names_name_a_repository() {
        for (path, name) in [
            ("/x/psf+requests/repo", "psf/requests"),
            ("psf__requests.git", "psf/requests"),
            ("/a+b/psf__requests", "psf/requests"),
            ("/x/requests.git", "-"),
            ("/x/__init__", "-"),
        ] {
            assert_eq!(show(name_in_path(Path::new(path))), name, "{path}");
        }
    }
}
