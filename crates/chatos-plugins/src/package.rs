//! Packages: a directory or a zip file that holds one or more plugins (plugins §8). Reading them is
//! the boundary to whatever a stranger made, so every rule about names, types, sizes and collisions
//! is here, and the same for both forms.

mod archive;
mod directory;
mod error;
mod exclude;
mod names;
mod zip_writer;

use std::path::Path;

pub(crate) use archive::too_large;
pub use error::{PackageCode, PackageError};
pub(crate) use exclude::{is_excluded, is_excluded_name};
pub(crate) use names::{Collisions, EntryPath, check_name};
pub(crate) use zip_writer::ZipWriter;

/// Limits of a package. The defaults are the specification's; tests use smaller ones.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Uncompressed bytes of all files.
    pub bytes: u64,
    /// Files and directories that would be installed.
    pub files: usize,
    /// Entries of an archive, excluded ones counted; bounds what is kept in memory to list them.
    pub entries: usize,
    /// Uncompressed bytes per compressed byte.
    pub ratio: u64,
    /// Bytes for which no ratio is asked.
    pub ratio_free: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 200 * 1024 * 1024, files: 20_000, entries: 50_000, ratio: 100, ratio_free: 1024 * 1024 }
    }
}

/// Content of one file, a piece at a time.
pub(crate) trait Content {
    /// The next bytes, or `None` at the end. Errors are found while reading.
    fn next(&mut self) -> Result<Option<&[u8]>, PackageError>;
}

/// Where the files of a package go.
pub(crate) trait Sink {
    /// One file of (as far as headers tell) `size` bytes. Parents were not announced; paths come in no
    /// particular order.
    fn file(
        &mut self,
        path: &EntryPath,
        executable: bool,
        size: u64,
        content: &mut dyn Content,
    ) -> Result<(), PackageError>;
    /// Asked between files and pieces; true ends the reading.
    fn is_canceled(&self) -> bool;
    /// How much there is in all, once known.
    fn expect(&mut self, _files: usize, _bytes: u64) {}
}

/// What reading a package found besides the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Files left out silently: `node_modules`, `.git`, `.DS_Store`, `*.map`.
    pub(crate) excluded: usize,
    /// Files beside the plugins of a package that holds several.
    pub(crate) ignored: usize,
}

/// A file an archive would install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedFile {
    /// Relative path.
    pub path: String,
    /// Bytes that were really there.
    pub bytes: u64,
    /// Owner-executable.
    pub executable: bool,
}

/// Reads an archive to its last byte with all checks of an install and keeps nothing but the names.
pub fn read_archive(file: std::fs::File) -> Result<Vec<PackedFile>, PackageError> {
    struct Names(Vec<PackedFile>);
    impl Sink for Names {
        fn file(
            &mut self,
            path: &EntryPath,
            executable: bool,
            _: u64,
            content: &mut dyn Content,
        ) -> Result<(), PackageError> {
            let mut bytes = 0;
            while let Some(piece) = content.next()? {
                bytes += piece.len() as u64;
            }
            self.0.push(PackedFile { path: path.as_str().to_owned(), bytes, executable });
            Ok(())
        }
        fn is_canceled(&self) -> bool {
            false
        }
    }
    let mut names = Names(Vec::new());
    archive::Archive::open(file, Limits::default())?.read(&mut names)?;
    Ok(names.0)
}

/// The files of any archive, read one by one under the rules of packages: names, sizes, ratio, checksums.
pub struct Members(archive::Archive);

impl Members {
    /// Reads and checks all headers; no content yet.
    pub fn open(file: std::fs::File, limits: Limits) -> Result<Self, PackageError> {
        archive::Archive::open(file, limits).map(Self)
    }

    /// The whole content of one file; nothing when there is none of this name.
    pub fn content(&self, name: &str) -> Result<Option<Vec<u8>>, PackageError> {
        self.0.content(name)
    }
}

/// A package opened for reading; names, types and limits of an archive have been checked.
pub(crate) enum Package {
    Directory(directory::Directory),
    Archive(archive::Archive),
}

impl Package {
    /// Opens a directory, or a file ending in `.zip` in any case.
    pub(crate) fn open(path: &Path, limits: Limits) -> Result<Self, PackageError> {
        let meta = std::fs::metadata(path).map_err(|error| PackageError::source(path, error))?;
        if meta.is_dir() {
            return directory::Directory::open(path, limits).map(Package::Directory);
        }
        let is_zip = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip"));
        if !is_zip || !meta.is_file() {
            return Err(PackageError::not_a_package(path));
        }
        let file = std::fs::File::open(path).map_err(|error| PackageError::source(path, error))?;
        archive::Archive::open(file, limits).map(Package::Archive)
    }

    /// Gives every file of the plugins in the package to `sink`.
    pub(crate) fn read(&mut self, sink: &mut dyn Sink) -> Result<Tally, PackageError> {
        match self {
            Package::Directory(directory) => directory.read(sink),
            Package::Archive(archive) => archive.read(sink),
        }
    }
}
