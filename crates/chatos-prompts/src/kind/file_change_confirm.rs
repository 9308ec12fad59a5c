//! `kind="file_change_confirm"`: a diff or a command to approve before it happens (seed 004 §8).

use super::Checker;
use crate::json::Object;

pub(super) fn check(ck: &mut Checker, prompt: &Object, normal: &mut Object) {
    for key in ["path", "command", "cwd", "diff", "defaultRemark"] {
        ck.text(prompt, key, "/prompt", normal);
    }
}
