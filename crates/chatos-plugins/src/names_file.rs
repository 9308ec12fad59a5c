//! `ui_apps/names.json`: reading it at start and replacing it whole when a name is given.

use std::io;
use std::path::Path;

use chatos_contribution::NameBook;
use chatos_manifest::{Problem, ProblemCode, Source, Text};

/// The book, or an empty one with a problem when the file cannot be used. A broken file is not
/// deleted: it is replaced when the next name is given.
pub(crate) fn read(path: &Path) -> (NameBook, Option<Problem>) {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return (NameBook::default(), None),
        Err(error) => return (NameBook::default(), Some(problem(path, &error.to_string()))),
    };
    match NameBook::parse(&bytes) {
        Ok(book) => (book, None),
        Err(error) => (NameBook::default(), Some(problem(path, &error.to_string()))),
    }
}

/// Saves the book; a failure is shown, and names stay as given for this run.
pub(crate) fn write(path: &Path, book: &NameBook) -> Option<Problem> {
    let parent = path.parent()?;
    let saved = std::fs::create_dir_all(parent)
        .and_then(|()| chatos_paths::replace_file(path, book.to_json().as_bytes(), 0o600));
    saved.err().map(|error| problem(path, &error.to_string()))
}

fn problem(path: &Path, error: &str) -> Problem {
    let shown = crate::load::shown(path);
    let message = Text::new(
        format!("The file of allocated names cannot be used ({error}): {shown}"),
        format!("无法使用已分配名称的文件（{error}）：{shown}"),
    );
    Problem::new(ProblemCode::NamesUnusable, "", message).source(Source::Scan).in_dir(path.to_string_lossy())
}
