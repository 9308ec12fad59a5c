//! The servers `project_files`, `code_writer` and `code_maintainer`: one set of tools on the file
//! engine, of which each server registers its part (servers §4, §5).

mod documents;
mod listing;
mod patching;
mod raw;
mod reading;
mod searching;
mod transferring;
mod writing;

use std::sync::Arc;

use chatos_layer::{FileHome, Server, ServerInfo, Shelf};
use chatos_tool::Text;

/// `project_files`.
pub static PROJECT_FILES: ServerInfo = ServerInfo {
    name: "project_files",
    id: "8fe4e8f4-b8d1-4f59-967d-374a55f61417",
    title: Text::fixed("Read project files", "读取项目文件"),
    instructions: Text::fixed(
        "Reads and searches files inside one root directory; nothing is changed. Paths are relative to the root. \
         Results say when something was cut and how to continue. Prefer search_text and find_files to listing \
         whole trees.",
        "读取和搜索一个根目录内的文件，不做任何更改。路径相对于根目录。结果被截断时会说明如何继续。\
         优先使用 search_text 和 find_files，而不是列出整棵目录树。",
    ),
    needs_root: true,
    slots: 8,
    waits_hold_slot: false,
};

/// `code_writer`.
pub static CODE_WRITER: ServerInfo = ServerInfo {
    name: "code_writer",
    id: "f2d0dbcb-e86e-493a-86b1-05cff71a14cb",
    title: Text::fixed("Read and change files", "读取和修改文件"),
    instructions: Text::fixed(
        "Reads, searches and changes files inside one root directory. Changes are atomic, keep line ends and \
         modes, and may be shown to the person first. Prefer edit_file for small changes and apply_patch for \
         changes of several files; pass expected_sha256 from your last read to notice changes by others.",
        "读取、搜索并修改一个根目录内的文件。修改是原子的，保留换行和权限，并可能先请用户确认。\
         小改动优先使用 edit_file，多文件改动使用 apply_patch；传入上次读取的 expected_sha256 可发现他人的修改。",
    ),
    needs_root: true,
    slots: 4,
    waits_hold_slot: false,
};

/// `code_maintainer`.
pub static CODE_MAINTAINER: ServerInfo = ServerInfo {
    name: "code_maintainer",
    id: "b10599fb-bda3-439f-9143-565fc2a2700c",
    title: Text::fixed("Maintain a code base", "维护代码库"),
    instructions: Text::fixed(
        "Everything code_writer does, plus raw reads and moving and copying of files and directories inside one \
         root directory. Moves and copies are all or nothing.",
        "包含 code_writer 的全部功能，另有原始读取，以及在一个根目录内移动和复制文件与目录。移动和复制要么全部完成，要么不做。",
    ),
    needs_root: true,
    slots: 4,
    waits_hold_slot: false,
};

/// `project_files` with its tools.
pub fn project_files(home: &FileHome) -> Server {
    reading_tools(Server::new(&PROJECT_FILES), &Shelf::new(home), home)
}

/// `code_writer` with its tools.
pub fn code_writer(home: &FileHome) -> Server {
    let shelf = Shelf::new(home);
    writing_tools(reading_tools(Server::new(&CODE_WRITER), &shelf, home), &shelf)
}

/// `code_maintainer` with its tools.
pub fn code_maintainer(home: &FileHome) -> Server {
    let shelf = Shelf::new(home);
    let server = writing_tools(reading_tools(Server::new(&CODE_MAINTAINER), &shelf, home), &shelf)
        .with(raw::ReadFileRaw(shelf.clone()))
        .with(raw::ReadFileRange(shelf.clone()));
    if !shelf.writes() {
        return server;
    }
    server.with(transferring::MovePath(shelf.clone())).with(transferring::CopyPath(shelf))
}

fn reading_tools(server: Server, shelf: &Arc<Shelf>, home: &FileHome) -> Server {
    server
        .with(listing::ListDirectory(shelf.clone()))
        .with(reading::ReadFile::new(shelf.clone(), home))
        .with(searching::SearchText(shelf.clone()))
        .with(searching::FindFiles(shelf.clone()))
        .with(listing::StatPath(shelf.clone()))
}

fn writing_tools(server: Server, shelf: &Arc<Shelf>) -> Server {
    if !shelf.writes() {
        return server;
    }
    server
        .with(writing::WriteFile(shelf.clone()))
        .with(writing::EditFile(shelf.clone()))
        .with(writing::DeletePath(shelf.clone()))
        .with(patching::ApplyPatch(shelf.clone()))
}

#[cfg(test)]
mod tests;
