//! The files of a deployment: the template, the settings of `sam deploy`, and the folder of the binaries.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use deployment::settings::Settings;
use deployment::template::Template;

/// Paths of the files, relative to the current folder.
#[derive(clap::Args, Clone)]
pub(super) struct Inputs {
    /// The template
    #[arg(long, value_name = "FILE", default_value = "template.yaml")]
    pub(super) template: PathBuf,
    /// The settings of `sam deploy`
    #[arg(long, value_name = "FILE", default_value = "samconfig.toml")]
    pub(super) config: PathBuf,
    /// Folder of the built functions, with a NAME/bootstrap or NAME.zip for each [default: that of the template's CodeUri]
    #[arg(long, value_name = "FOLDER")]
    pub(super) functions: Option<PathBuf>,
}

impl Inputs {
    /// Reads the template.
    pub(super) fn template(&self) -> Result<Template> {
        Template::parse(&read(&self.template, "--template")?)
    }

    /// Reads the settings of an environment of samconfig.toml.
    pub(super) fn settings(&self, environment: &str) -> Result<Settings> {
        Settings::read(&read(&self.config, "--config")?, environment)
    }

    /// Returns the path of a function's code for its `CodeUri`.
    pub(super) fn code(&self, code_uri: &str) -> PathBuf {
        match &self.functions {
            Some(folder) => folder.join(Path::new(code_uri).file_name().unwrap_or_default()),
            None => self.template.parent().unwrap_or(Path::new("")).join(code_uri),
        }
    }
}

fn read(file: &Path, option: &str) -> Result<String> {
    fs::read_to_string(file).with_context(|| {
        let file = file.display();
        format!("cannot read {file}: change to the folder of the deployment, or pass the file with {option}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_are_beside_the_template_unless_functions_is_set() {
        let inputs = |template: &str, functions: Option<&str>| Inputs {
            template: template.into(),
            config: PathBuf::new(),
            functions: functions.map(PathBuf::from),
        };
        let uri = "target/lambda/jobs-api/";
        assert_eq!(inputs("template.yaml", None).code(uri), Path::new("target/lambda/jobs-api"));
        assert_eq!(inputs("../a/template.yaml", None).code(uri), Path::new("../a/target/lambda/jobs-api"));
        assert_eq!(inputs("../a/template.yaml", Some("built")).code(uri), Path::new("built/jobs-api"));
        assert_eq!(inputs("a/template.yaml", None).code("jobs-api.zip"), Path::new("a/jobs-api.zip"));
    }

    #[test]
    fn the_error_for_a_missing_file_names_the_option() {
        let error = read(Path::new("no/template.yaml"), "--template").map(drop).map_err(|error| error.to_string());
        let expected = "cannot read no/template.yaml: change to the folder of the deployment, or pass the file with \
                        --template";
        assert_eq!(error, Err(expected.to_owned()));
    }
}
