//! Deployment of the template to the emulator, with `sam deploy`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use local_cloud::cloud::Cloud;
use local_cloud::stack::Deployment;
use local_cloud::tools::Tools;

use super::setup::StackOptions;

/// Additional permissions for the emulator, which checks the name of the call. AWS checks another action, which the
/// template grants: PartiQLInsert, PartiQLUpdate and PartiQLDelete on the table, SendMessage and ChangeMessageVisibility
/// on the queue.
const EMULATOR_PERMISSIONS: [(&str, &[&str]); 8] = [
    ("ProcessItemRole", &["dynamodb:BatchExecuteStatement", "sqs:SendMessageBatch"]),
    ("CallHandlerRole", &["sqs:SendMessageBatch"]),
    ("CreateJobRole", &["sqs:SendMessageBatch"]),
    ("DeliverRole", &["sqs:SendMessageBatch"]),
    ("CompleteJobRole", &["sqs:SendMessageBatch"]),
    ("JobsApiRole", &["sqs:SendMessageBatch"]),
    ("OperationsRole", &["sqs:SendMessageBatch"]),
    ("SweepRole", &["sqs:SendMessageBatch", "sqs:ChangeMessageVisibilityBatch"]),
];

/// Grants the additional permissions to the functions of a stack.
pub(super) fn grant_permissions(cloud: &Cloud, stack: &str) -> Result<()> {
    for (role, actions) in EMULATOR_PERMISSIONS {
        cloud.allow(&cloud.physical_id(stack, role)?, actions)?;
    }
    Ok(())
}

/// Deploys the template, and returns the stack's outputs.
pub(super) fn create(
    cloud: &Cloud,
    endpoint: &str,
    name: &str,
    options: &StackOptions,
) -> Result<BTreeMap<String, String>> {
    let folder = tempfile::tempdir().context("cannot create a folder to deploy from")?;
    options.stage(folder.path())?;
    let deployment = Deployment { folder: folder.path(), stack: name, parameters: Some(options.parameters()) };
    sam_deploy(&deployment, endpoint)?;
    let deployed = cloud.inventory(name)?.context("the stack does not exist")?;
    ensure!(deployed.status.ends_with("CREATE_COMPLETE"), "the stack is not complete: {}", deployed.status);
    Ok(deployed.outputs)
}

fn sam_deploy(deployment: &Deployment<'_>, endpoint: &str) -> Result<()> {
    let output = deployment.command(&Tools::from_env()?, endpoint).output().context("cannot run sam")?;
    if !output.status.success() {
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        bail!("sam deploy failed:\n{stdout}{stderr}");
    }
    Ok(())
}
