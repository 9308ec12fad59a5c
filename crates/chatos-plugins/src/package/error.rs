//! Why a package was refused or an install did not happen.

use std::io;
use std::path::Path;

use chatos_manifest::{Lang, Problem, ProblemCode, Text, quote, visible};

macro_rules! codes {
    ($( $variant:ident $code:literal $en:literal $zh:literal; )*) => {
        /// A stable code (plugins §8).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each variant is its code in camel case; the hint says what it means")]
        pub enum PackageCode {
            $( $variant, )*
            /// The first error found in a manifest.
            Problem(ProblemCode),
        }

        impl PackageCode {
            /// The code as it is written in JSON.
            pub fn as_str(self) -> &'static str {
                match self {
                    $( PackageCode::$variant => $code, )*
                    PackageCode::Problem(code) => code.as_str(),
                }
            }

            /// What a person can do.
            pub fn hint(self, lang: Lang) -> &'static str {
                match (self, lang) {
                    $(
                        (PackageCode::$variant, Lang::En) => $en,
                        (PackageCode::$variant, Lang::Zh) => $zh,
                    )*
                    (PackageCode::Problem(code), lang) => code.hint(lang),
                }
            }
        }
    };
}

codes! {
    PackageTooLarge "package_too_large"
        "A package may hold at most 200 MiB of files."
        "一个安装包最多包含 200 MiB 的文件。";
    PackageTooManyFiles "package_too_many_files"
        "A package may hold at most 20,000 files; leave out what is not needed to run."
        "一个安装包最多包含 20,000 个文件；请去掉运行不需要的文件。";
    PackageRatio "package_ratio"
        "Nothing a plugin needs compresses 100 to 1; do not install this file."
        "插件所需的内容不会有 100 比 1 的压缩率；请不要安装该文件。";
    EntryPathTooLong "entry_path_too_long"
        "Paths may have 1,024 bytes, names 255, and 64 levels."
        "路径最多 1,024 字节，名称最多 255 字节，最多 64 层。";
    EntryOutside "entry_outside"
        "The package was made to write outside its own directory; do not install it."
        "该安装包试图写到自己目录之外；请不要安装它。";
    EntryName "entry_name"
        "File names must be UTF-8 without control characters, empty parts or \".\"."
        "文件名必须是 UTF-8，且不含控制字符、空的部分或“.”。";
    EntryType "entry_type"
        "Packages may hold only regular files and directories."
        "安装包只能包含普通文件和目录。";
    EntryCollision "entry_collision"
        "Give each file a name that also differs without regard to case and accents' spelling."
        "请确保文件名在忽略大小写和 Unicode 组合形式后仍各不相同。";
    EntryEncrypted "entry_encrypted"
        "Make the package again without a password."
        "请重新制作不带密码的安装包。";
    EntryMethod "entry_method"
        "Use the ordinary deflate method, for example chatos plugin pack."
        "请使用普通的 deflate 压缩方式，例如 chatos plugin pack。";
    PackageCorrupt "package_corrupt"
        "Get the file again, or make it again with chatos plugin pack."
        "请重新获取该文件，或用 chatos plugin pack 重新制作。";
    PackageNoManifest "package_no_manifest"
        "plugin.json must be at the top of the package, or in directories directly below."
        "plugin.json 必须位于安装包顶层，或其直接下级目录中。";
    NotAPackage "not_a_package"
        "Give a directory or a file ending in .zip."
        "请指定目录或以 .zip 结尾的文件。";
    DuplicatePlugin "duplicate_plugin"
        "A package may hold each plugin id once."
        "一个安装包中每个插件 id 只能出现一次。";
    IdCaseConflict "id_case_conflict"
        "Remove the installed plugin first, or use its exact id."
        "请先删除已安装的插件，或使用与其完全相同的 id。";
    DirectoryTaken "directory_taken"
        "Move or remove that directory, then install again."
        "请移走或删除该目录，然后重新安装。";
    IgnoredFile "ignored_file"
        "Take the pattern out of .chatosignore, or the path out of plugin.json."
        "请从 .chatosignore 中去掉该规则，或从 plugin.json 中去掉该路径。";
    BuiltinNotRemovable "builtin_not_removable"
        "Built-in plugins come with the program."
        "内置插件随程序提供。";
    NotFound "not_found"
        "Check the path or the id."
        "请检查路径或 id。";
    PermissionDenied "permission_denied"
        "Give your user access and try again."
        "请为当前用户授予权限后重试。";
    ResourceExhausted "resource_exhausted"
        "Free some disk space and try again; nothing was changed."
        "请释放一些磁盘空间后重试；没有任何改动。";
    Conflict "conflict"
        "Wait until the other install or removal is done."
        "请等待另一个安装或删除操作完成。";
    Canceled "canceled"
        "Nothing was changed."
        "没有任何改动。";
    Unavailable "unavailable"
        "Look at the message; nothing was changed."
        "请查看错误信息；没有任何改动。";
}

/// A refused package or a failed change. Nothing was installed or removed, unless the message says
/// that the repair at the next start has to finish.
#[derive(Debug)]
pub struct PackageError {
    /// The code.
    pub code: PackageCode,
    /// The sentence.
    pub message: Text,
    /// The entry it is about, printable.
    pub entry: Option<String>,
    /// All problems of the manifests, when those are the reason.
    pub problems: Vec<Problem>,
    /// The system's reason.
    source: Option<io::Error>,
}

impl std::fmt::Display for PackageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message.en)
    }
}

impl std::error::Error for PackageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|error| error as _)
    }
}

impl PackageError {
    /// An error without an entry.
    pub(crate) fn new(code: PackageCode, en: impl Into<String>, zh: impl Into<String>) -> Self {
        Self { code, message: Text::new(en, zh), entry: None, problems: Vec::new(), source: None }
    }

    /// What to do about it.
    pub fn hint(&self, lang: Lang) -> &'static str {
        self.code.hint(lang)
    }

    /// An error about one entry; `en` and `zh` follow its name.
    pub(crate) fn entry(code: PackageCode, name: &[u8], en: &str, zh: &str) -> Self {
        let shown = String::from_utf8_lossy(name);
        let quoted = quote(&shown);
        let mut error = Self::new(code, format!("Entry {quoted} {en}"), format!("条目 {quoted} {zh}"));
        error.entry = Some(visible(&shown));
        error
    }

    pub(crate) fn corrupt(en: &str, zh: &str) -> Self {
        Self::new(
            PackageCode::PackageCorrupt,
            format!("The archive is damaged: {en}"),
            format!("压缩包已损坏：{zh}"),
        )
    }

    pub(crate) fn corrupt_entry(name: &[u8], en: &str, zh: &str) -> Self {
        Self::entry(PackageCode::PackageCorrupt, name, en, zh)
    }

    pub(crate) fn canceled() -> Self {
        Self::new(PackageCode::Canceled, "The install was canceled", "安装已取消")
    }

    pub(crate) fn no_manifest() -> Self {
        Self::new(
            PackageCode::PackageNoManifest,
            "The package holds no plugin.json at its top or directly below",
            "安装包的顶层或其直接下级目录中没有 plugin.json",
        )
    }

    pub(crate) fn not_a_package(path: &Path) -> Self {
        let shown = visible(&path.to_string_lossy());
        Self::new(
            PackageCode::NotAPackage,
            format!("Neither a directory nor a .zip file: {shown}"),
            format!("既不是目录也不是 .zip 文件：{shown}"),
        )
    }

    /// The package itself cannot be read.
    pub(crate) fn source(path: &Path, error: io::Error) -> Self {
        let shown = visible(&path.to_string_lossy());
        let code = match error.kind() {
            io::ErrorKind::NotFound => PackageCode::NotFound,
            io::ErrorKind::PermissionDenied => PackageCode::PermissionDenied,
            _ => PackageCode::Unavailable,
        };
        let mut failed = match code {
            PackageCode::NotFound => {
                Self::new(code, format!("There is nothing at {shown}"), format!("{shown} 不存在"))
            }
            _ => Self::new(
                code,
                format!("Cannot read the package: {shown}"),
                format!("无法读取安装包：{shown}"),
            ),
        };
        failed.source = Some(error);
        failed
    }

    /// A change on disk failed. `what` completes "cannot …".
    pub(crate) fn io(what: &str, zh: &str, error: io::Error) -> Self {
        let code = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                PackageCode::ResourceExhausted
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                PackageCode::PermissionDenied
            }
            _ => PackageCode::Unavailable,
        };
        let mut failed = Self::new(code, format!("Cannot {what}: {error}"), format!("无法{zh}：{error}"));
        failed.source = Some(error);
        failed
    }

    /// The manifests are the reason; the code is that of the first error.
    pub(crate) fn problems(problems: Vec<Problem>) -> Self {
        let first = problems.iter().find(|problem| problem.is_error()).or(problems.first());
        let (code, message) = match first {
            Some(problem) => {
                let text = |lang| problem.full_message(lang);
                (PackageCode::Problem(problem.code), Text::new(text(Lang::En), text(Lang::Zh)))
            }
            None => (PackageCode::PackageNoManifest, Text::new("The package is not valid", "安装包无效")),
        };
        Self { code, message, entry: None, problems, source: None }
    }
}
