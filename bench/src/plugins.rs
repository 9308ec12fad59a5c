//! Plugins: scanning many of them, one change among them, installing a large package.

mod install;
mod scan;

pub(crate) use install::child as install_child;

use anyhow::Result;

pub(crate) fn run(only: &[&str]) -> Result<()> {
    let wanted = |name: &str| only.is_empty() || only.contains(&name);
    if wanted("scan") {
        scan::run()?;
    }
    if wanted("install") {
        install::run()?;
    }
    Ok(())
}
