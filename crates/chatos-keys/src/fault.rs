//! What a person is told when there is no usable key.

use chatos_tool::{ErrorCode, Fault, Text};

use crate::KeyProblem;

impl From<&KeyProblem> for Fault {
    /// The key could not be read or made.
    fn from(problem: &KeyProblem) -> Self {
        let mut fault = Fault::new(
            ErrorCode::Unavailable,
            Text::new(problem.to_string(), format!("状态密钥无法使用：{problem}")),
        )
        .code("state_key_unusable")
        .hint(Text::fixed(
            "make the key file readable, or point CHATOS_MASTER_KEY_FILE to a copy of it; without it sealed secrets cannot be opened",
            "请让密钥文件可读，或用 CHATOS_MASTER_KEY_FILE 指向其副本；没有它就无法打开已加密的密钥",
        ));
        if let Some(source) = std::error::Error::source(problem) {
            fault = fault.caused_by(source);
        }
        fault
    }
}

impl From<KeyProblem> for Fault {
    fn from(problem: KeyProblem) -> Self {
        Self::from(&problem)
    }
}
