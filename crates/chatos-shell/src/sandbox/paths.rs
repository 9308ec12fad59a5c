//! The file boundary: Landlock rules of one command.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, NetPort,
    PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::Boundary;

/// Entries of one directory beside a protected one that are granted by name. More would make every
/// command slow; the rest is then out of reach, which is the safe side.
const MAX_SIBLINGS: usize = 8_192;

/// The version the kernel speaks; 0 without Landlock. Restricts the calling thread.
pub(super) fn version() -> u32 {
    let tried = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::MakeBlock)
        .and_then(Ruleset::create)
        .and_then(RulesetCreated::restrict_self);
    match tried.map(|status| (status.ruleset, status.landlock)) {
        Ok((RulesetStatus::NotEnforced, _)) | Err(_) => 0,
        Ok((_, LandlockStatus::Available { effective_abi, .. })) => effective_abi as u32,
        Ok(_) => 0,
    }
}

/// Applies the rules to the calling thread.
pub(super) fn restrict(boundary: &Boundary) -> Result<(), String> {
    let abi = ABI::from(boundary.kernel.landlock.min(7) as i32);
    let text = |error: landlock::RulesetError| error.to_string();
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))
        .map_err(text)?;
    let scopes = Scope::from_all(abi);
    if !scopes.is_empty() {
        rules = rules.scope(scopes).map_err(text)?;
    }
    let proxy = boundary.proxy.filter(|_| !boundary.network);
    if proxy.is_some() {
        // Nothing is listened to, and only the proxy is spoken to.
        rules = rules.handle_access(AccessNet::from_all(abi)).map_err(text)?;
    }
    // A right that a file cannot have is left out for files, which is no reason to fail.
    let rules = rules.create().map_err(text)?.set_compatibility(CompatLevel::BestEffort);
    let rules = match proxy {
        Some(port) => rules.add_rule(NetPort::new(port, AccessNet::ConnectTcp)).map_err(text)?,
        None => rules,
    };
    let mut grants = Grants { rules, abi, protected: boundary.protected.clone() };
    for path in &boundary.read {
        grants.beneath(path, AccessFs::from_read(abi))?;
    }
    for path in &boundary.write {
        grants.beneath(path, AccessFs::from_all(abi))?;
    }
    for path in &boundary.opened {
        grants.one(path, AccessFs::from_read(abi))?;
    }
    for path in &boundary.own {
        grants.one(path, AccessFs::from_all(abi))?;
    }
    let device = AccessFs::from_file(abi) & !AccessFs::Execute;
    for path in &boundary.devices {
        grants.one(path, device | AccessFs::ReadDir)?;
    }
    let status = grants.rules.restrict_self().map_err(text)?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err("the kernel did not take the rules".to_owned()),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

struct Grants {
    // Taken and put back by every rule: the builder consumes itself.
    rules: RulesetCreated,
    abi: ABI,
    protected: Vec<PathBuf>,
}

impl Grants {
    /// Grants a tree, except what is protected in it: then its parts are granted one by one.
    fn beneath(&mut self, path: &Path, access: BitFlags<AccessFs>) -> Result<(), String> {
        if self.protected.iter().any(|protected| path.starts_with(protected)) {
            return Ok(());
        }
        let inside: Vec<PathBuf> =
            self.protected.iter().filter(|protected| protected.starts_with(path)).cloned().collect();
        if inside.is_empty() {
            return self.one(path, access);
        }
        // Names stay visible, contents do not: listing is granted on the way down, nothing else is.
        self.one(path, AccessFs::ReadDir.into())?;
        let Ok(entries) = std::fs::read_dir(path) else { return Ok(()) };
        for entry in entries.flatten().take(MAX_SIBLINGS) {
            let place = path.join(entry.file_name());
            let leads_there = inside.iter().any(|protected| {
                protected
                    .strip_prefix(path)
                    .ok()
                    .and_then(|rest| rest.components().next())
                    .is_some_and(|next| same_name(next.as_os_str(), &entry.file_name()))
            });
            if leads_there {
                self.beneath(&place, access)?;
            } else if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                // A link is judged by where it leads when it is used.
                self.one(&place, access)?;
            }
        }
        Ok(())
    }

    /// Grants one path; what does not exist needs no grant.
    fn one(&mut self, path: &Path, access: BitFlags<AccessFs>) -> Result<(), String> {
        let Ok(handle) = PathFd::new(path) else { return Ok(()) };
        let access = match rustix::fs::fstat(&handle) {
            Ok(stat) if rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir() => access,
            Ok(_) => access & AccessFs::from_file(self.abi),
            Err(_) => return Ok(()),
        };
        if access.is_empty() {
            return Ok(());
        }
        (&mut self.rules)
            .add_rule(PathBeneath::new(handle, access))
            .map(|_| ())
            .map_err(|error| format!("{}: {error}", path.display()))
    }
}

fn same_name(one: &OsStr, other: &OsStr) -> bool {
    one.as_encoded_bytes().eq_ignore_ascii_case(other.as_encoded_bytes())
}
