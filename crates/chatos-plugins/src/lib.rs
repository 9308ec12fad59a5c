//! Plugin folders: finding them, reading them, trusting them, installing and removing them
//! (`docs/protocols/plugin-manifest.md`).
//!
//! This crate is the only one that touches plugin directories. It blocks on disk and, backends aside,
//! uses no async runtime; callers put it on a blocking thread. It never opens the database (trust goes
//! through [`TrustStore`], names through [`NameStore`]) and starts no process but backends ([`backend`]) and
//! Node, to have modules parsed ([`check_modules`]). [`Plugins`] is what the product asks about plugins,
//! [`PluginHome`] how every part of a host has them.

pub mod backend;
mod builtin;
mod desk;
pub mod details;
mod development;
mod digest;
mod fault;
mod fs;
mod home;
mod imports;
mod install;
mod layout;
mod lending;
pub mod listing;
mod load;
mod masking;
mod names_file;
mod node_check;
mod operation;
mod pack;
mod package;
mod registry;
mod scan;
mod stamp;
mod tree;
mod trust;
mod validate;
mod watch;

pub use desk::{AppKey, NameStore, Plugins};
pub use digest::{Digest, Inventory, TreeFile, digest_of, inventory};
pub use fault::{inside_network, manifest_lang, no_plugin, package_fault, problems_json};
pub use fs::{Fs, RealFs};
pub use home::{Forget, PluginHome, PluginHomeParts};
pub use imports::{ModuleRole, ModuleToCheck, modules_outside, node_entry, older_place};
pub use install::{
    DataChoice, InstallReport, InstallRequest, InstalledPlugin, Installer, KeptDir, NoProgress, Phase,
    Progress, RepairReport, Uninstalled, new_log_id, unpack,
};
pub use layout::{Origin, Roots, UiApps};
pub use lending::Lending;
pub use load::{Icon, Loaded, LoadedApp, LoadedPlugin, load};
pub use node_check::{check_modules, module_warnings};
pub use operation::{InstallOrder, InstallProgress, install_report};
pub use pack::{PackReport, PackageContent, content_of_directory, default_file_name, pack, plugin_dir};
pub use package::{Limits, Members, PackageCode, PackageError, PackedFile, read_archive};
pub use registry::{AppNames, ExternalNames, Plugin, Refresh, Registry, Snapshot, TrustError, Unverified};
pub use trust::{
    Change, FileChange, MemoryTrust, Trust, TrustRecord, TrustState, TrustStore, TrustStoreError,
    TrustedFile, changes,
};
pub use validate::{Derived, Validation, validate};
pub use watch::{Touched, Watcher};
