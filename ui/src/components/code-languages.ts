// Which languages have colours, by the names people and models write after ``` for them. The grammars themselves
// are loaded by code-grammar.ts, in the worker; this table is all the page carries.

/** Grammar by its names. The first name is the one it is loaded by. C++ is read as C, and Ruby is left out: their
    grammars bring a dozen others and would be as large as all of these together (decision 0025). */
const NAMES = `
  shellscript sh bash zsh shell console fish env
  c h cpp c++ cc cxx hpp
  csharp cs
  css
  diff patch
  docker dockerfile
  go golang
  html svelte vue
  ini conf properties
  java
  javascript js jsx mjs cjs
  json jsonc json5
  kotlin kt kts
  lua
  make makefile
  markdown md
  php
  powershell ps1 pwsh
  python py
  rust rs
  sql
  swift
  toml
  tsx
  typescript ts mts cts
  xml svg
  yaml yml`;

const BY_NAME = new Map(
  NAMES.trim()
    .split('\n')
    .map((line) => line.trim().split(' '))
    .flatMap((names) => names.map((name) => [name, names[0] ?? name] as const)),
);

export const LANGUAGES: readonly string[] = [...new Set(BY_NAME.values())];

/** The grammar for a name, or null when there is none. */
export function languageOf(name: string): string | null {
  return BY_NAME.get(name.toLowerCase()) ?? null;
}

/** Longer code is left in one colour: nobody reads it for its colours. */
export const MAX_CODE = 40_000;

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
