//! `validate` and `pack`: they look at files and open no state.

use std::path::Path;
use std::process::ExitCode;

use chatos_child::find_node;
use chatos_contribution::DefaultLists;
use chatos_manifest::Problem;
use chatos_paths::Environment;
use chatos_plugins::{PackageError, Validation, check_modules, manifest_lang, package_fault};
use chatos_tool::{Fault, Lang};
use serde_json::{Value, json};

use super::show::hint_word;
use crate::args::Global;
use chatos_terminal::client::{block_on, state_path};
use chatos_terminal::output::{Output, Paint, pad, visible, width};

pub(super) fn validate(
    global: &Global,
    environment: &Environment,
    output: &Output,
    path: &Path,
    strict: bool,
) -> Result<ExitCode, Fault> {
    let path = environment.current_dir().join(path);
    // Only for the name of a directory in the plugin root; without a state there is none.
    let user_root = state_path(global, environment).ok().map(|state| state.join("ui_apps/plugins"));
    let defaults = DefaultLists::embedded();
    let is_package = path.is_file();
    // Kept until everything in it was looked at.
    let scratch = tempfile::tempdir().map_err(|error| scratch_fault(&error))?;
    let unpacked = if is_package {
        chatos_plugins::unpack(&path, scratch.path())
    } else {
        chatos_plugins::plugin_dir(&path).map(|dir| vec![dir])
    };
    let dirs = match unpacked {
        Ok(dirs) => dirs,
        Err(error) if is_package && error.code.as_str() != "not_found" => {
            return Ok(report(output, &path, &[Looked::Refused(error)], strict));
        }
        Err(error) => return Err(package_fault(&error, output.lang, None)),
    };
    let mut looked = Vec::new();
    block_on(async {
        let node = find_node("", environment.get("PATH")).await;
        for dir in dirs {
            let mut found = chatos_plugins::validate(&dir, user_root.as_deref(), &defaults)
                .map_err(|error| package_fault(&error, output.lang, None))?;
            if let Some(plugin) = &found.plugin {
                found.problems.extend(check_modules(node.as_ref(), plugin).await);
            }
            looked.push(Looked::Found(Box::new(found)));
        }
        Ok(())
    })?;
    Ok(report(output, &path, &looked, strict))
}

enum Looked {
    Found(Box<Validation>),
    /// The package cannot even be unpacked.
    Refused(PackageError),
}

impl Looked {
    /// Errors and warnings as JSON.
    fn problems(&self, lang: Lang) -> (Vec<Value>, Vec<Value>) {
        let package = |error: &PackageError| {
            let lang = manifest_lang(lang);
            let mut value = json!({ "path": error.entry.clone().unwrap_or_default(), "code": error.code.as_str(),
                "severity": "error", "message": error.message.get(lang), "hint": error.hint(lang), "source": "install" });
            if let Some(entry) = &error.entry {
                value["entry"] = json!(entry);
            }
            value
        };
        match self {
            Looked::Refused(error) => (vec![package(error)], Vec::new()),
            Looked::Found(found) => {
                let view = |problem: &Problem| json!(problem.plain_view(manifest_lang(lang)));
                let of =
                    |error: bool| found.problems.iter().filter(|p| p.is_error() == error).map(view).collect();
                let mut errors: Vec<Value> = of(true);
                errors.extend(found.package.as_ref().map(package));
                (errors, of(false))
            }
        }
    }
}

/// Prints what was found; a bad plugin is an answer, not a failure (devkit §1).
fn report(output: &Output, path: &Path, looked: &[Looked], strict: bool) -> ExitCode {
    let mut values = Vec::new();
    let mut all_ok = true;
    for one in looked {
        let (errors, warnings) = one.problems(output.lang);
        let ok = errors.is_empty() && (!strict || warnings.is_empty());
        all_ok &= ok;
        if output.json {
            values.push(json_report(one, path, ok, errors, warnings));
        } else {
            print_report(output, one, &errors, &warnings);
        }
    }
    if output.json {
        if let [only] = values.as_slice() {
            output.json_line(only);
        } else {
            output.json_line(
                &json!({ "ok": all_ok, "command": "plugin.validate", "dir": path, "plugins": values }),
            );
        }
    }
    ExitCode::from(u8::from(!all_ok))
}

fn json_report(looked: &Looked, path: &Path, ok: bool, errors: Vec<Value>, warnings: Vec<Value>) -> Value {
    let mut value = json!({ "ok": ok, "command": "plugin.validate", "dir": path, "plugin": null,
        "digest": null, "files": null, "bytes": null, "derived": [], "errors": errors, "warnings": warnings });
    let Looked::Found(found) = looked else { return value };
    if let Some(manifest) = found.manifest() {
        value["plugin"] = json!({ "id": manifest.id, "name": manifest.name, "version": manifest.version,
            "apps": found.declared_apps });
    }
    if let Some(content) = &found.content {
        value["digest"] = json!(content.digest);
        value["files"] = json!(content.files);
        value["bytes"] = json!(content.bytes);
        value["excluded"] = json!(content.excluded);
    }
    value["lent"] = json!(lent(found));
    value["derived"] = found
        .derived
        .iter()
        .map(|app| {
            let mut entry = json!({ "appId": app.app_id, "server": app.server,
                "prompts": { "zh": app.prompt_zh, "en": app.prompt_en },
                "exposure": { "mcpServers": app.mcp_servers, "prompts": app.prompts } });
            if let Some(argv) = &app.argv {
                entry["argv"] = json!(argv);
            }
            if let Some(url) = &app.url {
                entry["url"] = json!(url);
            }
            entry
        })
        .collect();
    value
}

/// Packages it would take from ChatOS, with their versions.
fn lent(found: &Validation) -> Vec<String> {
    found.lent.iter().map(|package| format!("{} {}", package.name, package.version)).collect()
}

fn print_report(output: &Output, looked: &Looked, errors: &[Value], warnings: &[Value]) {
    let field = |problem: &Value, key: &str| visible(problem[key].as_str().unwrap_or_default());
    let column = |key: &str| {
        errors.iter().chain(warnings).map(|problem| width(&field(problem, key))).max().unwrap_or(0)
    };
    let (place, code) = (column("path"), column("code"));
    for problem in errors.iter().chain(warnings) {
        let severity = problem["severity"].as_str().unwrap_or_default();
        let paint = if severity == "error" { Paint::Bad } else { Paint::Warn };
        output.line(&format!(
            "{} {}  {}  {}",
            output.paint(paint, &pad(severity, 7)),
            pad(&field(problem, "path"), place),
            pad(&field(problem, "code"), code),
            field(problem, "message"),
        ));
        if !output.quiet {
            output.line(&format!("        {} {}", hint_word(output), field(problem, "hint")));
            if let Some(docs) = problem["docs"].as_str() {
                let word = if output.lang == Lang::Zh { "参见：" } else { "see:" };
                output.line(&output.paint(Paint::Dim, &format!("        {word} {docs}")));
            }
        }
    }
    let count = |number: usize, one: &str, many: &str| {
        if number == 1 { format!("{number} {one}") } else { format!("{number} {many}") }
    };
    let (name, apps) = match looked {
        Looked::Found(found) => match found.manifest() {
            Some(manifest) => (format!("{} {}", manifest.id, manifest.version), found.declared_apps.len()),
            None => ("plugin.json".to_owned(), 0),
        },
        Looked::Refused(_) => ("package".to_owned(), 0),
    };
    let line = if output.lang == Lang::Zh {
        format!("{name}：{apps} 个应用，{} 个错误，{} 个警告", errors.len(), warnings.len())
    } else {
        format!(
            "{name}: {}, {}, {}",
            count(apps, "app", "apps"),
            count(errors.len(), "error", "errors"),
            count(warnings.len(), "warning", "warnings")
        )
    };
    output.line(&visible(&line));
    let Looked::Found(found) = looked else { return };
    let lent = lent(found).join(", ");
    if !lent.is_empty() {
        // Information, no warning: here it runs.
        output.say(&chatos_tool::Text::new(
            format!("uses ChatOS's copy of {lent}; bundle it if the plugin should run in other hosts too"),
            format!("使用 ChatOS 自带的 {lent}；如果插件还要在其他宿主中运行，请将其打包进来"),
        ));
    }
}

pub(super) fn pack(
    environment: &Environment,
    output: &Output,
    path: &Path,
    out: Option<&Path>,
) -> Result<ExitCode, Fault> {
    let current = environment.current_dir();
    let packed = chatos_plugins::pack(&current.join(path), out, current, &DefaultLists::embedded());
    let report = packed.map_err(|error| package_fault(&error, output.lang, None))?;
    if output.json {
        output.json_line(
            &json!({ "ok": true, "command": "plugin.pack", "file": report.file, "bytes": report.bytes,
            "files": report.files, "excluded": report.excluded, "digest": report.digest }),
        );
    } else {
        let file = output.paint(Paint::Bold, &visible(&report.file.to_string_lossy()));
        output.line(&format!("{file}  {}", super::size(report.bytes)));
        let line = if output.lang == Lang::Zh {
            format!("{} 个文件，排除 {} 个，{}", report.files, report.excluded, report.digest)
        } else {
            format!("{} files, {} left out, {}", report.files, report.excluded, report.digest)
        };
        output.say(&chatos_tool::Text::same(line));
    }
    Ok(ExitCode::SUCCESS)
}

fn scratch_fault(error: &std::io::Error) -> Fault {
    Fault::new(
        chatos_tool::ErrorCode::Unavailable,
        chatos_tool::Text::fixed("there is no place for temporary files", "没有可用的临时文件位置"),
    )
    .caused_by(error)
}
