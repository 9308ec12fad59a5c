//! The toolchains that are known: where each keeps itself in a home directory, and what a command is told so
//! that it writes into its private cache instead (working-day §1.1). Data only; a row is a profile.

#[derive(Debug)]
pub(crate) struct Profile {
    /// What it is called.
    pub(crate) name: &'static str,
    /// Programs on the search path by which it is found, too: those of the system need a cache as well.
    pub(crate) programs: &'static [&'static str],
    pub(crate) homes: &'static [Home],
    /// Variables that name a directory of the private cache.
    pub(crate) caches: &'static [(&'static str, &'static str)],
}

/// A place a toolchain lives in.
#[derive(Debug)]
pub(crate) struct Home {
    /// The variable that names it; given to the command as it is.
    pub(crate) variable: Option<&'static str>,
    /// Beneath the home directory where the variable is not set; a `*` in the last part stands for anything.
    pub(crate) place: &'static str,
    /// What of it is opened; empty for all of it.
    pub(crate) parts: &'static [&'static str],
}

const fn at(place: &'static str) -> Home {
    Home { variable: None, place, parts: &[] }
}

const fn named(variable: &'static str, place: &'static str) -> Home {
    Home { variable: Some(variable), place, parts: &[] }
}

/// Git is not here: what it reads is found by reading its configuration (`git`).
pub(crate) static PROFILES: [Profile; 9] = [
    Profile {
        name: "rust",
        programs: &["cargo"],
        homes: &[
            named("RUSTUP_HOME", ".rustup"),
            Home {
                variable: Some("CARGO_HOME"),
                place: ".cargo",
                parts: &["bin", "env", "registry", "git", "config.toml", "config"],
            },
        ],
        caches: &[("CARGO_HOME", "cargo")],
    },
    Profile {
        name: "node",
        programs: &["node", "npm", "bun", "deno"],
        homes: &[
            named("NVM_DIR", ".nvm"),
            named("FNM_DIR", ".local/share/fnm"),
            named("VOLTA_HOME", ".volta"),
            named("N_PREFIX", ".n"),
            at(".bun"),
            at(".deno"),
            named("PNPM_HOME", ".local/share/pnpm"),
            at(".nvmrc"),
            at(".node-version"),
        ],
        caches: &[
            ("npm_config_cache", "npm"),
            ("YARN_CACHE_FOLDER", "yarn/cache"),
            ("YARN_GLOBAL_FOLDER", "yarn/global"),
            ("npm_config_store_dir", "pnpm"),
            ("BUN_INSTALL_CACHE_DIR", "bun"),
            ("DENO_DIR", "deno"),
            ("COREPACK_HOME", "corepack"),
        ],
    },
    Profile {
        name: "python",
        programs: &["python3", "python", "uv", "poetry", "conda"],
        homes: &[
            named("PYENV_ROOT", ".pyenv"),
            at(".local/share/uv"),
            at(".local/share/pipx"),
            at(".local/pipx"),
            at(".local/lib/python*"),
            named("CONDA_PREFIX", "miniconda3"),
            at("miniforge3"),
            at("anaconda3"),
            at(".python-version"),
        ],
        caches: &[
            ("PIP_CACHE_DIR", "pip"),
            ("UV_CACHE_DIR", "uv"),
            ("POETRY_CACHE_DIR", "poetry"),
            ("CONDA_PKGS_DIRS", "conda"),
            ("PYTHONPYCACHEPREFIX", "pycache"),
        ],
    },
    Profile {
        name: "asdf",
        programs: &[],
        homes: &[named("ASDF_DATA_DIR", ".asdf"), at(".asdfrc"), at(".tool-versions")],
        caches: &[],
    },
    Profile {
        name: "mise",
        programs: &["mise"],
        homes: &[
            named("MISE_DATA_DIR", ".local/share/mise"),
            named("MISE_CONFIG_DIR", ".config/mise"),
            named("MISE_STATE_DIR", ".local/state/mise"),
            at(".tool-versions"),
        ],
        caches: &[("MISE_CACHE_DIR", "mise")],
    },
    Profile {
        name: "go",
        programs: &["go"],
        homes: &[
            named("GOROOT", ".go"),
            at("sdk/go*"),
            named("GOMODCACHE", "go/pkg/mod"),
            at(".config/go/env"),
        ],
        caches: &[("GOCACHE", "go/build"), ("GOPATH", "go/path"), ("GOMODCACHE", "go/mod")],
    },
    Profile {
        name: "jvm",
        programs: &["gradle", "mvn"],
        homes: &[
            at(".sdkman/candidates"),
            at(".jenv"),
            at(".gradle/caches"),
            at(".gradle/wrapper"),
            at(".m2/repository"),
            at(".m2/wrapper"),
        ],
        caches: &[("GRADLE_USER_HOME", "gradle")],
    },
    Profile {
        name: "homebrew",
        programs: &[],
        homes: &[named("HOMEBREW_PREFIX", ".linuxbrew"), at("/home/linuxbrew/.linuxbrew")],
        caches: &[],
    },
    Profile {
        name: "others",
        programs: &[],
        homes: &[
            named("RBENV_ROOT", ".rbenv"),
            at(".nodenv"),
            at(".ghcup"),
            at(".juliaup"),
            at(".elan"),
            at(".opam"),
            at(".local/share/gem"),
            at(".local/share/nvim"),
            at(".ruby-version"),
        ],
        caches: &[],
    },
];

/// Directories of the private cache that are made besides those above.
pub(crate) const MORE_CACHES: [&str; 1] = ["m2"];
