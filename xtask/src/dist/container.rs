//! What a container image is built from: a folder with the recipe and a program per processor.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::Result;

use super::Release;
use super::target::Target;

const RECIPE: &str = include_str!("../../../packaging/container/Dockerfile");

/// Writes `container/`; `docker build` or `podman build` of that folder gives the image.
pub(super) fn context(release: &Release, out: &Path, programs: &[(Target, Vec<u8>)]) -> Result<()> {
    let folder = out.join("container");
    fs::create_dir_all(folder.join("licences"))?;
    fs::write(folder.join("Dockerfile"), RECIPE.replace("@VERSION@", &release.version))?;
    fs::write(folder.join("licences/LICENSE-APACHE"), &release.apache)?;
    fs::write(folder.join("licences/LICENSE-MIT"), &release.mit)?;
    fs::write(folder.join("licences/THIRD-PARTY-LICENCES"), &release.licences)?;
    fs::write(folder.join("licences/sbom.cdx.json"), &release.sbom)?;
    for (target, program) in programs {
        let Some(processor) = target.debian else { continue };
        let place = folder.join(processor);
        fs::create_dir_all(&place)?;
        fs::write(place.join("chatos"), program)?;
        fs::set_permissions(place.join("chatos"), fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}
