//! A failure to find or prepare the state directory, as people and scripts see it.

use chatos_tool::{ErrorCode, Fault, Text};

use crate::error::PathError;

impl From<&PathError> for Fault {
    fn from(error: &PathError) -> Self {
        let class = match error {
            PathError::ForeignOwner { .. } => ErrorCode::PermissionDenied,
            _ => ErrorCode::Unavailable,
        };
        let code = match error {
            PathError::NoHome { .. } => "home_missing",
            PathError::HostApp { .. } => "host_app_invalid",
            PathError::NotAbsolute { .. } => "path_not_absolute",
            PathError::Io { .. } => "state_dir_unusable",
            PathError::NotADirectory { .. } => "state_dir_not_a_directory",
            PathError::ForeignOwner { .. } => "state_dir_foreign_owner",
            PathError::NetworkFileSystem { .. } => "state_dir_network_fs",
        };
        let mut fault = Fault::new(class, Text::new(error.to_string(), error.message_zh()))
            .code(code)
            .hint(Text::fixed(error.hint(), error.hint_zh()));
        if let Some(source) = std::error::Error::source(error) {
            fault = fault.caused_by(source);
        }
        fault
    }
}

impl From<PathError> for Fault {
    fn from(error: PathError) -> Self {
        Self::from(&error)
    }
}
