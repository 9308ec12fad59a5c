//! `chatos plugin pack`: a directory to a zip file that installs byte for byte (devkit §2.2). The same
//! input gives the same bytes, and what was written is read back with the installer's reader before
//! it counts.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use chatos_contribution::DefaultLists;
use chatos_manifest::{quote, visible};
use chatos_paths::Beneath;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::digest::{Digest, Hasher};
use crate::layout::Origin;
use crate::load::{self, Watched};
use crate::package::{
    Content, EntryPath, Limits, Package, PackageCode, PackageError, Sink, ZipWriter, too_large,
};

/// What was packed.
#[derive(Debug, Clone)]
pub struct PackReport {
    /// The zip file.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Files in it.
    pub files: usize,
    /// Files left out.
    pub excluded: usize,
    /// The digest the installed plugin will have.
    pub digest: Digest,
}

/// The directory that holds `plugin.json`: `dir`, or `dir/plugin` (devkit §1).
pub fn plugin_dir(dir: &Path) -> Result<PathBuf, PackageError> {
    for candidate in [dir.to_owned(), dir.join("plugin")] {
        if std::fs::symlink_metadata(candidate.join("plugin.json")).is_ok() {
            return std::fs::canonicalize(&candidate)
                .map_err(|error| PackageError::source(&candidate, error));
        }
    }
    let shown = visible(&dir.to_string_lossy());
    Err(PackageError::new(
        PackageCode::NotFound,
        format!("No plugin.json in {shown} or {shown}/plugin"),
        format!("{shown} 和 {shown}/plugin 中都没有 plugin.json"),
    ))
}

/// `<id>-<version>.zip` with unusual characters of the version replaced.
pub fn default_file_name(id: &str, version: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || "._+-".contains(c) { c } else { '-' };
    format!("{id}-{}.zip", version.chars().map(keep).collect::<String>())
}

/// Packs the plugin in `dir` (see [`plugin_dir`]) to `out`, or to `dist/<id>-<version>.zip` below
/// `current` when no name is given. Errors in the plugin mean no file.
pub fn pack(
    dir: &Path,
    out: Option<&Path>,
    current: &Path,
    defaults: &DefaultLists,
) -> Result<PackReport, PackageError> {
    let dir = plugin_dir(dir)?;
    let loaded = load::load(&dir, Origin::Dev, defaults).ok_or_else(PackageError::no_manifest)?;
    let plugin = match loaded.plugin {
        Some(plugin) if !loaded.problems.iter().any(chatos_manifest::Problem::is_error) => plugin,
        _ => return Err(PackageError::problems(loaded.problems)),
    };
    let file_name = default_file_name(plugin.id().as_str(), &plugin.manifest.version);
    let out = out.map_or_else(|| current.join("dist").join(file_name), |out| current.join(out));
    let named = named_files(&loaded.watched);
    let files = choose(&dir, Some(&out), &named)?;
    let written = write(&dir, &out, &files)?;
    let mut read_back = InOrder::default();
    Package::open(&out, Limits::default())?.read(&mut read_back)?;
    if read_back.hasher.finish() != written {
        return Err(PackageError::new(
            PackageCode::Unavailable,
            "The written package does not read back as it was packed",
            "写出的安装包与打包内容不一致",
        ));
    }
    let bytes = std::fs::metadata(&out).map_err(|error| PackageError::source(&out, error))?.len();
    Ok(PackReport { file: out, bytes, files: files.files.len(), excluded: files.excluded, digest: written })
}

/// The files a manifest names, as the package lists them.
pub(crate) fn named_files(watched: &[Watched]) -> Vec<String> {
    watched
        .iter()
        .filter(|watched| watched.stamp.is_some())
        .filter_map(|watched| String::from_utf8(watched.path.clone()).ok())
        .map(|path| plain(&path))
        .collect()
}

/// A path without `.` and `..`, as the package lists it.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

struct Chosen {
    /// Path to executable bit, in path order.
    files: BTreeMap<String, bool>,
    excluded: usize,
}

/// Walks the directory with the installer's rules and leaves out what is not packed.
fn choose(dir: &Path, out: Option<&Path>, named: &[String]) -> Result<Chosen, PackageError> {
    let mut list = List::default();
    let tally = Package::open(dir, Limits::default())?.read(&mut list)?;
    let mut chosen = Chosen { files: BTreeMap::new(), excluded: tally.excluded };
    let rules = ignore_rules(dir)?;
    let own_output = out.and_then(|out| {
        let place = std::fs::canonicalize(out.parent()?).ok()?.join(out.file_name()?);
        place.strip_prefix(dir).ok().and_then(Path::to_str).map(str::to_owned)
    });
    // Packages lie in dist/; so does the code of some plugins, and then only the packages are left out.
    let dist_is_code = named.iter().any(|path| path.starts_with("dist/"));
    for (path, executable) in list.files {
        let is_output = own_output.as_deref() == Some(path.as_str());
        let is_dist = path.strip_prefix("dist/").is_some_and(|rest| !dist_is_code || is_top_level_zip(rest));
        let is_ignored = rules.matched_path_or_any_parents(&path, false).is_ignore();
        if is_ignored && named.contains(&path) {
            let mut error = PackageError::entry(
                PackageCode::IgnoredFile,
                path.as_bytes(),
                "is named by plugin.json and left out by .chatosignore",
                "被 plugin.json 引用，但被 .chatosignore 排除",
            );
            error.entry = Some(path);
            return Err(error);
        }
        if is_output || is_dist || is_ignored {
            chosen.excluded += 1;
        } else {
            chosen.files.insert(path, executable);
        }
    }
    Ok(chosen)
}

fn is_top_level_zip(path: &str) -> bool {
    !path.contains('/') && path.to_ascii_lowercase().ends_with(".zip")
}

fn ignore_rules(dir: &Path) -> Result<Gitignore, PackageError> {
    let file = dir.join(".chatosignore");
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(PackageError::source(&file, error)),
    };
    let mut builder = GitignoreBuilder::new("");
    for (number, line) in text.lines().enumerate() {
        builder.add_line(None, line).map_err(|error| bad_rule(number + 1, &error.to_string()))?;
    }
    builder.build().map_err(|error| bad_rule(0, &error.to_string()))
}

fn bad_rule(line: usize, error: &str) -> PackageError {
    PackageError::new(
        PackageCode::IgnoredFile,
        format!(".chatosignore line {line}: {error}"),
        format!(".chatosignore 第 {line} 行：{error}"),
    )
}

fn write(dir: &Path, out: &Path, chosen: &Chosen) -> Result<Digest, PackageError> {
    let failed = |error| PackageError::io("write the package", "写入安装包", error);
    let parent = out.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(failed)?;
    let root = Beneath::open(dir).map_err(|error| PackageError::source(dir, error))?;
    let mut temporary = out.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let result = (|| {
        let file = std::fs::File::create(&temporary).map_err(failed)?;
        let mut zip = ZipWriter::new(std::io::BufWriter::new(file));
        let mut hasher = Hasher::new();
        for (path, executable) in &chosen.files {
            let mut content = Vec::new();
            let inside = root.file(path).map_err(|error| changed(path, &error.to_string()))?;
            inside.into_file().read_to_end(&mut content).map_err(failed)?;
            hasher
                .stream(path.as_bytes(), *executable, content.len() as u64, &mut content.as_slice(), None)
                .map_err(failed)?;
            zip.file(path, *executable, &content).map_err(failed)?;
        }
        let mut file = zip.finish().map_err(failed)?;
        file.flush().map_err(failed)?;
        file.get_ref().sync_all().map_err(failed)?;
        std::fs::rename(&temporary, out).map_err(failed)?;
        Ok(hasher.finish())
    })();
    if result.is_err() {
        // The first error is the one to show; a leftover temporary file is harmless.
        std::fs::remove_file(&temporary).ok();
    }
    result
}

fn changed(path: &str, error: &str) -> PackageError {
    let shown = quote(path);
    PackageError::new(
        PackageCode::Unavailable,
        format!("{shown} changed while it was packed: {error}"),
        format!("{shown} 在打包时发生了变化：{error}"),
    )
}

/// What would be packed of a directory.
#[derive(Debug, Clone)]
pub struct PackageContent {
    /// The digest the installed plugin would have.
    pub digest: Digest,
    /// Files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Files left out.
    pub excluded: usize,
}

/// Checks a directory as the installer would read it (links, names, limits) and hashes what `pack` would put
/// into a package, so that both say the same digest. `named`: what the manifest names. Nothing is written.
pub fn content_of_directory(dir: &Path, named: &[String]) -> Result<PackageContent, PackageError> {
    let chosen = choose(dir, None, named)?;
    let root = Beneath::open(dir).map_err(|error| PackageError::source(dir, error))?;
    let mut hasher = Hasher::new();
    let mut bytes = 0;
    for (path, executable) in &chosen.files {
        let file = root.file(path).map_err(|error| changed(path, &error.to_string()))?.into_file();
        let size = file.metadata().map_err(|error| changed(path, &error.to_string()))?.len();
        hasher
            .stream(path.as_bytes(), *executable, size, &mut &file, None)
            .map_err(|error| changed(path, &error.to_string()))?;
        bytes += size;
        if bytes > Limits::default().bytes {
            return Err(too_large(Limits::default()));
        }
    }
    Ok(PackageContent {
        digest: hasher.finish(),
        files: chosen.files.len(),
        bytes,
        excluded: chosen.excluded,
    })
}

/// Lists files without reading them.
#[derive(Default)]
struct List {
    files: BTreeMap<String, bool>,
}

impl Sink for List {
    fn file(
        &mut self,
        path: &EntryPath,
        executable: bool,
        _: u64,
        _: &mut dyn Content,
    ) -> Result<(), PackageError> {
        self.files.insert(path.as_str().to_owned(), executable);
        Ok(())
    }

    fn is_canceled(&self) -> bool {
        false
    }
}

/// Hashes files in the order they come; a package of ours lists them in path order.
struct InOrder {
    hasher: Hasher,
}

impl Default for InOrder {
    fn default() -> Self {
        Self { hasher: Hasher::new() }
    }
}

impl Sink for InOrder {
    fn file(
        &mut self,
        path: &EntryPath,
        executable: bool,
        size: u64,
        content: &mut dyn Content,
    ) -> Result<(), PackageError> {
        self.hasher.head(path.as_str().as_bytes(), executable, size);
        while let Some(piece) = content.next()? {
            self.hasher.piece(piece);
        }
        Ok(())
    }

    fn is_canceled(&self) -> bool {
        false
    }
}
