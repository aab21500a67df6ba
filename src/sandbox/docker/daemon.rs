//! The connection to a daemon, and what its errors mean.

use bollard::errors::Error;
use bollard::{API_DEFAULT_VERSION, Docker as Client};

use super::super::error::SandboxError;
use super::settings::{Address, DockerSettings};

/// How long one request may take, in seconds.
const PATIENCE: u64 = 120;

/// What a daemon's error means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DaemonFault {
    /// It does not answer, or stopped answering.
    Gone,
    /// It has no such image, and cannot get it.
    ImageGone,
    /// Somebody removed the container.
    ContainerGone,
    /// Its disk is full.
    NoSpace,
    /// The machine has no memory left for a container.
    NoMemory,
    /// It reaches no registry.
    Network,
    /// It does not do what it was asked.
    Refused,
}

impl DaemonFault {
    /// The stable word for ledgers.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Gone => "daemon-gone",
            Self::ImageGone => "image-gone",
            Self::ContainerGone => "container-gone",
            Self::NoSpace => "disk-full",
            Self::NoMemory => "out-of-memory",
            Self::Network => "network-refused",
            Self::Refused => "sandbox",
        }
    }

    /// Reads an answer: its status (0 when there was none) and its words, as Docker 20–28 and Podman 4–5 say them.
    pub(super) fn read(status: u16, message: &str) -> Self {
        let text = message.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if says(&["no space left on device", "disk quota exceeded"]) {
            Self::NoSpace
        } else if says(&[
            "cannot allocate memory",
            "container-init was oom-killed",
            "container init was oom-killed",
        ]) {
            Self::NoMemory
        } else if says(&[
            "no such image",
            "image not known",
            "manifest unknown",
            "repository does not exist",
        ]) || (says(&["manifest for"]) && says(&["not found"]))
        {
            Self::ImageGone
        } else if says(&[
            "no such container",
            "no container with name or id",
            "is not running",
        ]) {
            Self::ContainerGone
        } else if says(&[
            "dial tcp",
            "tls handshake timeout",
            "toomanyrequests",
            "no such host",
            "client.timeout exceeded",
            "server misbehaving",
            "x509:",
        ]) {
            Self::Network
        } else if status == 0
            || says(&[
                "cannot connect to the docker daemon",
                "shutting down",
                "containerd.sock",
                "ttrpc: closed",
            ])
        {
            Self::Gone
        } else {
            Self::Refused
        }
    }
}

/// Makes a client's error one of ours.
pub(super) fn fault(action: &'static str) -> impl FnOnce(Error) -> SandboxError {
    move |error| {
        let (status, detail) = match &error {
            Error::DockerResponseServerError { status_code, message } => (*status_code, message.clone()),
            Error::DockerStreamError { error } | Error::DockerContainerWaitError { error, .. } => {
                (500, error.clone())
            }
            Error::RequestTimeoutError => (0, format!("no answer in {PATIENCE} s")),
            other => (0, with_causes(other)),
        };
        SandboxError::Daemon {
            action,
            fault: DaemonFault::read(status, &detail),
            detail: detail.trim().to_owned(),
        }
    }
}

/// The error's words and those of what caused it.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        next = cause.source();
    }
    text
}

/// A daemon that answers.
#[derive(Debug, Clone)]
pub(in super::super) struct Daemon {
    pub(super) client: Client,
    /// Where it listens.
    pub(in super::super) address: String,
    /// `Docker` or `Podman`.
    pub(in super::super) name: &'static str,
    /// Its own version.
    pub(in super::super) version: String,
    /// The version of its interface that is spoken with it.
    pub(in super::super) api: String,
    /// Whether it runs without root's rights.
    pub(in super::super) rootless: bool,
}

impl Daemon {
    /// The first daemon of the settings' addresses that answers.
    pub(in super::super) async fn find(settings: &DockerSettings) -> Result<Self, SandboxError> {
        let mut tried = Vec::new();
        for address in &settings.addresses {
            if address.is_remote() {
                return Err(SandboxError::RemoteDaemon {
                    address: address.to_string(),
                });
            }
            match Self::greet(address).await {
                Ok(daemon) => return Ok(daemon),
                Err(why) => tried.push(format!("`{address}`: {why}")),
            }
        }
        Err(SandboxError::NoDaemon {
            tried: tried.join("; "),
        })
    }

    async fn greet(address: &Address) -> Result<Self, String> {
        let said = |error: Error| with_causes(&error);
        let client = match address {
            Address::Socket(path) if !path.exists() => return Err("there is no such socket".to_owned()),
            Address::Socket(path) => {
                Client::connect_with_unix(&path.display().to_string(), PATIENCE, API_DEFAULT_VERSION)
            }
            Address::Http(place) => Client::connect_with_http(place, PATIENCE, API_DEFAULT_VERSION),
            Address::Unknown(_) => return Err("only `unix://` and `tcp://` addresses can be used".to_owned()),
        };
        let client = client.map_err(said)?.negotiate_version().await.map_err(said)?;
        let version = client.version().await.map_err(said)?;
        let info = client.info().await.map_err(said)?;
        let parts = version.components.unwrap_or_default();
        let podman = parts.iter().any(|part| part.name.contains("Podman"));
        let rootless = info
            .security_options
            .unwrap_or_default()
            .iter()
            .any(|option| option.contains("rootless"));
        Ok(Self {
            api: client.client_version().to_string(),
            client,
            address: address.to_string(),
            name: if podman { "Podman" } else { "Docker" },
            version: version.version.unwrap_or_default(),
            rootless,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::DaemonFault::{self, *};

    #[test]
    fn what_daemons_say_is_understood() {
        // As printed by Docker 20.10, Docker 28 and Podman 4.3.
        let table: &[(u16, &str, DaemonFault)] = &[
            (
                0,
                "error trying to connect: Connection refused (os error 111)",
                Gone,
            ),
            (0, "connection closed before message completed", Gone),
            (0, "no answer in 120 s", Gone),
            (
                500,
                "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
                Gone,
            ),
            (
                500,
                "connection error: desc = \"transport: Error while dialing: dial unix:///run/containerd/containerd.sock: timeout\": unavailable",
                Gone,
            ),
            (
                404,
                "No such image: sha256:1111111111111111111111111111111111111111111111111111111111111111",
                ImageGone,
            ),
            (
                404,
                "no such image: localhost/a@sha256:12: image not known",
                ImageGone,
            ),
            (
                404,
                "manifest for python@sha256:12 not found: manifest unknown: manifest unknown",
                ImageGone,
            ),
            (
                404,
                "pull access denied for nosuch, repository does not exist or may require 'docker login'",
                ImageGone,
            ),
            (404, "No such container: 31415", ContainerGone),
            (409, "Container 31415 is not running", ContainerGone),
            (
                500,
                "mkdir /var/lib/docker/overlay2/1-init: no space left on device",
                NoSpace,
            ),
            (
                500,
                "OCI runtime create failed: runc create failed: unable to start container process: container init was OOM-killed (memory limit too low?): unknown",
                NoMemory,
            ),
            (
                500,
                "fork/exec /usr/bin/containerd-shim-runc-v2: cannot allocate memory",
                NoMemory,
            ),
            (
                500,
                "Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup registry-1.docker.io on 10.0.0.2:53: no such host",
                Network,
            ),
            (
                500,
                "Get \"https://registry-1.docker.io/v2/\": dial tcp 10.1.1.1:443: connect: connection refused",
                Network,
            ),
            (
                500,
                "toomanyrequests: You have reached your pull rate limit.",
                Network,
            ),
            (
                400,
                "invalid mount config for type \"bind\": bind source path does not exist: /a",
                Refused,
            ),
        ];
        for (status, message, expected) in table {
            assert_eq!(DaemonFault::read(*status, message), *expected, "{message}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_words_make_it_panic(status in 0_u16..600, message in ".{0,60}") {
            let _ = DaemonFault::read(status, &message).reason();
        }
    }
}
