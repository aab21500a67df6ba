//! An image as `docker save` writes it: a configuration, layers, and a list of both.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::json;

use super::tar::{Entry, Kind, Place, end, entry, index, padding};
use crate::domain::hash::sha256_hex;

/// A piece of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Chunk {
    Bytes(Vec<u8>),
    /// A part of a file.
    File {
        path: PathBuf,
        at: u64,
        bytes: u64,
    },
}

/// The archive of one image. Layers that are not `known` are named, and not in it.
pub(super) fn archive(
    name: &str,
    config: &[u8],
    layers: &[String],
    known: &BTreeMap<String, Chunk>,
) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut put = |path: &str, body: Chunk| {
        let size = match &body {
            Chunk::Bytes(bytes) => bytes.len() as u64,
            Chunk::File { bytes, .. } => *bytes,
        };
        let header = entry(&Entry {
            path: path.as_bytes(),
            kind: Kind::File(size),
            mode: 0o644,
            user: 0,
        });
        chunks.extend([Chunk::Bytes(header), body, Chunk::Bytes(padding(size).to_vec())]);
    };
    let config_name = format!("{}.json", sha256_hex(config));
    put(&config_name, Chunk::Bytes(config.to_vec()));
    let paths: Vec<String> = layers.iter().map(|layer| path_of(layer)).collect();
    let mut seen = std::collections::BTreeSet::new();
    for (layer, path) in layers.iter().zip(&paths) {
        if let Some(body) = known.get(layer).filter(|_| seen.insert(layer)) {
            put(path, body.clone());
        }
    }
    let list = json!([{ "Config": config_name, "RepoTags": [name], "Layers": paths }]);
    put("manifest.json", Chunk::Bytes(list.to_string().into_bytes()));
    chunks.push(Chunk::Bytes(end().to_vec()));
    chunks
}

fn path_of(layer: &str) -> String {
    format!("{}/layer.tar", layer.trim_start_matches("sha256:"))
}

#[derive(Deserialize)]
struct Listed {
    #[serde(rename = "Layers")]
    layers: Vec<String>,
}

/// Where a saved image's layers are, by the digests that its configuration gives them.
pub(super) fn layers_of(path: &Path, digests: &[String]) -> io::Result<BTreeMap<String, Chunk>> {
    let mut file = File::open(path)?;
    let files = index(&mut file)?;
    let missing = |what: &str| io::Error::other(format!("a saved image lacks {what}"));
    let Place { at, bytes } = *files.get("manifest.json").ok_or_else(|| missing("its list"))?;
    file.seek(SeekFrom::Start(at))?;
    let mut list = Vec::new();
    file.take(bytes).read_to_end(&mut list)?;
    let list: Vec<Listed> = serde_json::from_slice(&list)?;
    let layers = &list.first().ok_or_else(|| missing("its layers"))?.layers;
    if layers.len() != digests.len() {
        return Err(missing("some of its layers"));
    }
    let place = |name: &String| files.get(name).ok_or_else(|| missing(name));
    digests
        .iter()
        .zip(layers)
        .map(|(digest, name)| {
            let Place { at, bytes } = *place(name)?;
            let path = path.to_owned();
            Ok((digest.clone(), Chunk::File { path, at, bytes }))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(chunks: Vec<Chunk>) -> Vec<u8> {
        let mut whole = Vec::new();
        for chunk in chunks {
            match chunk {
                Chunk::Bytes(bytes) => whole.extend(bytes),
                Chunk::File { path, at, bytes } => {
                    let from = usize::try_from(at).unwrap();
                    let to = from + usize::try_from(bytes).unwrap();
                    whole.extend(&std::fs::read(path).unwrap()[from..to]);
                }
            }
        }
        whole
    }

    #[test]
    fn layers_come_out_as_they_went_in() {
        let layers: Vec<String> = ["a", "b", "a"]
            .map(|name| format!("sha256:{}", name.repeat(64)))
            .into();
        let known = BTreeMap::from([
            (layers[0].clone(), Chunk::Bytes(b"one".to_vec())),
            (layers[1].clone(), Chunk::Bytes(b"two!".to_vec())),
        ]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image.tar");
        std::fs::write(&path, bytes(archive("n:1", b"{}", &layers, &known))).unwrap();
        let found = layers_of(&path, &layers).unwrap();
        let body = |layer: &str| bytes(vec![found[layer].clone()]);
        assert_eq!(
            (body(&layers[0]), body(&layers[1])),
            (b"one".to_vec(), b"two!".to_vec())
        );

        let fewer = BTreeMap::from([(layers[1].clone(), Chunk::Bytes(b"two!".to_vec()))]);
        std::fs::write(&path, bytes(archive("n:1", b"{}", &layers, &fewer))).unwrap();
        let error = layers_of(&path, &layers).unwrap_err().to_string();
        assert!(error.contains("a saved image lacks"), "{error}");
    }
}
