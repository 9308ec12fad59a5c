//! The folder for trying things out: beside no project, outside the state, and made when somebody asks for it.

use std::path::PathBuf;

use chatos_tool::{ErrorCode, Fault, Text};

use crate::host::Host;

impl Host {
    /// Makes the folder where agents may be tried without touching anything of the person's.
    pub fn scratch(&self) -> Result<PathBuf, Fault> {
        let dir = self.places().cache_dir.join("scratch");
        let made = std::fs::create_dir_all(&dir).and_then(|()| dir.canonicalize());
        made.map_err(|error| {
            Fault::new(
                ErrorCode::Unavailable,
                Text::new(
                    format!("cannot make the folder for trying things out: {}", dir.display()),
                    format!("无法创建试用文件夹：{}", dir.display()),
                ),
            )
            .caused_by(&error)
        })
    }
}
