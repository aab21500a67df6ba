//! Which image a container begins from.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The image that containers begin from. A name alone is none: what a tag names changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum BaseImage {
    /// Empty folders; programs and libraries are this machine's own, read-only. Needs no network.
    #[default]
    Skeleton,
    /// An image of a registry, by its manifest's digest.
    Registry {
        /// Registry, repository and perhaps a tag (which says nothing): `docker.io/library/python:3.11-slim`.
        name: String,
        /// `sha256:` and 64 hex digits.
        digest: String,
    },
    /// An image that the daemon has, by its id (`sha256:` and 64 hex digits): an imported root file system.
    Imported {
        /// The id.
        id: String,
    },
}

/// Text that pins no image.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadImage {
    /// It names an image that may be another one tomorrow.
    #[error("pin the base image `{0}`: it has no digest")]
    NoDigest(String),
    /// Its digest is none.
    #[error("read the base image `{0}`: a digest is `sha256:` and 64 hex digits")]
    BadDigest(String),
}

impl BadImage {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::NoDigest(name) => vec![
                format!(
                    "write `NAME@sha256:…`: `docker pull {name}` prints the digest, and \
                     `docker image inspect --format '{{{{index .RepoDigests 0}}}}' {name}` gives the whole name"
                ),
                "or use `skeleton` (this machine's own programs), or an image id that `scripts/base-image` prints"
                    .to_owned(),
            ],
            Self::BadDigest(_) => vec!["copy the digest whole, from `docker image inspect`".to_owned()],
        }
    }
}

/// Whether `text` is `sha256:` and 64 lower-case hex digits.
fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|hex| {
        hex.len() == 64
            && hex
                .bytes()
                .all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
    })
}

impl fmt::Display for BaseImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skeleton => f.write_str("skeleton"),
            Self::Registry { name, digest } => write!(f, "{name}@{digest}"),
            Self::Imported { id } => f.write_str(id),
        }
    }
}

impl FromStr for BaseImage {
    type Err = BadImage;

    fn from_str(text: &str) -> Result<Self, BadImage> {
        let text = text.trim();
        if text == "skeleton" {
            return Ok(Self::Skeleton);
        }
        if text.starts_with("sha256:") {
            return if is_digest(text) {
                Ok(Self::Imported { id: text.to_owned() })
            } else {
                Err(BadImage::BadDigest(text.to_owned()))
            };
        }
        match text.split_once('@') {
            Some((name, digest)) if is_digest(digest) && is_name(name) => Ok(Self::Registry {
                name: name.to_owned(),
                digest: digest.to_owned(),
            }),
            Some(_) => Err(BadImage::BadDigest(text.to_owned())),
            None => Err(BadImage::NoDigest(text.to_owned())),
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._/:".contains(&byte))
}

impl TryFrom<String> for BaseImage {
    type Error = BadImage;

    fn try_from(text: String) -> Result<Self, BadImage> {
        text.parse()
    }
}

impl From<BaseImage> for String {
    fn from(image: BaseImage) -> Self {
        image.to_string()
    }
}

impl JsonSchema for BaseImage {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "BaseImage".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "`skeleton`, `NAME@sha256:…`, or an image id `sha256:…`",
            "pattern": "^(skeleton|([A-Za-z0-9._/:-]+@)?sha256:[0-9a-f]{64})$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cannot_change_is_an_image() {
        let hex = "0123456789abcdef".repeat(4);
        let pinned = format!("python:3.11-slim@sha256:{hex}");
        for text in ["skeleton".to_owned(), pinned, format!("sha256:{hex}")] {
            assert_eq!(text.parse::<BaseImage>().unwrap().to_string(), text);
        }
        let refused = "python:3.11-slim".parse::<BaseImage>().unwrap_err();
        assert!(refused.hints()[0].contains("`docker pull python:3.11-slim`"));
        for bad in ["sha256:12", "a@sha256:0", "@sha256:", "-a@b"] {
            assert!(
                matches!(bad.parse::<BaseImage>(), Err(BadImage::BadDigest(_))),
                "{bad}"
            );
        }
        assert_eq!("".parse::<BaseImage>(), Err(BadImage::NoDigest(String::new())));
    }

    proptest::proptest! {
        #[test]
        fn what_parses_prints_as_it_was_read(text in "[a-f0-9:@/.-]{0,90}") {
            if let Ok(image) = text.parse::<BaseImage>() {
                proptest::prop_assert_eq!(image.to_string(), text);
            }
        }
    }
}
