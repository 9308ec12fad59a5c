//! The closed list of problem codes with what to do about each, in both languages.

use serde::{Serialize, Serializer};

use super::Severity;
use crate::Lang;

macro_rules! codes {
    ($( $severity:ident $variant:ident $code:literal $en:literal $zh:literal; )*) => {
        /// A stable problem code; never translated, never renamed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "each variant is its code in camel case; the hint says what it means")]
        pub enum ProblemCode { $( $variant, )* }

        impl ProblemCode {
            /// Every code, in the order of the specification's table.
            pub const ALL: &'static [ProblemCode] = &[ $( ProblemCode::$variant, )* ];

            /// The code as it is written in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $( ProblemCode::$variant => $code, )* }
            }

            /// Error or warning; a code is always the same one.
            pub fn severity(self) -> Severity {
                match self { $( ProblemCode::$variant => Severity::$severity, )* }
            }

            /// What a plugin's author or user can do.
            pub fn hint(self, lang: Lang) -> &'static str {
                match (self, lang) { $(
                    (ProblemCode::$variant, Lang::En) => $en,
                    (ProblemCode::$variant, Lang::Zh) => $zh,
                )* }
            }
        }
    };
}

codes! {
    Error ManifestUnreadable "manifest_unreadable"
        "Make plugin.json a regular file that your user can read."
        "请让 plugin.json 成为当前用户可读的普通文件。";
    Error ManifestGone "manifest_gone"
        "Put it back, or stop `chatos dev`; the folder is looked for every two seconds."
        "请恢复该文件，或停止 `chatos dev`；系统每两秒会重新查找该文件夹。";
    Warning ManifestKept "manifest_kept"
        "Save the files without errors; the new version is loaded at once."
        "请保存没有错误的文件；新版本会立即加载。";
    Error ManifestTooLarge "manifest_too_large"
        "Move long texts into files that the manifest names."
        "请把较长的文本移到清单所引用的文件中。";
    Error ManifestSyntax "manifest_syntax"
        "plugin.json is strict JSON in UTF-8: no comments, no trailing commas, at most 64 levels."
        "plugin.json 必须是 UTF-8 编码的严格 JSON：没有注释，没有多余的逗号，最多 64 层嵌套。";
    Error ManifestDuplicateKey "manifest_duplicate_key"
        "Remove one of the two keys; readers disagree about which one counts."
        "请删除两个同名键之一；不同的解析器对哪个有效并不一致。";
    Error WrongType "wrong_type"
        "Use the type the manifest reference gives for this field; to get the default, leave the key out."
        "请使用清单规范为该字段规定的类型；若想用默认值，请省略该键。";
    Error MissingField "missing_field"
        "Add the field with a non-blank value."
        "请添加该字段并填写非空的值。";
    Error ManifestVersion "manifest_version"
        "Write \"manifestVersion\": 1 or leave it out."
        "请写 \"manifestVersion\": 1，或省略它。";
    Error IdInvalid "id_invalid"
        "Use letters, digits, \".\", \"_\" and \"-\", starting with a letter or digit, for example com.example.tools."
        "请使用字母、数字、“.”、“_”和“-”，并以字母或数字开头，例如 com.example.tools。";
    Error IdReserved "id_reserved"
        "Choose another id; this one has a special meaning on some systems."
        "请换一个 id；它在某些系统上有特殊含义。";
    Error ValueTooLong "value_too_long"
        "Shorten the value."
        "请缩短该值。";
    Error ValueInvalid "value_invalid"
        "Remove the characters that are not allowed here."
        "请去掉这里不允许的字符。";
    Error TooManyItems "too_many_items"
        "Shorten the list."
        "请缩短该列表。";
    Error DuplicatePlugin "duplicate_plugin"
        "Remove one of the two directories, or give one plugin another id."
        "请删除其中一个目录，或为其中一个插件换一个 id。";
    Error TooManyApps "too_many_apps"
        "Split the plugin into several."
        "请把该插件拆分为多个插件。";
    Error DuplicateApp "duplicate_app"
        "Give each app of the plugin its own id."
        "请为插件中的每个应用使用不同的 id。";
    Error EntryType "entry_type"
        "Write {\"type\": \"module\", \"path\": \"…\"}; iframes and URLs are not supported."
        "请写成 {\"type\": \"module\", \"path\": \"…\"}；不支持 iframe 和 URL。";
    Error PathOutside "path_outside"
        "Use a path relative to plugin.json that stays inside the plugin directory."
        "请使用相对于 plugin.json 且不越出插件目录的路径。";
    Error PathMissing "path_missing"
        "Check the spelling; paths are relative to plugin.json."
        "请检查拼写；路径相对于 plugin.json。";
    Error PathNotFile "path_not_file"
        "Name a regular file, not a directory or a device."
        "请指定普通文件，而不是目录或设备。";
    Error PathInvalid "path_invalid"
        "Use a relative path with forward slashes, such as my-app/index.mjs."
        "请使用以正斜杠分隔的相对路径，例如 my-app/index.mjs。";
    Error PathSymlink "path_symlink"
        "Replace the link by the file itself."
        "请用文件本身替换该链接。";
    Error ConfigTooLarge "config_too_large"
        "Move prompt texts into files of their own."
        "请把提示词文本移到单独的文件中。";
    Error ConfigSyntax "config_syntax"
        "The file is one JSON or YAML object without anchors, aliases, merge keys, tags or repeated keys."
        "该文件应为单个 JSON 或 YAML 对象，且没有锚点、别名、合并键、标签或重复键。";
    Error ConfigNested "config_nested"
        "Remove \"config\" from the config file; it cannot name another one."
        "请从配置文件中删除 \"config\"；配置文件不能再引用另一个配置文件。";
    Error McpNoTarget "mcp_no_target"
        "Add \"entry\" (a script in the plugin) or \"url\" (a server that runs elsewhere)."
        "请添加 \"entry\"（插件内的脚本）或 \"url\"（运行在别处的服务器）。";
    Error UrlScheme "url_scheme"
        "Use http, https, ws, wss or cmd."
        "请使用 http、https、ws、wss 或 cmd。";
    Error UrlCredentials "url_credentials"
        "Put credentials into \"auth\", not into the URL."
        "请把凭据写在 \"auth\" 中，而不是 URL 中。";
    Error UrlInvalid "url_invalid"
        "Write a complete URL such as https://host:8080/mcp, with an ASCII host name."
        "请写完整的 URL，例如 https://host:8080/mcp，主机名须为 ASCII。";
    Error CmdUnclosedQuote "cmd_unclosed_quote"
        "Close the quote in the cmd:// address."
        "请补上 cmd:// 地址中缺失的引号。";
    Error CmdTrailingBackslash "cmd_trailing_backslash"
        "A backslash makes the next character literal; write \\\\ for one backslash."
        "反斜杠会使下一个字符按字面处理；要表示一个反斜杠请写 \\\\。";
    Error CmdEmpty "cmd_empty"
        "Name a program after cmd://."
        "请在 cmd:// 之后写程序名。";
    Error CmdNul "cmd_nul"
        "Remove the NUL character."
        "请删除 NUL 字符。";
    Error AuthHeader "auth_header"
        "Use a header name the protocol does not own, and values without line breaks."
        "请使用不属于协议本身的请求头名称，且值中不能有换行。";
    Error AsyncInvalid "async_invalid"
        "See the AsyncTask table: tools, taskIdKey, resultSource, uiPromptFile, pollIntervalMs, timeoutMs."
        "请参照 AsyncTask 字段表：tools、taskIdKey、resultSource、uiPromptFile、pollIntervalMs、timeoutMs。";
    Error MetaTooLarge "meta_too_large"
        "Keep callMeta below 64 KiB of JSON and 32 levels."
        "请把 callMeta 控制在 64 KiB JSON 和 32 层以内。";
    Error PromptNoLanguage "prompt_no_language"
        "Give a text for zh, en or both."
        "请提供 zh、en 或两种语言的文本。";
    Error PromptTooLarge "prompt_too_large"
        "Shorten the text to at most 128 KiB."
        "请把文本缩短到 128 KiB 以内。";
    Error PromptNotUtf8 "prompt_not_utf8"
        "Save the file as UTF-8."
        "请将文件保存为 UTF-8 编码。";
    Error PromptEmpty "prompt_empty"
        "Write a text, or leave the language out."
        "请填写文本，或省略该语言。";
    Error ModuleMissing "module_missing"
        "Bundle it into the entry (for example with a bundler) and install again."
        "请将其打包进入口文件（例如使用打包工具），然后重新安装。";
    Error ModuleSyntax "module_syntax"
        "Fix the JavaScript error; the file is checked as an ES module and is not run."
        "请修复 JavaScript 错误；该文件按 ES 模块检查，不会被执行。";
    Error ModuleExport "module_export"
        "Export mount({ container, host, slots }), or a default export that is or has it."
        "请导出 mount({ container, host, slots })，或提供等价的默认导出。";
    Error RootUnreadable "root_unreadable"
        "Give your user read access to the plugin directory."
        "请为当前用户授予插件目录的读取权限。";
    Error NamesUnusable "names_unusable"
        "Names may be given anew; make the file readable and writable, or remove it."
        "名称可能会被重新分配；请让该文件可读可写，或将其删除。";
    Error SyncFailed "sync_failed"
        "Look at the message; run chatos doctor if the database cannot be written."
        "请查看错误信息；若数据库无法写入，请运行 chatos doctor。";
    Error TrustUnreadable "trust_unreadable"
        "Plugins are treated as not trusted until the state database can be read; run chatos doctor."
        "在状态数据库可读之前，插件一律视为未信任；请运行 chatos doctor。";
    Warning UnknownKey "unknown_key"
        "Remove the key or check its spelling; it has no effect here."
        "请删除该键或检查拼写；它在这里不起作用。";
    Warning McpBoth "mcp_both"
        "Keep either \"url\" or \"entry\"."
        "请只保留 \"url\" 或 \"entry\" 之一。";
    Warning UnusualCommand "unusual_command"
        "People are shown this command before they trust the plugin; node is what every host has."
        "用户在信任插件之前会看到该命令；只有 node 是每个宿主都具备的。";
    Warning UrlLinkLocal "url_link_local"
        "Link-local addresses are refused unless a person allows them; use a host name."
        "除非有人允许，否则链路本地地址会被拒绝；请使用主机名。";
    Warning ExposureEmptyList "exposure_empty_list"
        "Write false to say that nothing is exposed."
        "若要表示不暴露任何内容，请写 false。";
    Warning DirNameMismatch "dir_name_mismatch"
        "Rename the directory to the plugin's id, as the installer does."
        "请像安装程序那样，将目录改名为插件的 id。";
    Warning NameCollision "name_collision"
        "Both work; the second one is addressed by its identity. Choose ids that do not run together."
        "两者都可用；第二个需用其标识来指代。请选择不会混在一起的 id。";
    Warning MetaKeyRefused "meta_key_refused"
        "Rename the key; this name changes objects themselves in JavaScript."
        "请给该键改名；这个名称在 JavaScript 中会改变对象本身。";
    Warning OverridesBuiltin "overrides_builtin"
        "The built-in stays in use until a person trusts this plugin."
        "在有人信任该插件之前，仍使用内置插件。";
    Warning StaticTaskId "static_task_id"
        "Remove the constant; the host makes a new id for each call."
        "请删除该常量；宿主会为每次调用生成新的 id。";
    Warning AsyncPromptFile "async_prompt_file"
        "Leave uiPromptFile out; the host reads ui-prompts.jsonl only."
        "请省略 uiPromptFile；宿主只读取 ui-prompts.jsonl。";
    Warning SyncNameTaken "sync_name_taken"
        "Rename the other entry if the app's own one should be listed too."
        "若希望同时列出该应用自己的条目，请给另一个条目改名。";
    Warning UnbundledImport "unbundled_import"
        "Bundle it into the file: node_modules is not installed with a plugin."
        "请将其打包进文件：node_modules 不会随插件安装。";
    Warning CapabilityUnknown "capability_unknown"
        "Check the spelling; this host does not know the capability."
        "请检查拼写；此宿主不认识该能力。";
    Warning TagReserved "tag_reserved"
        "Choose another tag; those starting with uiapp are set by the host."
        "请换一个标签；以 uiapp 开头的标签由宿主设置。";
    Warning DefaultListKey "default_list_key"
        "A default list may hold only mcpServers and prompts."
        "默认清单只能包含 mcpServers 和 prompts。";
    Warning NeverUsable "never_usable"
        "Set allowMain or allowSub to true if agents should use this server."
        "若希望智能体使用该服务器，请将 allowMain 或 allowSub 设为 true。";
    Warning OlderPlace "older_place"
        "Use the directories the host gives: ctx.stateDir and ctx.dataDir, _meta.chatos.uiApp, CHATOS_STATE_DIR, CHATOS_DATA_DIR."
        "请使用宿主给出的目录：ctx.stateDir 和 ctx.dataDir、_meta.chatos.uiApp、CHATOS_STATE_DIR、CHATOS_DATA_DIR。";
    Warning WatchUnavailable "watch_unavailable"
        "Changes are found by looking every two seconds; raise fs.inotify.max_user_watches to be told at once."
        "改为每两秒检查一次变化；调高 fs.inotify.max_user_watches 可立即获知变化。";
    Warning NodeUnavailable "node_unavailable"
        "Install Node 20 or later, or set nodePath, to have modules checked."
        "请安装 Node 20 或更高版本，或设置 nodePath，以便检查模块。";
}

impl std::fmt::Display for ProblemCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ProblemCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
