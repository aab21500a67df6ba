//! What the Docker room is told: plain values, read by the command line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::domain::image::BaseImage;

/// Where a daemon may listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    /// A socket on this machine.
    Socket(PathBuf),
    /// A host and a port.
    Http(String),
    /// An address of a kind that cannot be used.
    Unknown(String),
}

impl Address {
    fn parse(text: &str) -> Self {
        if let Some(path) = text.strip_prefix("unix://") {
            return Self::Socket(path.into());
        }
        if text.starts_with('/') {
            return Self::Socket(text.into());
        }
        match text
            .strip_prefix("tcp://")
            .or_else(|| text.strip_prefix("http://"))
        {
            Some(place) if !place.is_empty() => Self::Http(place.trim_end_matches('/').to_owned()),
            _ => Self::Unknown(text.to_owned()),
        }
    }

    /// Whether it is a port of another machine, where no folder of ours can be mounted.
    pub(super) fn is_remote(&self) -> bool {
        match self {
            Self::Http(place) => {
                let host = place.rsplit_once(':').map_or(place.as_str(), |(host, _)| host);
                !(host == "localhost" || host.starts_with("127.") || host == "[::1]")
            }
            Self::Socket(_) | Self::Unknown(_) => false,
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Socket(path) => write!(f, "{}", path.display()),
            Self::Http(place) => write!(f, "http://{place}"),
            Self::Unknown(text) => f.write_str(text),
        }
    }
}

/// Settings of the Docker room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DockerSettings {
    /// Addresses to try, in order.
    pub(super) addresses: Vec<Address>,
    /// The image that containers begin from.
    pub base_image: BaseImage,
    /// The daemon's network for jobs that may use one (`bridge`, `host`, or a name). Others have none.
    pub network: String,
    /// Most processors that one job may keep busy; `None` is all.
    pub cpus: Option<u32>,
    /// A name for the workspace, written on containers.
    pub workspace: String,
}

impl DockerSettings {
    /// Where a user with these environment variables has a daemon: `DOCKER_HOST` alone when it is set, else Docker's
    /// own sockets, then Podman's.
    pub fn of(variables: &BTreeMap<String, String>) -> Self {
        let set = |name: &str| variables.get(name).filter(|value| !value.is_empty());
        let addresses = if let Some(host) = set("DOCKER_HOST") {
            vec![Address::parse(host)]
        } else {
            let mut sockets = vec![PathBuf::from("/var/run/docker.sock"), "/run/docker.sock".into()];
            if let Some(runtime) = set("XDG_RUNTIME_DIR") {
                sockets.push(PathBuf::from(runtime).join("docker.sock"));
                sockets.push(PathBuf::from(runtime).join("podman/podman.sock"));
            }
            sockets.push("/run/podman/podman.sock".into());
            sockets.into_iter().map(Address::Socket).collect()
        };
        Self {
            addresses,
            base_image: BaseImage::Skeleton,
            network: "bridge".to_owned(),
            cpus: None,
            workspace: String::new(),
        }
    }
}

impl Default for DockerSettings {
    /// The usual sockets.
    fn default() -> Self {
        Self::of(&BTreeMap::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_daemon_is_the_only_one() {
        let named = |value: &str| {
            let variables = [("DOCKER_HOST".to_owned(), value.to_owned())].into();
            DockerSettings::of(&variables).addresses
        };
        assert_eq!(named("unix:///a/b.sock"), [Address::Socket("/a/b.sock".into())]);
        assert_eq!(
            named("tcp://10.0.0.7:2375"),
            [Address::Http("10.0.0.7:2375".into())]
        );
        assert!(named("tcp://10.0.0.7:2375")[0].is_remote());
        assert!(!named("tcp://127.0.0.1:2375")[0].is_remote());
        assert_eq!(named("ssh://me@host"), [Address::Unknown("ssh://me@host".into())]);
        let variables = [("XDG_RUNTIME_DIR".to_owned(), "/run/user/7".to_owned())].into();
        let shown: Vec<String> = DockerSettings::of(&variables)
            .addresses
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(shown[0], "/var/run/docker.sock");
        assert!(
            shown.contains(&"/run/user/7/podman/podman.sock".to_owned()),
            "{shown:?}"
        );
    }
}
