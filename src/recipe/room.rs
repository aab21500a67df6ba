//! What a recipe asks of the rooms that installs and tests run in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::image::BaseImage;

/// Settings of rooms. Those that say "builds" reach installs and nothing else: no test run sees them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoomRecipe {
    /// What containers begin from: `skeleton` (this machine's own programs, read-only), `NAME@sha256:…`, or the id
    /// `sha256:…` of an imported image. A tag alone is refused: what it names changes. An image that has a Python of its
    /// own is used with that one; to others this machine's interpreters are lent.
    pub base_image: BaseImage,
    /// The daemon's network for builds, and for test runs where `verification.network` asks for one.
    pub network: String,
    /// A PEM file with certificates of authorities that builds trust beside the machine's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_ca: Option<String>,
    /// Names of more environment variables that builds see, with the values they have here.
    pub build_env: Vec<String>,
    /// Most processors that one job may keep busy; all, when it is absent.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
}

impl Default for RoomRecipe {
    fn default() -> Self {
        Self {
            base_image: BaseImage::Skeleton,
            network: "bridge".to_owned(),
            extra_ca: None,
            build_env: vec![],
            cpus: None,
        }
    }
}

impl RoomRecipe {
    /// Whether nothing is asked for.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
