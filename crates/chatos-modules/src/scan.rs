//! What a JavaScript module imports and exports, found without running it (devkit §2.1). A small
//! lexer, not a parser: it knows comments, strings, templates and regular expressions well enough
//! not to be fooled by words inside them.

use std::collections::BTreeSet;

/// What a module says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleFacts {
    /// Specifiers of static and dynamic imports, re-exports and `require` calls with a literal.
    pub imports: BTreeSet<String>,
    /// Names it exports.
    pub exports: BTreeSet<String>,
    /// It has a default export.
    pub has_default: bool,
    /// It re-exports everything of another module, so more names than listed may exist.
    pub re_exports_all: bool,
}

impl ModuleFacts {
    /// True when it can be mounted: `mount`, a default export, or a re-export that may have either.
    pub fn can_mount(&self) -> bool {
        self.has_default || self.re_exports_all || self.exports.contains("mount")
    }

    /// Imports that only a package manager could resolve: neither relative, nor built into Node, nor
    /// an address.
    pub fn unbundled(&self) -> impl Iterator<Item = &str> {
        self.imports.iter().map(String::as_str).filter(|specifier| is_bare(specifier))
    }
}

/// Modules that come with Node.
const NODE_MODULES: &[&str] = &[
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "repl",
    "stream",
    "string_decoder",
    "sys",
    "timers",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

fn is_bare(specifier: &str) -> bool {
    let relative = specifier.starts_with(['.', '/', '#']);
    let address = specifier.contains(':');
    let builtin = NODE_MODULES.contains(&specifier.split('/').next().unwrap_or_default());
    !specifier.is_empty() && !relative && !address && !builtin
}

/// Scans the text of a module.
pub fn scan_module(text: &str) -> ModuleFacts {
    let tokens = tokens(text);
    let mut facts = ModuleFacts::default();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        // `x.import` and `{ export: 1 }` are names, not statements.
        if at > 0 && tokens[at - 1] == Token::Mark('.') {
            continue;
        }
        let rest = &tokens[at + 1..];
        match word.as_str() {
            "import" => facts.imports.extend(import_specifier(rest)),
            "require" => {
                if let [Token::Mark('('), Token::Text(specifier), Token::Mark(')'), ..] = rest {
                    facts.imports.insert(specifier.clone());
                }
            }
            "export" => export(rest, &mut facts),
            _ => {}
        }
    }
    facts
}

/// After `import`: a string, a call with a string, or a clause that ends in `from "…"`.
fn import_specifier(rest: &[Token]) -> Option<String> {
    match rest {
        [Token::Text(specifier), ..] | [Token::Mark('('), Token::Text(specifier), ..] => {
            Some(specifier.clone())
        }
        [Token::Mark('(' | '.'), ..] => None,
        _ => clause_source(rest),
    }
}

/// The string after `from`, within the clause.
fn clause_source(rest: &[Token]) -> Option<String> {
    for (at, token) in rest.iter().enumerate() {
        match token {
            Token::Word(word) if word == "from" => {
                if let Some(Token::Text(specifier)) = rest.get(at + 1) {
                    return Some(specifier.clone());
                }
            }
            Token::Word(_) | Token::Mark('{' | '}' | ',' | '*') | Token::Text(_) => {}
            _ => return None,
        }
    }
    None
}

fn export(rest: &[Token], facts: &mut ModuleFacts) {
    match rest {
        [Token::Word(word), ..] if word == "default" => facts.has_default = true,
        [Token::Mark('*'), Token::Word(word), Token::Word(name), ..] if word == "as" => {
            facts.add_name(name);
            facts.imports.extend(clause_source(&rest[3..]));
        }
        [Token::Mark('*'), ..] => {
            facts.re_exports_all = true;
            facts.imports.extend(clause_source(&rest[1..]));
        }
        [Token::Mark('{'), ..] => export_list(rest, facts),
        [Token::Word(word), ..] if matches!(word.as_str(), "const" | "let" | "var") => {
            declared_names(&rest[1..], facts);
        }
        [Token::Word(word), ..] if matches!(word.as_str(), "function" | "class" | "async") => {
            let name = rest.iter().skip(1).find_map(|token| match token {
                Token::Word(word) if word != "function" => Some(word),
                _ => None,
            });
            if let Some(name) = name {
                facts.add_name(name);
            }
        }
        _ => {}
    }
}

/// `{ a, b as c, d as default }`, perhaps followed by `from "…"`.
fn export_list(rest: &[Token], facts: &mut ModuleFacts) {
    let mut last: Option<&str> = None;
    for (at, token) in rest.iter().enumerate().skip(1) {
        match token {
            Token::Word(word) if word == "as" => {}
            Token::Word(word) | Token::Text(word) => last = Some(word),
            Token::Mark(',') => last.take().into_iter().for_each(|name| facts.add_name(name)),
            Token::Mark('}') => {
                last.take().into_iter().for_each(|name| facts.add_name(name));
                if let (Some(Token::Word(word)), Some(Token::Text(specifier))) =
                    (rest.get(at + 1), rest.get(at + 2))
                    && word == "from"
                {
                    facts.imports.insert(specifier.clone());
                }
                return;
            }
            _ => return,
        }
    }
}

/// Names of a declaration: the first one, or all words of a destructuring pattern.
fn declared_names(rest: &[Token], facts: &mut ModuleFacts) {
    match rest.first() {
        Some(Token::Word(name)) => facts.add_name(name),
        Some(Token::Mark('{' | '[')) => {
            for token in &rest[1..] {
                match token {
                    Token::Word(name) => facts.add_name(name),
                    Token::Mark('}' | ']') => return,
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

impl ModuleFacts {
    fn add_name(&mut self, name: &str) {
        if name == "default" {
            self.has_default = true;
        } else {
            self.exports.insert(name.to_owned());
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Mark(char),
    /// A number, regular expression or template: something that is a value.
    Value,
}

fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut lexer = Lexer { chars: &chars, at: 0, found: Vec::new() };
    lexer.run();
    lexer.found
}

struct Lexer<'a> {
    chars: &'a [char],
    at: usize,
    found: Vec<Token>,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Reads to the end. Templates inside templates use an explicit stack, so nothing recurses on
    /// input.
    fn run(&mut self) {
        // For each open `${`: how many plain braces are open inside it.
        let mut templates: Vec<usize> = Vec::new();
        if self.peek(0) == Some('#') && self.peek(1) == Some('!') {
            self.skip_line();
        }
        while let Some(c) = self.peek(0) {
            match c {
                '/' if self.peek(1) == Some('/') => self.skip_line(),
                '/' if self.peek(1) == Some('*') => self.skip_comment(),
                '/' if self.value_may_start() => self.regex(),
                '"' | '\'' => self.string(c),
                '`' => {
                    self.at += 1;
                    if self.template() {
                        templates.push(0);
                    }
                }
                '{' => {
                    if let Some(open) = templates.last_mut() {
                        *open += 1;
                    }
                    self.mark('{');
                }
                '}' if templates.last() == Some(&0) => {
                    self.at += 1;
                    templates.pop();
                    if self.template() {
                        templates.push(0);
                    }
                }
                '}' => {
                    if let Some(open) = templates.last_mut() {
                        *open -= 1;
                    }
                    self.mark('}');
                }
                c if c.is_ascii_digit() => self.number(),
                c if is_word(c) => self.word(),
                c if c.is_whitespace() => self.at += 1,
                c => self.mark(c),
            }
        }
    }

    fn mark(&mut self, c: char) {
        self.at += 1;
        self.found.push(Token::Mark(c));
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn skip_comment(&mut self) {
        self.at += 2;
        while self.at < self.chars.len() {
            if self.peek(0) == Some('*') && self.peek(1) == Some('/') {
                self.at += 2;
                return;
            }
            self.at += 1;
        }
    }

    /// True where `/` begins a regular expression rather than a division.
    fn value_may_start(&self) -> bool {
        match self.found.last() {
            None => true,
            Some(Token::Mark(c)) => !matches!(c, ')' | ']' | '}'),
            Some(Token::Word(word)) => matches!(
                word.as_str(),
                "return"
                    | "typeof"
                    | "case"
                    | "in"
                    | "of"
                    | "delete"
                    | "void"
                    | "throw"
                    | "new"
                    | "else"
                    | "do"
                    | "await"
                    | "yield"
            ),
            Some(Token::Text(_) | Token::Value) => false,
        }
    }

    fn regex(&mut self) {
        self.at += 1;
        let mut in_class = false;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '\\' => self.at += 1,
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => break,
                '\n' => break,
                _ => {}
            }
        }
        while self.peek(0).is_some_and(is_word) {
            self.at += 1;
        }
        self.found.push(Token::Value);
    }

    fn string(&mut self, quote: char) {
        self.at += 1;
        let mut text = String::new();
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '\\' => {
                    text.extend(self.peek(0));
                    self.at += 1;
                }
                c if c == quote || c == '\n' => break,
                c => text.push(c),
            }
        }
        self.found.push(Token::Text(text));
    }

    /// Reads template text; true when it stops at `${`.
    fn template(&mut self) -> bool {
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '\\' => self.at += 1,
                '`' => {
                    self.found.push(Token::Value);
                    return false;
                }
                '$' if self.peek(0) == Some('{') => {
                    self.at += 1;
                    // What follows is an expression.
                    self.found.push(Token::Mark('('));
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    fn number(&mut self) {
        while self.peek(0).is_some_and(|c| is_word(c) || c == '.') {
            self.at += 1;
        }
        self.found.push(Token::Value);
    }

    fn word(&mut self) {
        let start = self.at;
        while self.peek(0).is_some_and(is_word) {
            self.at += 1;
        }
        self.found.push(Token::Word(self.chars[start..self.at].iter().collect()));
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(facts: &ModuleFacts) -> Vec<&str> {
        facts.exports.iter().map(String::as_str).collect()
    }

    #[test]
    fn exports() {
        for (text, can_mount) in [
            ("export function mount({ container }) {}", true),
            ("export async function mount() {}", true),
            ("export function* mount() {}", true),
            ("export const mount = () => {};", true),
            ("export let { mount, other } = api;", true),
            ("function m() {}\nexport { m as mount };", true),
            ("export { mount } from './x.mjs';", true),
            ("export * from './x.mjs';", true),
            ("export default function () {}", true),
            ("export default { mount() {} }", true),
            ("export { x as default };", true),
            ("export * as mount from './x.mjs'", true),
            ("export const other = 1;", false),
            ("// export function mount() {}\nconst s = 'export function mount() {}';", false),
            ("const t = `export function mount() {} ${ `${'export { mount }'}` }`;", false),
            ("const r = /export function mount/; const q = a / export_ / mount;", false),
            ("x.export = { mount };", false),
            ("", false),
        ] {
            assert_eq!(scan_module(text).can_mount(), can_mount, "{text}");
        }
        assert_eq!(names(&scan_module("export class A {}\nexport var b = 1")), ["A", "b"]);
    }

    #[test]
    fn imports() {
        let text = r#"#!/usr/bin/env node
            import './side.mjs';
            import a, { b as c } from "express";
            import * as fs from 'node:fs';
            import { x } from 'fs/promises';
            export { y } from '@scope/pkg/sub';
            const z = await import('lodash'), w = require("ws");
            import data from './d.json' with { type: 'json' };
            import.meta.url; obj.import('no'); import(variable);
            const s = "import 'nothing'"; /* import 'nothing' */ // import 'nothing'
            const t = `${ require('in-template') } import 'nothing'`;
        "#;
        let facts = scan_module(text);
        let bare: Vec<&str> = facts.unbundled().collect();
        assert_eq!(bare, ["@scope/pkg/sub", "express", "in-template", "lodash", "ws"]);
        assert!(
            facts.imports.contains("./d.json")
                && !facts.imports.contains("no")
                && !facts.imports.contains("nothing")
        );
    }

    #[test]
    fn hostile_text_ends() {
        for text in [
            "`${".repeat(50_000),
            "/*".into(),
            "'".into(),
            "/[".into(),
            "import {".repeat(10_000),
            "export".into(),
            "\\".into(),
        ] {
            scan_module(&text);
        }
    }
}
