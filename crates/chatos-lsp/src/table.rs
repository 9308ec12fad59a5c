//! Which language server is for which file: the built-in table, and what a person put over it in
//! `lsp-servers.json` (servers §10). A project cannot define commands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

const MAX_CONFIG: u64 = 256 << 10;

#[derive(Debug, Clone, PartialEq)]
pub struct LanguageServer {
    /// `rust_analyzer`, …
    pub id: String,
    pub command: String,
    pub args: Vec<String>,
    /// Extensions without the dot.
    pub extensions: Vec<String>,
    /// Whole names of files.
    pub names: Vec<String>,
    pub languages: Vec<String>,
    /// Variables over the usual ones.
    pub env: BTreeMap<String, String>,
    pub options: Option<Value>,
    /// Files that mark the top of a project.
    pub markers: Vec<String>,
    /// What it reads besides the project, beneath the home directory.
    pub reads: Vec<String>,
    /// The command that installs it.
    pub install: Option<String>,
}

struct BuiltIn {
    id: &'static str,
    command: &'static str,
    args: &'static [&'static str],
    extensions: &'static [&'static str],
    names: &'static [&'static str],
    languages: &'static [&'static str],
    markers: &'static [&'static str],
    reads: &'static [&'static str],
    install: &'static str,
}

const NODE: &[&str] = &["package.json"];

/// First match in this order.
static BUILT_IN: [BuiltIn; 15] = [
    BuiltIn {
        id: "typescript",
        command: "typescript-language-server",
        args: &["--stdio"],
        extensions: &["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs"],
        names: &[],
        languages: &["typescript", "typescriptreact", "javascript", "javascriptreact"],
        markers: &["tsconfig.json", "jsconfig.json", "package.json"],
        reads: &[],
        install: "npm install -g typescript-language-server typescript",
    },
    BuiltIn {
        id: "java",
        command: "jdtls",
        args: &["-data", "${cacheDir}/workspace"],
        extensions: &["java"],
        names: &[],
        languages: &["java"],
        markers: &["pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
        reads: &[".m2/repository", ".gradle", ".sdkman"],
        install: "https://github.com/eclipse-jdtls/eclipse.jdt.ls#installation",
    },
    BuiltIn {
        id: "pyright",
        command: "pyright-langserver",
        args: &["--stdio"],
        extensions: &["py", "pyi"],
        names: &[],
        languages: &["python"],
        markers: &["pyproject.toml", "pyrightconfig.json", "setup.py", "setup.cfg", "requirements.txt"],
        reads: &[".local/lib", ".pyenv/versions", ".local/share/uv"],
        install: "npm install -g pyright",
    },
    BuiltIn {
        id: "gopls",
        command: "gopls",
        args: &[],
        extensions: &["go", "mod", "sum"],
        names: &["go.work"],
        languages: &["go", "go.mod"],
        markers: &["go.work", "go.mod"],
        reads: &["go", "sdk"],
        install: "go install golang.org/x/tools/gopls@latest",
    },
    BuiltIn {
        id: "csharp",
        command: "csharp-ls",
        args: &[],
        extensions: &["cs", "csx"],
        names: &[],
        languages: &["csharp"],
        markers: &["global.json", "Directory.Build.props"],
        reads: &[".nuget/packages", ".dotnet"],
        install: "dotnet tool install --global csharp-ls",
    },
    BuiltIn {
        id: "rust_analyzer",
        command: "rust-analyzer",
        args: &[],
        extensions: &["rs"],
        names: &[],
        languages: &["rust"],
        markers: &["Cargo.toml", "rust-project.json"],
        reads: &[".rustup", ".cargo/bin", ".cargo/registry", ".cargo/git", ".cargo/config.toml"],
        install: "rustup component add rust-analyzer rust-src",
    },
    BuiltIn {
        id: "clangd",
        command: "clangd",
        args: &["--background-index"],
        extensions: &["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "m", "mm"],
        names: &[],
        languages: &["c", "cpp", "objective-c", "objective-cpp"],
        markers: &["compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt"],
        reads: &[],
        install: "apt install clangd",
    },
    BuiltIn {
        id: "php",
        command: "intelephense",
        args: &["--stdio"],
        extensions: &["php"],
        names: &[],
        languages: &["php"],
        markers: &["composer.json"],
        reads: &[],
        install: "npm install -g intelephense",
    },
    BuiltIn {
        id: "lua",
        command: "lua-language-server",
        args: &[],
        extensions: &["lua"],
        names: &[],
        languages: &["lua"],
        markers: &[".luarc.json", ".luarc.jsonc"],
        reads: &[],
        install: "https://luals.github.io/#install",
    },
    BuiltIn {
        id: "bash",
        command: "bash-language-server",
        args: &["start"],
        extensions: &["sh", "bash"],
        names: &[],
        languages: &["shellscript"],
        markers: &[],
        reads: &[],
        install: "npm install -g bash-language-server",
    },
    BuiltIn {
        id: "yaml",
        command: "yaml-language-server",
        args: &["--stdio"],
        extensions: &["yaml", "yml"],
        names: &[],
        languages: &["yaml"],
        markers: &[],
        reads: &[],
        install: "npm install -g yaml-language-server",
    },
    BuiltIn {
        id: "json",
        command: "vscode-json-language-server",
        args: &["--stdio"],
        extensions: &["json", "jsonc"],
        names: &[],
        languages: &["json", "jsonc"],
        markers: NODE,
        reads: &[],
        install: "npm install -g vscode-langservers-extracted",
    },
    BuiltIn {
        id: "html",
        command: "vscode-html-language-server",
        args: &["--stdio"],
        extensions: &["html", "htm"],
        names: &[],
        languages: &["html"],
        markers: NODE,
        reads: &[],
        install: "npm install -g vscode-langservers-extracted",
    },
    BuiltIn {
        id: "css",
        command: "vscode-css-language-server",
        args: &["--stdio"],
        extensions: &["css", "scss", "less"],
        names: &[],
        languages: &["css", "scss", "less"],
        markers: NODE,
        reads: &[],
        install: "npm install -g vscode-langservers-extracted",
    },
    BuiltIn {
        id: "dockerfile",
        command: "docker-langserver",
        args: &["--stdio"],
        extensions: &["dockerfile"],
        names: &["Dockerfile", "Containerfile"],
        languages: &["dockerfile"],
        markers: &[],
        reads: &[],
        install: "npm install -g dockerfile-language-server-nodejs",
    },
];

impl BuiltIn {
    fn server(&self) -> LanguageServer {
        let words = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect();
        let (env, options): (&[(&str, &str)], Option<Value>) = match self.id {
            // What is not there yet would have to be fetched; a language server has no network.
            "rust_analyzer" => (&[("CARGO_NET_OFFLINE", "true")], None),
            "typescript" => {
                // A new name is one everywhere, not `import { old as new }` in the file that was asked about.
                let preferences = json!({ "providePrefixAndSuffixTextForRename": false });
                (&[], Some(json!({ "disableAutomaticTypingAcquisition": true, "preferences": preferences })))
            }
            _ => (&[], None),
        };
        LanguageServer {
            id: self.id.to_owned(),
            command: self.command.to_owned(),
            args: words(self.args),
            extensions: words(self.extensions),
            names: words(self.names),
            languages: words(self.languages),
            env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            options,
            markers: words(self.markers),
            reads: words(self.reads),
            install: Some(self.install.to_owned()),
        }
    }
}

pub(crate) fn built_in() -> Vec<LanguageServer> {
    BUILT_IN.iter().map(BuiltIn::server).collect()
}

/// Why a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    pub path: PathBuf,
    /// What is wrong with it.
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    servers: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Entry {
    command: Option<String>,
    args: Option<Vec<String>>,
    file_extensions: Option<Vec<String>>,
    languages: Option<Vec<String>>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    initialization_options: Option<Value>,
}

/// All servers, a person's first. `config` is a file they named, which has to exist; else the one in the state
/// directory counts, where there is one.
pub fn servers(config: Option<&Path>, state_dir: Option<&Path>) -> Result<Vec<LanguageServer>, ConfigError> {
    let usual = state_dir.map(|dir| dir.join("lsp-servers.json"));
    let Some(path) = config.map(Path::to_path_buf).or(usual) else { return Ok(built_in()) };
    let fail = |message: String| ConfigError { path: path.clone(), message };
    let bytes = match std::fs::metadata(&path) {
        Ok(meta) if meta.len() > MAX_CONFIG => {
            return Err(fail(format!("it is larger than {MAX_CONFIG} bytes")));
        }
        Ok(_) => std::fs::read(&path).map_err(|error| fail(error.to_string()))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && config.is_none() => {
            return Ok(built_in());
        }
        Err(error) => return Err(fail(error.to_string())),
    };
    merge(&bytes).map_err(fail)
}

fn merge(bytes: &[u8]) -> Result<Vec<LanguageServer>, String> {
    let config: Config = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let known = built_in();
    let mut all = Vec::new();
    for (id, entry) in config.servers {
        let named = !id.is_empty() && id.len() <= 64;
        if !named || !id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
            return Err(format!("`{id}` is no id: letters, digits, _ and -, at most 64"));
        }
        let base = known.iter().find(|known| known.id == id).cloned();
        let own = base.is_some();
        let mut server = base.unwrap_or_else(|| LanguageServer {
            id: id.clone(),
            command: String::new(),
            args: Vec::new(),
            extensions: Vec::new(),
            names: Vec::new(),
            languages: Vec::new(),
            env: BTreeMap::new(),
            options: None,
            markers: Vec::new(),
            reads: Vec::new(),
            install: None,
        });
        if let Some(command) = entry.command {
            server.command = command;
            server.args = entry.args.unwrap_or_default();
        } else if let Some(args) = entry.args {
            server.args = args;
        }
        if server.command.trim().is_empty() {
            return Err(format!("`{id}` needs a command"));
        }
        if let Some(extensions) = entry.file_extensions {
            server.names.clear();
            server.extensions =
                extensions.iter().map(|one| one.trim_start_matches('.').to_ascii_lowercase()).collect();
        }
        if server.extensions.is_empty() && server.names.is_empty() {
            return Err(format!("`{id}` needs fileExtensions"));
        }
        if let Some(languages) = entry.languages {
            server.languages = languages;
        }
        if own {
            server.env.extend(entry.env);
        } else {
            server.env = entry.env;
        }
        server.options = entry.initialization_options.or(server.options);
        all.push(server);
    }
    all.extend(
        known.into_iter().filter(|known| !all.iter().any(|own| own.id == known.id)).collect::<Vec<_>>(),
    );
    Ok(all)
}

impl LanguageServer {
    /// Whether it is for a file.
    pub(crate) fn fits(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        if self.names.iter().any(|own| own == name || name.starts_with(&format!("{own}."))) {
            return true;
        }
        let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        extension.is_some_and(|extension| self.extensions.contains(&extension))
    }

    /// What the protocol calls the language of a file.
    pub(crate) fn language(&self, path: &str) -> String {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
        let word = match extension.as_str() {
            "ts" | "mts" | "cts" => "typescript",
            "tsx" => "typescriptreact",
            "js" | "mjs" | "cjs" => "javascript",
            "jsx" => "javascriptreact",
            "py" | "pyi" => "python",
            "rs" => "rust",
            "c" => "c",
            "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => "cpp",
            "m" => "objective-c",
            "mm" => "objective-cpp",
            "cs" | "csx" => "csharp",
            "mod" => "go.mod",
            "sum" => "go.sum",
            "yml" => "yaml",
            "htm" => "html",
            "sh" | "bash" => "shellscript",
            "" => "",
            other if self.languages.iter().any(|own| own == other) => other,
            _ => "",
        };
        let fits = self.languages.is_empty() || self.languages.iter().any(|own| own == word);
        match self.languages.first() {
            _ if !word.is_empty() && fits => word.to_owned(),
            Some(first) => first.clone(),
            None => extension,
        }
    }

    /// The folder it is started for: the topmost one between the root and the file that is marked as a project,
    /// so that a workspace is one server and two projects side by side are two.
    pub(crate) fn folder(&self, root: &Path, path: &str) -> PathBuf {
        let mut folder = root.to_path_buf();
        let parts: Vec<&str> = path.split('/').collect();
        for depth in 0..parts.len() {
            if self.markers.iter().any(|marker| folder.join(marker).is_file()) {
                return folder;
            }
            if depth + 1 < parts.len() {
                folder.push(parts[depth]);
            }
        }
        root.to_path_buf()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_find_their_server_and_language() {
        let all = built_in();
        let ids: Vec<&str> = all.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(
            ids,
            [
                "typescript",
                "java",
                "pyright",
                "gopls",
                "csharp",
                "rust_analyzer",
                "clangd",
                "php",
                "lua",
                "bash",
                "yaml",
                "json",
                "html",
                "css",
                "dockerfile"
            ]
        );
        for (path, id, language) in [
            ("a/b.ts", "typescript", "typescript"),
            ("b.TSX", "typescript", "typescriptreact"),
            ("x.mjs", "typescript", "javascript"),
            ("src/lib.rs", "rust_analyzer", "rust"),
            ("m.py", "pyright", "python"),
            ("a.h", "clangd", "cpp"),
            ("run.sh", "bash", "shellscript"),
            ("Dockerfile", "dockerfile", "dockerfile"),
            ("deep/Dockerfile.dev", "dockerfile", "dockerfile"),
            ("a.scss", "css", "scss"),
            ("go.mod", "gopls", "go.mod"),
        ] {
            let server = all.iter().find(|one| one.fits(path)).unwrap();
            assert_eq!((server.id.as_str(), server.language(path).as_str()), (id, language), "{path}");
        }
        assert!(!all.iter().any(|one| one.fits("README") || one.fits("a.unknown")));
    }

    #[test]
    fn a_person_comes_first_and_mistakes_are_named() {
        let mine = br#"{"servers": {
            "zig": {"command": "zls", "fileExtensions": [".zig"], "languages": ["zig"]},
            "pyright": {"command": "basedpyright-langserver", "args": ["--stdio"]}
        }}"#;
        let all = merge(mine).unwrap();
        assert_eq!(all.len(), 16);
        assert_eq!((all[0].id.as_str(), all[1].id.as_str()), ("pyright", "zig"));
        assert_eq!(all[0].command, "basedpyright-langserver");
        assert!(all[0].fits("x.py") && all[1].fits("x.zig"));
        assert_eq!(all[1].language("x.zig"), "zig");
        for (bad, word) in [
            (r#"{"servers": {"x": {"command": "x"}}}"#, "fileExtensions"),
            (r#"{"servers": {"x": {"fileExtensions": ["x"]}}}"#, "command"),
            (r#"{"servers": {"a b": {"command": "x", "fileExtensions": ["x"]}}}"#, "no id"),
            (r#"{"servers": {"x": {"cmd": "x"}}}"#, "cmd"),
            ("[]", "invalid"),
            ("{", "EOF"),
        ] {
            let error = merge(bad.as_bytes()).unwrap_err();
            assert!(error.contains(word), "{bad}: {error}");
        }
    }

    #[test]
    fn a_workspace_is_one_folder_and_neighbours_are_two() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["ws/crates/a", "one", "two/src"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        for name in ["ws/Cargo.toml", "ws/crates/a/Cargo.toml", "one/Cargo.toml", "two/Cargo.toml"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let rust = built_in().into_iter().find(|one| one.id == "rust_analyzer").unwrap();
        let folder = |path: &str| rust.folder(dir.path(), path).strip_prefix(dir.path()).unwrap().to_owned();
        assert_eq!(folder("ws/crates/a/lib.rs"), Path::new("ws"));
        assert_eq!(folder("one/lib.rs"), Path::new("one"));
        assert_eq!(folder("two/src/lib.rs"), Path::new("two"));
        assert_eq!(folder("loose.rs"), Path::new(""));
    }
}
