//! What the process that reads a document is given to open office files with: the archive reader of packages, so that
//! there is one with one set of rules (security T8, T26).

use std::fs::File;
use std::io::Write as _;

use chatos_documents::{Members, Unread};
use chatos_plugins::{Limits, PackageCode, PackageError};
use rustix::fs::{MemfdFlags, memfd_create};

struct Packed(chatos_plugins::Members);

impl Members for Packed {
    fn member(&mut self, name: &str) -> Result<Option<Vec<u8>>, Unread> {
        self.0.content(name).map_err(|error| refused(&error))
    }
}

/// Opens the bytes of a document as an archive. They lie in memory: the process can open no file any more.
pub(crate) fn members(bytes: Vec<u8>) -> Result<Box<dyn Members>, Unread> {
    let place = memfd_create("document", MemfdFlags::CLOEXEC).map_err(std::io::Error::from)?;
    let mut file = File::from(place);
    file.write_all(&bytes)?;
    drop(bytes);
    let members = chatos_plugins::Members::open(file, Limits::default()).map_err(|error| refused(&error))?;
    Ok(Box::new(Packed(members)))
}

fn refused(error: &PackageError) -> Unread {
    match error.code {
        PackageCode::PackageRatio | PackageCode::PackageTooLarge | PackageCode::PackageTooManyFiles => {
            Unread::too_large()
        }
        PackageCode::EntryEncrypted => Unread::encrypted(),
        _ => Unread::archive(error),
    }
}
