//! x
use crate::project::Project;
#[derive(clap::Args)]
pub(crate) struct Options {}
pub(crate) fn run(_p: &Project, _o: &Options) -> anyhow::Result<()> {
    Ok(())
}
