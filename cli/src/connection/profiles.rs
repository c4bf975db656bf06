//! The file with the deployments that the user has signed in to. It has tokens, so only its owner can read it.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::discovery::SignIn;

/// Name of the profile of a command that names none.
pub(super) const DEFAULT: &str = "default";

/// The user's profiles, by name.
#[derive(Serialize, Deserialize, Default, Debug, PartialEq)]
pub(super) struct Profiles(BTreeMap<String, Profile>);

/// A deployment, and the user of its API.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(super) struct Profile {
    /// Root URL of the API.
    pub(super) api_url: String,
    /// The sign-in that renews the tokens. `None` for an open API, and for a token from elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sign_in: Option<SignIn>,
    /// The tokens. `None` for an open API, and after a sign-out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<StoredTokens>,
}

/// The tokens of a user.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredTokens {
    /// The token for the API.
    pub(super) token: String,
    /// Seconds since 1970 from which on the token is renewed. `None` if its end is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) renew_at: Option<u64>,
    /// Seconds since 1970 at which the token ends. `None` if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<u64>,
    /// The token that renews it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refresh_token: Option<String>,
}

/// Returns the path of the file: in the folder of the XDG base directory specification, and on Windows in `AppData`.
pub(super) fn path() -> Result<PathBuf> {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let config = folder("XDG_CONFIG_HOME").or_else(|| if cfg!(windows) { folder("APPDATA") } else { None });
    let config = config.or_else(|| Some(folder("HOME")?.join(".config")));
    let config = config.context("there is no folder for profiles: set XDG_CONFIG_HOME or HOME, or pass --api-url")?;
    Ok(config.join("longshore/profiles.json"))
}

impl Profiles {
    /// Reads the profiles; there are none without a file.
    pub(super) fn read(path: &Path) -> Result<Self> {
        match fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("{} is damaged: delete it, and sign in again", path.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Returns a profile.
    pub(super) fn get(&self, name: &str) -> Option<&Profile> {
        self.0.get(name)
    }

    /// Returns the names of the profiles.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Sets one profile in the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn set(path: &Path, name: &str, profile: Profile) -> Result<()> {
        let _lock = lock(path)?;
        Self::set_locked(path, name, profile)
    }

    /// Sets one profile in the file, which the caller has locked. No reader sees half a file.
    pub(super) fn set_locked(path: &Path, name: &str, profile: Profile) -> Result<()> {
        let mut profiles = Self::read(path)?;
        profiles.0.insert(name.to_owned(), profile);
        let write = || {
            // A temporary file can be read by its owner only.
            let mut file = NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
            serde_json::to_writer_pretty(&mut file, &profiles)?;
            file.flush()?;
            // Else a crash of the machine could leave an empty file under the name.
            file.as_file().sync_all()?;
            file.persist(path)?;
            anyhow::Ok(())
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }
}

impl StoredTokens {
    /// Returns true if the token has to be renewed.
    pub(super) fn is_due(&self, now: u64) -> bool {
        self.renew_at.is_some_and(|at| at <= now)
    }

    /// Returns true if the token is known to be valid.
    pub(super) fn is_valid(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|end| now < end)
    }
}

impl Profile {
    /// Returns true if the other one has the same deployment and sign-in.
    pub(super) fn is_same_deployment(&self, other: &Self) -> bool {
        self.api_url == other.api_url && self.sign_in == other.sign_in
    }
}

/// Waits until no other command changes the file. The lock ends with the value, or the process.
pub(super) fn lock(path: &Path) -> Result<File> {
    let lock = || {
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        let file = File::options().create(true).append(true).open(path.with_extension("lock"))?;
        file.lock()?;
        Ok::<_, std::io::Error>(file)
    };
    lock().with_context(|| format!("cannot lock {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(url: &str) -> Profile {
        let tokens =
            StoredTokens { token: "t".to_owned(), renew_at: Some(7), expires_at: Some(9), refresh_token: None };
        Profile { api_url: url.to_owned(), sign_in: None, tokens: Some(tokens) }
    }

    #[test]
    fn profiles_are_kept_in_a_file_of_their_owner() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("longshore/profiles.json");
        assert_eq!(Profiles::read(&path)?, Profiles::default());
        Profiles::set(&path, "a", profile("https://a.example"))?;
        Profiles::set(&path, "b", profile("https://b.example"))?;
        Profiles::set(&path, "a", profile("https://c.example"))?;
        let profiles = Profiles::read(&path)?;
        assert_eq!(profiles.get("a"), Some(&profile("https://c.example")));
        assert_eq!(profiles.names().collect::<Vec<_>>(), ["a", "b"]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path)?.permissions().mode() & 0o777, 0o600);
        }
        fs::write(&path, "{")?;
        assert!(Profiles::read(&path).unwrap_err().to_string().contains("is damaged: delete it, and sign in again"));
        Ok(())
    }
}
