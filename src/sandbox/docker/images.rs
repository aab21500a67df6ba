//! Images of our own: a layer over another image, named by what it is made of, with the same bytes wherever it is made.
//!
//! The daemon is handed whole images (an archive as `docker save` writes it) and builds nothing: no time and no
//! container's trace gets in. Layers that it has are not sent again, where it takes an archive without them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use bollard::body_try_stream;
use bollard::query_parameters::{ImportImageOptions, RemoveImageOptions};
use futures::{StreamExt as _, stream};
use serde_json::json;
use tempfile::TempDir;

use super::super::error::SandboxError;
use super::super::process::system::{HOME, Piece, SYSTEM_PATH, pieces, written_files};
use super::archive::{Chunk, archive, layers_of};
use super::daemon::{Daemon, DaemonFault, fault};
use super::image;
use super::layer::{self, Part, Text};
use super::open::{OTHER, apart};
use super::owner::{IMAGE, KEY};
use super::settings::DockerSettings;
use crate::domain::hash::sha256_hex;
use crate::domain::image::BaseImage;

/// The time that images and their files say they were made at.
const CREATED: &str = "2000-01-01T00:00:00Z";

/// Bytes read at once of what the daemon is sent.
const CHUNK: usize = 1 << 20;

/// An image that the daemon has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Its name, with a tag; for a base image whatever the daemon knows it by.
    pub name: String,
    /// The digest of its configuration, `sha256:` and 64 hex digits: what Docker and Podman call its id.
    pub id: String,
    /// Its layers' digests, the lowest first.
    pub layers: Vec<String>,
    /// Whether it had to be made.
    pub is_new: bool,
    architecture: String,
}

/// An image that is to be made.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Its repository (`quarry/instance`).
    pub repository: String,
    /// How its tag begins; the key's first digits end it.
    pub tag: String,
    /// The hash of everything it is made of: one that the daemon has under this key is not made again.
    pub key: String,
    /// What kind it is (`instance`), for its label.
    pub kind: &'static str,
    /// What goes into its layer.
    pub parts: Vec<Part>,
    /// Files of ours that go into it.
    pub texts: Vec<Text>,
    /// Variables that its containers see.
    pub env: BTreeMap<String, String>,
    /// Where its containers work.
    pub cwd: PathBuf,
    /// More labels.
    pub labels: BTreeMap<String, String>,
}

impl Wanted {
    /// The whole name.
    pub fn name(&self) -> String {
        let digits = self.key.get(..16).unwrap_or(&self.key);
        // A tag has at most 128 characters.
        let tag: String = self.tag.chars().take(100).collect();
        let joint = if tag.is_empty() { "" } else { "-" };
        format!("{}:{tag}{joint}{digits}", self.repository)
    }
}

/// A daemon that images are made at, and the image that they begin from.
#[derive(Debug, Clone)]
pub struct Images {
    daemon: Daemon,
    base: Made,
    mounts: Vec<PathBuf>,
}

impl Images {
    /// Finds the daemon, and makes the base image ready.
    ///
    /// # Errors
    /// When no daemon answers, or it cannot get the image.
    pub async fn open(settings: &DockerSettings) -> Result<Self, SandboxError> {
        let daemon = Daemon::find(settings).await?;
        let ready = image::ready(&daemon, &settings.base_image).await?;
        let base = look(&daemon, &ready.id).await?.ok_or_else(|| gone(&ready.id))?;
        let mut mounts = Vec::new();
        if settings.base_image == BaseImage::Skeleton {
            mounts.extend(pieces().into_iter().filter_map(|piece| match piece {
                Piece::Shown(path) => Some(path),
                Piece::Link { .. } => None,
            }));
        }
        Ok(Self { daemon, base, mounts })
    }

    /// The base image.
    pub fn base(&self) -> &Made {
        &self.base
    }

    /// Folders of this machine that a container of such an image needs read-only at their own paths: programs and
    /// libraries, where the base is the skeleton; none else.
    pub fn mounts(&self) -> &[PathBuf] {
        &self.mounts
    }

    /// The folder where the daemon keeps images, if it says so and it is here.
    pub async fn place(&self) -> Option<PathBuf> {
        let info = self.daemon.client.info().await.ok()?;
        info.docker_root_dir
            .map(PathBuf::from)
            .filter(|place| place.is_dir())
    }

    /// The image of this name, if the daemon has it and it was made of this key.
    ///
    /// # Errors
    /// When the daemon fails.
    pub async fn find(&self, name: &str, key: &str) -> Result<Option<Made>, SandboxError> {
        let Some((made, labels)) = inspect(&self.daemon, name).await? else {
            return Ok(None);
        };
        Ok((labels.get(KEY).map(String::as_str) == Some(key)).then(|| Made {
            name: name.to_owned(),
            ..made
        }))
    }

    /// Makes an image over `parent`, unless the daemon has it. `scratch` is a folder for the layer, gone afterwards.
    ///
    /// # Errors
    /// When the daemon fails, or a file cannot be read or written.
    pub async fn make(&self, wanted: Wanted, parent: &Made, scratch: &Path) -> Result<Made, SandboxError> {
        let name = wanted.name();
        if let Some(found) = self.find(&name, &wanted.key).await? {
            return Ok(found);
        }
        let folder = tempfile::Builder::new()
            .prefix("image-")
            .tempdir_in(scratch)
            .map_err(SandboxError::io("make a folder in", scratch))?;
        let file = folder.path().join("layer.tar");
        let (parts, texts, to) = (wanted.parts.clone(), wanted.texts.clone(), file.clone());
        let layer = tokio::task::spawn_blocking(move || {
            layer::write(&parts, &texts, &[PathBuf::from(HOME)], OTHER, &to)
        })
        .await
        .map_err(|error| SandboxError::BadJob {
            problem: error.to_string(),
        })??;
        let mut layers = parent.layers.clone();
        layers.push(layer.digest.clone());
        let config = configuration(&wanted, parent, &layers);
        let id = format!("sha256:{}", sha256_hex(&config));
        let own = Chunk::File {
            path: file,
            at: 0,
            bytes: layer.bytes,
        };

        // Docker looks for a layer first and reads the archive only for those that it lacks.
        let mut sent = Err(SandboxError::BadJob {
            problem: String::new(),
        });
        if self.daemon.name == "Docker" {
            let known = [(layer.digest.clone(), own.clone())].into();
            sent = self.send(archive(&name, &config, &layers, &known)).await;
        }
        if sent.is_err() {
            let mut known = self.fetch(parent, &folder).await?;
            known.insert(layer.digest.clone(), own);
            self.send(archive(&name, &config, &layers, &known)).await?;
        }
        let found = self.find(&name, &wanted.key).await?.ok_or_else(|| gone(&name))?;
        if found.layers != layers {
            return Err(SandboxError::Daemon {
                action: "load an image",
                fault: DaemonFault::Refused,
                detail: format!("`{name}` has other layers than were sent"),
            });
        }
        Ok(Made {
            id,
            is_new: true,
            ..found
        })
    }

    async fn send(&self, chunks: Vec<Chunk>) -> Result<(), SandboxError> {
        let body = body_try_stream(read(chunks).map(|chunk| chunk.map(Into::into)));
        let answers = self
            .daemon
            .client
            .import_image(ImportImageOptions::default(), body, None);
        image::finish(answers, "load an image").await
    }

    /// An image's layers as the daemon hands them out, by their digests.
    async fn fetch(&self, image: &Made, folder: &TempDir) -> Result<BTreeMap<String, Chunk>, SandboxError> {
        let path = folder.path().join("parent.tar");
        let wrong = |source| SandboxError::Io {
            action: "write",
            path: path.clone(),
            source,
        };
        let mut file = File::create(&path).map_err(wrong)?;
        let mut pieces = std::pin::pin!(self.daemon.client.export_image(&image.name));
        while let Some(piece) = pieces.next().await {
            file.write_all(&piece.map_err(fault("save an image"))?)
                .map_err(wrong)?;
        }
        drop(file);
        layers_of(&path, &image.layers).map_err(wrong)
    }
}

/// The layers of those of these images that the daemon has, by name, when they were made of the key that stands beside
/// the name. Nothing is downloaded.
///
/// # Errors
/// When no daemon answers, or it fails.
pub fn present(
    settings: &DockerSettings,
    names: &[(String, String)],
) -> Result<BTreeMap<String, Vec<String>>, SandboxError> {
    apart(async {
        let daemon = Daemon::find(settings).await?;
        let mut found = BTreeMap::new();
        for (name, key) in names {
            if let Some((made, labels)) = inspect(&daemon, name).await?
                && labels.get(KEY) == Some(key)
            {
                found.insert(name.clone(), made.layers);
            }
        }
        Ok(found)
    })
}

/// Removes these images of ours, and gives the names of those that are gone now: one that a container uses stays.
///
/// # Errors
/// When no daemon answers, or it is gone.
pub fn remove_all(settings: &DockerSettings, names: &[String]) -> Result<Vec<String>, SandboxError> {
    apart(async {
        let daemon = Daemon::find(settings).await?;
        let mut gone = Vec::new();
        for name in names {
            if remove(&daemon, name).await? {
                gone.push(name.clone());
            }
        }
        Ok(gone)
    })
}

async fn remove(daemon: &Daemon, name: &str) -> Result<bool, SandboxError> {
    let removed = daemon
        .client
        .remove_image(name, None::<RemoveImageOptions>, None)
        .await;
    match removed.map_err(fault("remove an image")) {
        Ok(_)
        | Err(SandboxError::Daemon {
            fault: DaemonFault::ImageGone,
            ..
        }) => Ok(true),
        Err(SandboxError::Daemon {
            fault: DaemonFault::Refused | DaemonFault::ContainerGone,
            ..
        }) => Ok(false),
        Err(error) => Err(error),
    }
}

fn gone(name: &str) -> SandboxError {
    SandboxError::Daemon {
        action: "find an image",
        fault: DaemonFault::ImageGone,
        detail: format!("the daemon has no `{name}`"),
    }
}

async fn look(daemon: &Daemon, name: &str) -> Result<Option<Made>, SandboxError> {
    Ok(inspect(daemon, name).await?.map(|(made, _)| made))
}

/// An image and its labels.
async fn inspect(
    daemon: &Daemon,
    name: &str,
) -> Result<Option<(Made, BTreeMap<String, String>)>, SandboxError> {
    let found = match daemon
        .client
        .inspect_image(name)
        .await
        .map_err(fault("look for an image"))
    {
        Ok(found) => found,
        Err(SandboxError::Daemon {
            fault: DaemonFault::ImageGone,
            ..
        }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let id = found.id.unwrap_or_default();
    let labels = found.config.and_then(|config| config.labels).unwrap_or_default();
    let made = Made {
        name: name.to_owned(),
        id: if id.starts_with("sha256:") {
            id
        } else {
            format!("sha256:{id}")
        },
        layers: found.root_fs.and_then(|files| files.layers).unwrap_or_default(),
        is_new: false,
        architecture: found.architecture.unwrap_or_else(|| "amd64".to_owned()),
    };
    Ok(Some((made, labels.into_iter().collect())))
}

/// The image's configuration (OCI image specification, `config.md`), always the same bytes.
fn configuration(wanted: &Wanted, parent: &Made, layers: &[String]) -> Vec<u8> {
    let mut env = BTreeMap::from([
        ("PATH".to_owned(), SYSTEM_PATH.to_owned()),
        ("HOME".to_owned(), HOME.to_owned()),
    ]);
    env.extend(wanted.env.clone());
    let env: Vec<String> = env
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let mut labels = wanted.labels.clone();
    labels.insert(IMAGE.to_owned(), wanted.kind.to_owned());
    labels.insert(KEY.to_owned(), wanted.key.clone());
    let history: Vec<_> = layers
        .iter()
        .map(|_| json!({ "created": CREATED, "created_by": "quarry" }))
        .collect();
    let config = json!({
        "architecture": parent.architecture,
        "config": {
            "Cmd": ["/bin/sh"],
            "Env": env,
            "Labels": labels,
            "User": format!("{OTHER}:{OTHER}"),
            "WorkingDir": wanted.cwd,
        },
        "created": CREATED,
        "history": history,
        "os": "linux",
        "rootfs": { "diff_ids": layers, "type": "layers" },
    });
    config.to_string().into_bytes()
}

/// Files of `/etc` that name the images' user, as every room has them.
pub fn user_files() -> Vec<Text> {
    written_files(OTHER)
        .into_iter()
        // The daemon writes a container's own.
        .filter(|(name, _)| *name != "hosts")
        .map(|(name, text)| Text {
            inside: Path::new("/etc").join(name),
            bytes: text.into_bytes(),
        })
        .collect()
}

/// The bytes of chunks, a piece at a time.
fn read(chunks: Vec<Chunk>) -> impl futures::Stream<Item = io::Result<Vec<u8>>> + Send + 'static {
    let chunks = chunks.into_iter();
    stream::unfold(
        (chunks, None::<(File, u64)>),
        |(mut chunks, mut open)| async move {
            loop {
                if let Some((mut file, left)) = open.take().filter(|(_, left)| *left > 0) {
                    let mut bytes = vec![0; CHUNK.min(usize::try_from(left).unwrap_or(CHUNK))];
                    let read = file.read_exact(&mut bytes).map(|()| bytes);
                    let left = left.saturating_sub(CHUNK as u64);
                    return Some((read, (chunks, Some((file, left)))));
                }
                match chunks.next()? {
                    Chunk::Bytes(bytes) => return Some((Ok(bytes), (chunks, None))),
                    Chunk::File { path, at, bytes } => {
                        let opened = File::open(path).and_then(|mut file| {
                            file.seek(SeekFrom::Start(at))?;
                            Ok(file)
                        });
                        match opened {
                            Ok(file) => open = Some((file, bytes)),
                            Err(error) => return Some((Err(error), (Vec::new().into_iter(), None))),
                        }
                    }
                }
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_tag_that_daemons_take() {
        let wanted = Wanted {
            repository: "quarry/instance".to_owned(),
            tag: format!("a__{}-7", "b".repeat(200)),
            key: "0123456789abcdef0123".to_owned(),
            ..Wanted::default()
        };
        let name = wanted.name();
        let (_, tag) = name.split_once(':').unwrap();
        assert!(tag.len() <= 128 && tag.ends_with("-0123456789abcdef"), "{tag}");
        let plain = Wanted {
            tag: String::new(),
            ..wanted
        };
        assert_eq!(plain.name(), "quarry/instance:0123456789abcdef");
    }

    #[test]
    fn the_users_files_leave_the_hosts_to_the_daemon() {
        let names: Vec<PathBuf> = user_files().into_iter().map(|text| text.inside).collect();
        assert_eq!(
            names,
            ["/etc/passwd", "/etc/group", "/etc/nsswitch.conf"].map(PathBuf::from)
        );
    }

    #[tokio::test]
    async fn chunks_are_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let bytes: Vec<u8> = (0..=255_u8).cycle().take(CHUNK * 2 + 5).collect();
        std::fs::write(&path, &bytes).unwrap();
        let chunks = vec![
            Chunk::Bytes(b"head".to_vec()),
            Chunk::File {
                path: path.clone(),
                at: 3,
                bytes: bytes.len() as u64 - 3,
            },
            Chunk::Bytes(b"tail".to_vec()),
        ];
        let mut pieces = std::pin::pin!(read(chunks));
        let mut whole = Vec::new();
        while let Some(piece) = pieces.next().await {
            whole.extend(piece.unwrap());
        }
        assert_eq!(whole, [b"head", &bytes[3..], b"tail"].concat());
    }
}
