//! `chatos plugin init`: a project that runs, from a template inside the program (devkit §3). No network, no state.
//!
//! How a template becomes a project is written in `plugins/templates/README.md`. The rendered manifest is read with
//! the parser every plugin is read with before anything is written, so a bad id or name is refused in its words.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use serde_json::{Value, json};

use super::trust::typed;
use crate::args::InitArgs;
use chatos_terminal::output::{Output, Paint, pad, visible, width};

const COMMON: &str = "common";
const FALLBACK: &str = "basic";

/// One template as it is embedded.
struct Template {
    name: &'static str,
    about: Value,
}

impl Template {
    fn words(&self, key: &str, lang: Lang) -> &str {
        self.about[key][word(lang)].as_str().unwrap_or_default()
    }
}

fn word(lang: Lang) -> &'static str {
    if lang == Lang::Zh { "zh" } else { "en" }
}

fn templates() -> Vec<Template> {
    let about = chatos_assets::TEMPLATES.iter().filter_map(|(path, content)| {
        let name = path.strip_suffix("/template.json")?;
        Some(Template { name, about: serde_json::from_slice(content).ok()? })
    });
    about.collect()
}

pub(super) fn run(environment: &Environment, output: &Output, args: InitArgs) -> Result<ExitCode, Fault> {
    let templates = templates();
    if args.list_templates {
        list(output, &templates);
        return Ok(ExitCode::SUCCESS);
    }
    match make(environment, output, &templates, args) {
        // devkit §1: what was asked for is wrong, so nothing was begun.
        Err(fault) if matches!(fault.class, ErrorCode::InvalidArgument | ErrorCode::NeedsInput) => {
            output.fault(&fault);
            Ok(ExitCode::from(2))
        }
        other => other,
    }
}

fn list(output: &Output, templates: &[Template]) {
    if output.json {
        let all: Vec<Value> = templates
            .iter()
            .map(|template| json!({ "name": template.name, "title": template.about["title"][word(output.lang)] }))
            .collect();
        output.json_line(&json!({ "ok": true, "command": "plugin.init", "templates": all }));
        return;
    }
    let column = templates.iter().map(|template| width(template.name)).max().unwrap_or_default();
    for template in templates {
        let name = output.paint(Paint::Bold, &pad(template.name, column));
        output.line(&format!("{name}  {}", template.words("title", output.lang)));
    }
}

fn make(
    environment: &Environment,
    output: &Output,
    templates: &[Template],
    args: InitArgs,
) -> Result<ExitCode, Fault> {
    let wanted = args.template.as_deref().unwrap_or(FALLBACK);
    let template =
        templates.iter().find(|known| known.name == wanted).ok_or_else(|| no_template(wanted, templates))?;
    let Some(dir) = args.dir else {
        return Err(no_folder());
    };
    let dir = environment.current_dir().join(dir);
    if !args.force && !is_free(&dir)? {
        return Err(not_empty(&dir));
    }
    let id = ask(output, args.id, "Plugin id", "插件 id", suggested(&dir));
    let plain = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = ask(output, args.name, "Name", "名称", plain);
    let project = Project {
        template,
        lang: output.lang,
        offline: args.offline,
        values: Values {
            id: id.trim().to_owned(),
            name: name.trim().to_owned(),
            app: args.app_id.trim().to_owned(),
            version: args.plugin_version.trim().to_owned(),
        },
    };
    let files = project.files();
    check(&files, output.lang)?;
    let (written, kept) = write(&dir, &files)?;
    tell(output, &dir, &project, &written, &kept);
    Ok(ExitCode::SUCCESS)
}

/// What stands in for the placeholders.
struct Values {
    id: String,
    name: String,
    app: String,
    version: String,
}

struct Project<'a> {
    template: &'a Template,
    lang: Lang,
    offline: bool,
    values: Values,
}

impl Project<'_> {
    /// Every file of the project, by its path. What the template brings wins over what all have.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let without: Vec<&str> = self.template.about["without"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut files = BTreeMap::new();
        for folder in [COMMON, self.template.name] {
            for (path, content) in chatos_assets::TEMPLATES {
                let below = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
                let Some(name) =
                    below.filter(|name| !without.contains(name)).and_then(|name| self.place(name))
                else {
                    continue;
                };
                let text = std::str::from_utf8(content).map(|text| self.render(&name, text));
                files.insert(name, text.map_or_else(|_| content.to_vec(), String::into_bytes));
            }
        }
        for (path, content) in chatos_assets::TYPES {
            let name = path.rsplit('/').next().unwrap_or(path);
            if name.ends_with(".d.ts") || name.ends_with(".schema.json") {
                files.insert(format!("types/{name}"), content.to_vec());
            }
        }
        files
    }

    /// Where a file of a template goes; nowhere for what only `init` itself reads.
    fn place(&self, name: &str) -> Option<String> {
        let other = if self.lang == Lang::Zh { "README.en.md" } else { "README.zh.md" };
        match name {
            "template.json" => None,
            "gitignore" | "chatosignore" => Some(format!(".{name}")),
            "README.zh.md" | "README.en.md" => (name != other).then(|| "README.md".to_owned()),
            // Bundling needs a package from the network.
            "build.mjs" if self.offline => None,
            _ => Some(name.replacen("apps/app/", &format!("apps/{}/", self.values.app), 1)),
        }
    }

    fn render(&self, name: &str, text: &str) -> String {
        let ending = Path::new(name).extension().unwrap_or_default();
        let (is_code, is_text) = (ending == "mjs", ending == "md");
        let mut rendered = String::with_capacity(text.len());
        for line in text.lines() {
            // Bundling needs a package from the network.
            if is_text && self.offline && line.contains("npm run build") {
                continue;
            }
            let Some(line) = (if is_code { self.comment(line) } else { Some(line.to_owned()) }) else {
                continue;
            };
            rendered.push_str(&line);
            rendered.push('\n');
        }
        let quoted = |value: &str| {
            // Inside quotes of JSON and of scripts; in prose as it is.
            if is_text {
                return value.to_owned();
            }
            let text = json!(value).to_string();
            text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&text).to_owned()
        };
        let Values { id, name: title, app, version } = &self.values;
        let plain: String =
            app.to_ascii_lowercase().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let mut rendered = rendered
            .replace("__PARTS__\n", &self.parts())
            .replace("__DESCRIPTION__", &quoted(self.template.words("description", self.lang)))
            .replace("__APP_ID_PLAIN__", &plain)
            .replace("__PLUGIN_ID__", &quoted(id))
            .replace("__APP_ID__", &quoted(app))
            .replace("__VERSION__", &quoted(version))
            .replace("__PLUGIN_NAME__", &quoted(title));
        if name == "package.json" && self.offline {
            rendered = without_bundler(&rendered);
        }
        rendered
    }

    /// `//zh` and `//en` are comments in one language.
    fn comment(&self, line: &str) -> Option<String> {
        let (own, other) = if self.lang == Lang::Zh { ("//zh", "//en") } else { ("//en", "//zh") };
        let start = line.len() - line.trim_start().len();
        let (indent, rest) = line.split_at(start);
        if rest.starts_with(other) {
            return None;
        }
        Some(rest.strip_prefix(own).map_or_else(|| line.to_owned(), |words| format!("{indent}//{words}")))
    }

    /// The table of what is in the project.
    fn parts(&self) -> String {
        let head = if self.lang == Lang::Zh { "| 文件 | 内容 |" } else { "| file | what it is |" };
        let mut table = format!("{head}\n|---|---|\n");
        for row in self.template.about["parts"][word(self.lang)].as_array().into_iter().flatten() {
            let cell = |at: usize| row[at].as_str().unwrap_or_default();
            table.push_str(&format!("| `{}` | {} |\n", cell(0), cell(1)));
        }
        table
    }
}

/// A project that never asks a package registry.
fn without_bundler(text: &str) -> String {
    let Ok(mut package) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    if let Some(package) = package.as_object_mut() {
        package.shift_remove("devDependencies");
    }
    if let Some(scripts) = package["scripts"].as_object_mut() {
        scripts.shift_remove("build");
        scripts.insert("pack".to_owned(), json!("chatos plugin pack"));
    }
    serde_json::to_string_pretty(&package).map_or_else(|_| text.to_owned(), |text| text + "\n")
}

/// Reads the manifest as every plugin's is read; the first error is the answer.
fn check(files: &BTreeMap<String, Vec<u8>>, lang: Lang) -> Result<(), Fault> {
    let manifest = files.get("plugin.json").map(Vec::as_slice).unwrap_or_default();
    let parsed = chatos_manifest::parse(manifest);
    let Some(problem) = parsed.problems.iter().find(|problem| problem.is_error()) else { return Ok(()) };
    let hint = |lang| problem.hint(lang).to_owned();
    let (en, zh) = (chatos_manifest::Lang::En, chatos_manifest::Lang::Zh);
    Err(Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(problem.message.en.clone(), problem.message.zh.clone()),
    )
    .code(problem.code.as_str())
    .hint(Text::new(hint(en), hint(zh)))
    .details(json!({ "path": problem.path, "lang": word(lang) })))
}

/// True for a folder that does not exist or holds nothing.
fn is_free(dir: &Path) -> Result<bool, Fault> {
    match std::fs::read_dir(dir) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(unwritable(dir, &error)),
    }
}

/// Writes what is not there yet; the answer is what was written and what was kept.
fn write(dir: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<(Vec<String>, Vec<String>), Fault> {
    let (mut written, mut kept) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let path = dir.join(name);
        let parent = path.parent().unwrap_or(dir);
        std::fs::create_dir_all(parent).map_err(|error| unwritable(parent, &error))?;
        // An existing file is never touched, whoever put it there meanwhile.
        let made = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
        match made {
            Ok(mut file) => {
                file.write_all(content).map_err(|error| unwritable(&path, &error))?;
                written.push(name.clone());
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => kept.push(name.clone()),
            Err(error) => return Err(unwritable(&path, &error)),
        }
    }
    Ok((written, kept))
}

fn tell(output: &Output, dir: &Path, project: &Project<'_>, written: &[String], kept: &[String]) {
    let Values { id, .. } = &project.values;
    if output.json {
        output.json_line(
            &json!({ "ok": true, "command": "plugin.init", "dir": dir, "template": project.template.name,
            "id": id, "files": written.len(), "kept": kept, "schema": dir.join("types/plugin.schema.json") }),
        );
        return;
    }
    let shown = visible(&dir.to_string_lossy());
    let (count, kept) = (written.len(), kept.len());
    let kept_en = if kept > 0 { format!(", {kept} kept as they were") } else { String::new() };
    let kept_zh = if kept > 0 { format!("，保留了已有的 {kept} 个") } else { String::new() };
    output.say(&Text::new(
        format!("{id}: {count} files in {shown}{kept_en}. plugin.json names its schema, so your editor helps while you type."),
        format!("{id}：已在 {shown} 写入 {count} 个文件{kept_zh}。plugin.json 指明了它的 Schema，编辑器会在输入时给出提示。"),
    ));
    output.say(&Text::new(
        format!("Next:\n  cd {shown}\n  chatos dev          # run it, with panels to test it; saved files are loaded at once\n  npm test\n  chatos plugin validate --strict\n  chatos plugin install . && chatos plugin trust {id}"),
        format!("接下来：\n  cd {shown}\n  chatos dev          # 运行并用面板测试；保存的文件会立即加载\n  npm test\n  chatos plugin validate --strict\n  chatos plugin install . && chatos plugin trust {id}"),
    ));
}

/// A value that was given, or what a person types; without a terminal what the folder's name suggests.
fn ask(output: &Output, given: Option<String>, en: &str, zh: &str, suggested: String) -> String {
    if let Some(given) = given {
        return given;
    }
    if output.json || !std::io::stdin().is_terminal() {
        return suggested;
    }
    let label = if output.lang == Lang::Zh { zh } else { en };
    let answer = typed(&format!("{label} [{suggested}]: "));
    if answer.is_empty() { suggested } else { answer }
}

/// `com.example.my-app` for a folder of that name.
fn suggested(dir: &Path) -> String {
    let name = dir.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).collect();
    let plain = plain.trim_matches('-');
    format!("com.example.{}", if plain.is_empty() { "app" } else { plain })
}

fn no_folder() -> Fault {
    Fault::new(ErrorCode::NeedsInput, Text::fixed("Which folder? None was named", "未指定项目文件夹"))
        .code("missing_option")
        .hint(Text::fixed("for example: chatos plugin init my-app", "例如：chatos plugin init my-app"))
}

fn no_template(wanted: &str, templates: &[Template]) -> Fault {
    let names: Vec<&str> = templates.iter().map(|template| template.name).collect();
    let (shown, names) = (visible(wanted), names.join(", "));
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no template `{shown}`"), format!("没有模板 `{shown}`")),
    )
    .hint(Text::new(format!("one of: {names}"), format!("可选：{names}")))
}

fn not_empty(dir: &Path) -> Fault {
    let shown = visible(&dir.to_string_lossy());
    Fault::new(
        ErrorCode::Conflict,
        Text::new(format!("the folder is not empty: {shown}"), format!("目录不为空：{shown}")),
    )
    .code("dir_not_empty")
    .hint(Text::fixed(
        "use --force to add missing files; existing ones are never changed",
        "使用 --force 可补上缺少的文件；已有的文件不会被改动",
    ))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Fault {
    let shown = visible(&PathBuf::from(path).to_string_lossy());
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(format!("cannot write: {shown}"), format!("无法写入：{shown}")),
    )
    .hint(Text::fixed(
        "choose another folder, or check who may write there",
        "请换一个目录，或检查其写入权限",
    ))
    .caused_by(error)
}
