//! The image that containers begin from: found, imported or pulled.

use std::collections::HashMap;

use bollard::query_parameters::{CreateImageOptionsBuilder, ListImagesOptionsBuilder, RemoveImageOptions};
use futures::StreamExt as _;

use super::super::error::SandboxError;
use super::super::process::system;
use super::daemon::{Daemon, DaemonFault, fault};
use super::owner::IMAGE;
use super::skeleton;
use crate::domain::hash::sha256_hex;
use crate::domain::image::BaseImage;

/// The name of skeleton images; the tag is made of their bytes.
pub(super) const SKELETON: &str = "quarry/skeleton";

/// An image that the daemon has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ready {
    /// Its id.
    pub(super) id: String,
    /// Variables that it would set.
    pub(super) variables: Vec<String>,
    /// Whether the machine's own programs are to be mounted.
    pub(super) is_skeleton: bool,
}

/// Makes sure that the daemon has `image`: imports the skeleton, pulls what a registry has.
pub(super) async fn ready(daemon: &Daemon, image: &BaseImage) -> Result<Ready, SandboxError> {
    match image {
        BaseImage::Skeleton => {
            let (bytes, tag) = skeleton_and_tag();
            let name = format!("{SKELETON}:{tag}");
            if let Some(found) = look(daemon, &name, true).await? {
                return Ok(found);
            }
            let options = CreateImageOptionsBuilder::default()
                .from_src("-")
                // Podman does not read a tag beside it.
                .repo(&name)
                .changes(vec![format!("LABEL {IMAGE}=skeleton")])
                .build();
            let answers =
                daemon
                    .client
                    .create_image(Some(options), Some(bollard::body_full(bytes.into())), None);
            finish(answers, "import the skeleton image").await?;
            look(daemon, &name, true).await?.ok_or_else(|| gone(&name))
        }
        BaseImage::Registry { name, digest } => {
            let pinned = pinned(name, digest);
            if let Some(found) = look(daemon, &pinned, false).await? {
                return Ok(found);
            }
            let options = CreateImageOptionsBuilder::default().from_image(&pinned).build();
            finish(
                daemon.client.create_image(Some(options), None, None),
                "pull the base image",
            )
            .await?;
            look(daemon, &pinned, false).await?.ok_or_else(|| gone(&pinned))
        }
        BaseImage::Imported { id } => look(daemon, id, false).await?.ok_or_else(|| gone(id)),
    }
}

/// A tag beside a digest says nothing, and some daemons refuse it.
fn pinned(name: &str, digest: &str) -> String {
    format!("{}@{digest}", untagged(name))
}

/// Whether the daemon has `image`.
pub(super) async fn is_there(daemon: &Daemon, image: &BaseImage) -> Result<bool, SandboxError> {
    let name = match image {
        BaseImage::Skeleton => format!("{SKELETON}:{}", skeleton_and_tag().1),
        BaseImage::Registry { name, digest } => pinned(name, digest),
        BaseImage::Imported { id } => id.clone(),
    };
    Ok(look(daemon, &name, false).await?.is_some())
}

/// The skeleton's tar, and the tag that is made of it.
fn skeleton_and_tag() -> (Vec<u8>, String) {
    let bytes = skeleton::tar(&system::pieces());
    let tag = sha256_hex(&bytes)[..16].to_owned();
    (bytes, tag)
}

/// Removes skeleton images other than today's (with `dry_run` none), and says how many there were.
pub(super) async fn sweep(daemon: &Daemon, dry_run: bool) -> Result<usize, SandboxError> {
    let filters = HashMap::from([("label".to_owned(), vec![format!("{IMAGE}=skeleton")])]);
    let options = ListImagesOptionsBuilder::default().filters(&filters).build();
    let found = daemon
        .client
        .list_images(Some(options))
        .await
        .map_err(fault("list images"))?;
    let today = format!("{SKELETON}:{}", skeleton_and_tag().1);
    let mut removed = 0;
    for image in found.iter().filter(|image| !image.repo_tags.contains(&today)) {
        let options = None::<RemoveImageOptions>;
        // One that a container still uses stays.
        if dry_run || daemon.client.remove_image(&image.id, options, None).await.is_ok() {
            removed += 1;
        }
    }
    Ok(removed)
}

/// The name with its digest, as the daemon or the registry knows it today.
pub(super) async fn pin(daemon: &Daemon, name: &str) -> Option<String> {
    if let Ok(found) = daemon.client.inspect_image(name).await
        && let Some(pinned) = found.repo_digests.unwrap_or_default().into_iter().next()
    {
        return Some(pinned);
    }
    let found = daemon.client.inspect_registry_image(name, None).await.ok()?;
    Some(format!("{}@{}", untagged(name), found.descriptor.digest?))
}

fn gone(name: &str) -> SandboxError {
    SandboxError::Daemon {
        action: "find the base image",
        fault: DaemonFault::ImageGone,
        detail: format!("the daemon has no `{name}`"),
    }
}

/// The name without its tag: a colon after the last slash begins one.
fn untagged(name: &str) -> &str {
    let repository = name.rfind('/').map_or(0, |slash| slash + 1);
    name[repository..]
        .find(':')
        .map_or(name, |colon| &name[..repository + colon])
}

/// Reads a request's answers to their end.
pub(super) async fn finish<T>(
    answers: impl futures::Stream<Item = Result<T, bollard::errors::Error>>,
    action: &'static str,
) -> Result<(), SandboxError> {
    let mut answers = std::pin::pin!(answers);
    while let Some(answer) = answers.next().await {
        answer.map_err(fault(action))?;
    }
    Ok(())
}

async fn look(daemon: &Daemon, name: &str, is_skeleton: bool) -> Result<Option<Ready>, SandboxError> {
    let found = match daemon
        .client
        .inspect_image(name)
        .await
        .map_err(fault("look for the base image"))
    {
        Ok(found) => found,
        Err(SandboxError::Daemon {
            fault: DaemonFault::ImageGone,
            ..
        }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let variables = found.config.and_then(|config| config.env).unwrap_or_default();
    let names = variables
        .iter()
        .filter_map(|line| Some(line.split_once('=')?.0.to_owned()));
    Ok(Some(Ready {
        id: found.id.unwrap_or_else(|| name.to_owned()),
        variables: names.collect(),
        is_skeleton,
    }))
}

#[cfg(test)]
mod tests {
    use super::untagged;

    #[test]
    fn a_tag_is_after_the_last_slash() {
        assert_eq!(untagged("python:3.11-slim"), "python");
        assert_eq!(untagged("host:5000/a/b"), "host:5000/a/b");
        assert_eq!(untagged("host:5000/a/b:1"), "host:5000/a/b");
    }
}
