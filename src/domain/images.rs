//! Which images were made of a version's instances: the file beside its folder.

use serde::{Deserialize, Serialize};

use super::ids::InstanceId;

/// The version of the file's shape.
pub const SCHEMA_VERSION: u32 = 1;

/// The images of one version, on one machine: `<version>.images.json` beside the version's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageList {
    /// The version of this file's shape: 1.
    pub schema_version: u32,
    /// The dataset's name.
    pub dataset: String,
    /// Its version.
    pub version: String,
    /// The image that all begin from, as a recipe names it.
    pub base_image: String,
    /// Folders of this machine that their containers need read-only at their own paths; empty unless the base image is
    /// `skeleton`.
    pub mounts: Vec<String>,
    /// The images, by instance.
    pub images: Vec<ImageEntry>,
}

/// One instance's image.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageEntry {
    /// `owner__name-N`.
    pub instance_id: InstanceId,
    /// Its name and tag.
    pub image: String,
    /// The digest of its configuration: what Docker and Podman call the image's id.
    pub id: String,
    /// The hash of everything that it is made of, as its label says it.
    pub key: String,
    /// The image below it, which it shares with the others of its environment.
    pub environment_image: String,
    /// The digests of its layers' tars, the lowest first.
    pub layers: Vec<String>,
}
