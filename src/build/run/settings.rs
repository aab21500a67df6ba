//! What a recipe lets reach builds, beside what always does.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::BuildSettings;
use crate::build::error::BuildError;
use crate::recipe::room::RoomRecipe;

/// Where systems keep the certificates that they trust, in one file.
const BUNDLES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/ssl/cert.pem",
];

/// The variables by which installers find certificates.
const READERS: [&str; 4] = [
    "SSL_CERT_FILE",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
];

impl BuildSettings {
    /// With what `room` lets through of `variables`, and with its certificates added to those that are trusted
    /// already, in a file in `folder`.
    ///
    /// # Errors
    /// [`BuildError::Io`] when a file of certificates cannot be read or written.
    pub fn opened_by(
        mut self,
        room: &RoomRecipe,
        variables: &BTreeMap<String, String>,
        folder: &Path,
    ) -> Result<Self, BuildError> {
        for name in &room.build_env {
            if let Some(value) = variables.get(name) {
                self.build_env.insert(name.clone(), value.clone());
            }
        }
        let Some(extra) = &room.extra_ca else {
            return Ok(self);
        };
        let trusted = self.build_env.get("SSL_CERT_FILE").cloned();
        let trusted = trusted.or_else(|| {
            let found = BUNDLES.into_iter().find(|path| Path::new(path).is_file());
            found.map(str::to_owned)
        });
        let mut pem = Vec::new();
        for path in trusted.iter().chain([extra]) {
            let path = Path::new(path);
            pem.extend(fs::read(path).map_err(BuildError::io("read the certificates", path))?);
            pem.push(b'\n');
        }
        fs::create_dir_all(folder).map_err(BuildError::io("make the folder", folder))?;
        let file = folder.join("build-certificates.pem");
        fs::write(&file, pem).map_err(BuildError::io("write", &file))?;
        for name in READERS {
            self.build_env.insert(name.to_owned(), file.display().to_string());
        }
        // A folder would be read in the file's place.
        self.build_env.remove("SSL_CERT_DIR");
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_lets_through_what_it_names() {
        let folder = tempfile::tempdir().unwrap();
        let (own, extra) = (folder.path().join("own.pem"), folder.path().join("extra.pem"));
        fs::write(&own, "own").unwrap();
        fs::write(&extra, "extra").unwrap();
        let variables = BTreeMap::from([
            ("TOKEN".to_owned(), "t".to_owned()),
            ("OTHER".to_owned(), "o".to_owned()),
            ("SSL_CERT_FILE".to_owned(), own.display().to_string()),
        ]);
        let room = RoomRecipe {
            build_env: vec!["TOKEN".to_owned(), "UNSET".to_owned()],
            extra_ca: Some(extra.display().to_string()),
            ..RoomRecipe::default()
        };
        let settings = BuildSettings::of(&variables)
            .opened_by(&room, &variables, folder.path())
            .unwrap();
        let env = settings.build_env;
        assert_eq!(env["TOKEN"], "t");
        assert!(!env.contains_key("OTHER") && !env.contains_key("UNSET"));
        assert_eq!(fs::read_to_string(&env["SSL_CERT_FILE"]).unwrap(), "own\nextra\n");
        assert_eq!(env["SSL_CERT_FILE"], env["PIP_CERT"]);

        let missing = RoomRecipe {
            extra_ca: Some("/nowhere/ca.pem".to_owned()),
            ..RoomRecipe::default()
        };
        let error = BuildSettings::of(&variables)
            .opened_by(&missing, &variables, folder.path())
            .unwrap_err();
        assert!(error.to_string().contains("/nowhere/ca.pem"), "{error}");
    }
}
