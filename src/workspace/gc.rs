//! Layers of environments, and images of instances, that nothing has used for a while. Each can be made again from the
//! ledger's locks.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use camino::Utf8PathBuf;
use jiff::Timestamp;

use super::{Workspace, WorkspaceError};

/// One layer on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Its kind and key (`deps/0123…`).
    pub name: String,
    /// When it was made or last used.
    pub used: Timestamp,
    path: Utf8PathBuf,
}

fn io(path: impl Into<Utf8PathBuf>) -> impl FnOnce(std::io::Error) -> WorkspaceError {
    let path = path.into();
    move |source| WorkspaceError::Io { path, source }
}

impl Workspace {
    /// Every layer of the workspace, by name.
    ///
    /// # Errors
    /// [`WorkspaceError::Io`] when a folder cannot be read.
    pub fn layers(&self) -> Result<Vec<Layer>, WorkspaceError> {
        let mut found = Vec::new();
        for kind in ["projects", "deps", "dists"] {
            let folder = self.envs().join(kind);
            if !folder.is_dir() {
                continue;
            }
            for entry in folder.read_dir_utf8().map_err(io(&folder))? {
                let entry = entry.map_err(io(&folder))?;
                let data = entry.metadata().map_err(io(entry.path()))?;
                found.push(Layer {
                    name: format!("{kind}/{}", entry.file_name()),
                    used: Timestamp::from_second(data.mtime()).unwrap_or(Timestamp::MAX),
                    path: entry.path().to_owned(),
                });
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }
}

/// An image at a daemon that this workspace made or used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedImage {
    /// Its name and tag.
    pub name: String,
    /// When it was last made or found.
    pub used: Timestamp,
}

impl Workspace {
    /// Notes that an image is used now.
    ///
    /// # Errors
    /// [`WorkspaceError::Io`] when that cannot be written.
    pub fn use_image(&self, name: &str) -> Result<(), WorkspaceError> {
        let (folder, file) = (self.images(), self.image_note(name));
        fs::create_dir_all(&folder).map_err(io(&folder))?;
        // A file that is written anew has a new time.
        fs::write(&file, name).map_err(io(&file))
    }

    /// The images that this workspace used, by name.
    ///
    /// # Errors
    /// [`WorkspaceError::Io`] when they cannot be read.
    pub fn used_images(&self) -> Result<Vec<UsedImage>, WorkspaceError> {
        let folder = self.images();
        let mut found = Vec::new();
        if !folder.is_dir() {
            return Ok(found);
        }
        for entry in folder.read_dir_utf8().map_err(io(&folder))? {
            let entry = entry.map_err(io(&folder))?;
            let data = entry.metadata().map_err(io(entry.path()))?;
            found.push(UsedImage {
                name: fs::read_to_string(entry.path()).map_err(io(entry.path()))?,
                used: Timestamp::from_second(data.mtime()).unwrap_or(Timestamp::MAX),
            });
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// Forgets an image that is gone.
    ///
    /// # Errors
    /// [`WorkspaceError::Io`] when its note cannot be removed.
    pub fn forget_image(&self, name: &str) -> Result<(), WorkspaceError> {
        let file = self.image_note(name);
        fs::remove_file(&file).map_err(io(&file))
    }

    fn image_note(&self, name: &str) -> Utf8PathBuf {
        self.images().join(name.replace('/', "+"))
    }
}

impl Layer {
    /// How many bytes go with it: those of files that have no other name.
    pub fn bytes(&self) -> u64 {
        own_bytes(self.path.as_std_path())
    }

    /// Removes it, and says how many bytes went with it.
    ///
    /// # Errors
    /// [`WorkspaceError::Io`] when a file cannot be removed.
    pub fn remove(&self) -> Result<u64, WorkspaceError> {
        let bytes = self.bytes();
        // Out of the way first: half a layer must not be taken for one.
        let doomed = self.path.with_extension("removed");
        fs::rename(&self.path, &doomed).map_err(io(&self.path))?;
        fs::remove_dir_all(&doomed).map_err(io(&doomed))?;
        Ok(bytes)
    }
}

fn own_bytes(path: &Path) -> u64 {
    let Ok(data) = fs::symlink_metadata(path) else {
        return 0;
    };
    if data.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        return entries.map(|entry| own_bytes(&entry.path())).sum();
    }
    if data.nlink() > 1 { 0 } else { data.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_images_last_use_is_remembered_until_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap());
        assert_eq!(workspace.used_images().unwrap(), []);
        for name in ["quarry/instance:b", "quarry/instance:a", "quarry/instance:a"] {
            workspace.use_image(name).unwrap();
        }
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(7);
        let file = fs::File::options()
            .write(true)
            .open(workspace.image_note("quarry/instance:b"))
            .unwrap();
        file.set_modified(old).unwrap();
        let used = workspace.used_images().unwrap();
        assert_eq!(used[0].name, "quarry/instance:a");
        assert_eq!(used[1].used, Timestamp::from_second(7).unwrap());
        workspace.use_image("quarry/instance:b").unwrap();
        assert!(workspace.used_images().unwrap()[1].used > Timestamp::from_second(7).unwrap());
        workspace.forget_image("quarry/instance:a").unwrap();
        assert_eq!(workspace.used_images().unwrap().len(), 1);
    }

    #[test]
    fn layers_are_listed_and_go_whole() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap());
        assert_eq!(workspace.layers().unwrap(), []);
        let layer = workspace.envs().join("deps/key");
        fs::create_dir_all(layer.join("a")).unwrap();
        fs::write(layer.join("a/own"), "12345").unwrap();
        fs::write(folder.path().join("shared"), "1234567").unwrap();
        fs::hard_link(folder.path().join("shared"), layer.join("a/shared")).unwrap();
        let layers = workspace.layers().unwrap();
        assert_eq!(layers[0].name, "deps/key");
        assert_eq!(layers[0].remove().unwrap(), 5, "what has another name stays");
        assert!(!layer.exists());
        assert_eq!(workspace.layers().unwrap(), []);
    }
}
