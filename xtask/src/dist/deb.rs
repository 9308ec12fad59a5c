//! The package for Debian and its relatives.

use anyhow::Result;

use super::Release;
use super::pack::{Entry, ar, gzip, sha256, tar};
use super::target::Target;

/// `chatos_<version>_<processor>.deb`, or nothing for systems without Debian.
pub(super) fn package(
    release: &Release,
    target: Target,
    program: &[u8],
) -> Result<Option<(String, Vec<u8>)>> {
    let Some(processor) = target.debian else { return Ok(None) };
    let about = "usr/share/doc/chatos";
    let files = [
        Entry::program("./usr/bin/chatos", program),
        Entry::file(format!("./{about}/changelog.gz"), gzip(release.changes.as_bytes())?),
        Entry::file(format!("./{about}/copyright"), copyright(release)),
        Entry::file(format!("./{about}/sbom.cdx.json.gz"), gzip(release.sbom.as_bytes())?),
        Entry::file(format!("./{about}/third-party-licences.gz"), gzip(release.licences.as_bytes())?),
    ];
    let installed = files.iter().map(|file| file.content.len()).sum::<usize>().div_ceil(1024);
    let sums: String =
        files.iter().map(|file| format!("{}  {}\n", sha256(&file.content), &file.path[2..])).collect();
    let control = [
        Entry::file("./control", control(&release.version, processor, installed)),
        Entry::file("./sha256sums", sums),
    ];
    let bytes = ar(
        &[
            ("debian-binary", b"2.0\n"),
            ("control.tar.gz", &gzip(&tar(&control, release.date)?)?),
            ("data.tar.gz", &gzip(&tar(&files, release.date)?)?),
        ],
        release.date,
    );
    Ok(Some((format!("chatos_{}_{processor}.deb", release.version), bytes)))
}

fn control(version: &str, processor: &str, installed: usize) -> String {
    format!(
        "Package: chatos\nVersion: {version}\nArchitecture: {processor}\n\
         Maintainer: ChatOS developers <packages@chatos.invalid>\nInstalled-Size: {installed}\n\
         Section: utils\nPriority: optional\nRecommends: ca-certificates\nSuggests: nodejs (>= 20), git\n\
         Description: run AI agents and apps on your own computer\n \
         One program serves a page on this computer: agents that use tools and files\n \
         within limits you set, plugin apps in sandboxed pages, and every question for\n \
         you in one inbox. It needs no account and no cloud.\n"
    )
}

fn copyright(release: &Release) -> String {
    format!(
        "ChatOS is licensed under MIT or Apache-2.0, as you like.\n\
         Licences of what it is built of: third-party-licences.gz in this folder.\n\n{}\n\n{}",
        release.mit, release.apache
    )
}
