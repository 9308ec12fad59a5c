// Colours for code blocks: comments, strings, numbers, keywords and names of functions, found by shape and
// not by grammar. Everything it gives back is escaped; it never changes or drops a character.

type Family = 'c' | 'hash' | 'dash' | 'markup' | 'diff';

const FAMILIES: Record<Family, string> = {
  c: 'js jsx ts tsx mjs cjs javascript typescript java c h cpp cc hpp c++ cs csharp go golang rust rs swift kotlin kt php scala dart json jsonc json5 css scss less proto graphql zig',
  hash: 'python py ruby rb sh bash zsh shell console fish yaml yml toml ini conf dockerfile make makefile r perl pl elixir ex nix powershell ps1 env',
  dash: 'sql lua haskell hs ada elm',
  markup: 'html xml svg svelte vue',
  diff: 'diff patch',
};

const FAMILY = new Map(Object.entries(FAMILIES).flatMap(([family, names]) => names.split(' ').map((name) => [name, family as Family])));

const KEYWORDS = new Set(
  `abstract and as async await auto begin bool boolean break byte case catch chan char class const constexpr continue crate def default defer del delete do
   double dyn elif else elsif end enum except export extends extern false final finally float fn for foreach from func function go goto if impl implements import in
   int interface is lambda let local long loop match mod module move mut namespace new nil None not null of or override package pass private protected pub public raise
   readonly ref return self Self short signed sizeof static string struct super switch template then this throw trait true True False try type typedef typeof undefined union unless unsafe
   unsigned until use using val var virtual void volatile where while with yield
   select insert update create table into values set join on group order by having limit as distinct alter drop index view primary key foreign references
   SELECT FROM WHERE INSERT UPDATE DELETE CREATE TABLE INTO VALUES SET JOIN LEFT RIGHT INNER OUTER ON GROUP ORDER BY HAVING LIMIT AS DISTINCT ALTER DROP INDEX VIEW PRIMARY KEY AND OR NOT NULL
   fi esac done echo exit export source alias`.split(/\s+/u),
);

const STRING = String.raw`"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?`;
const REST = String.raw`|(?<number>\b0[xXbBoO][\da-fA-F_]+\b|\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(?<word>[\p{L}_$][\p{L}\p{N}_$]*)`;

const PATTERNS: Record<Exclude<Family, 'diff'>, RegExp> = {
  c: new RegExp(String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<string>${STRING}|${'`'}(?:\\.|[^${'`'}\\])*${'`'}?)${REST}`, 'gu'),
  hash: new RegExp(String.raw`(?<comment>(?<![\w$])#[^\n]*)|(?<string>"""[\s\S]*?(?:"""|$)|${STRING})${REST}`, 'gu'),
  dash: new RegExp(String.raw`(?<comment>--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<string>${STRING})${REST}`, 'gu'),
  markup: new RegExp(String.raw`(?<comment><!--[\s\S]*?(?:-->|$))|(?<string>${STRING})|(?<tag><\/?[\w:-]+|\/?>)`, 'gu'),
};

/** Longer code is left in one colour: nobody reads it for its colours, and it is drawn often while it grows. */
const MAX = 40_000;

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

export function highlight(code: string, language: string): string {
  const family = FAMILY.get(language.toLowerCase());
  if (!family || code.length > MAX) return escapeHtml(code);
  if (family === 'diff') return code.split('\n').map(diffLine).join('\n');
  let out = '';
  let from = 0;
  for (const match of code.matchAll(PATTERNS[family])) {
    const kind = kindOf(match, code);
    if (!kind) continue;
    out += escapeHtml(code.slice(from, match.index)) + `<span class="c-${kind}">${escapeHtml(match[0])}</span>`;
    from = match.index + match[0].length;
  }
  return out + escapeHtml(code.slice(from));
}

function kindOf(match: RegExpMatchArray, code: string): string | null {
  const groups = match.groups ?? {};
  if (groups['comment'] !== undefined) return 'comment';
  if (groups['string'] !== undefined) return code[(match.index ?? 0) + match[0].length] === ':' ? 'attr' : 'string';
  if (groups['number'] !== undefined) return 'number';
  if (groups['tag'] !== undefined) return 'keyword';
  const word = groups['word'] ?? '';
  if (KEYWORDS.has(word)) return 'keyword';
  return code[(match.index ?? 0) + word.length] === '(' ? 'title' : null;
}

function diffLine(line: string): string {
  const kind = line.startsWith('+') ? 'string' : line.startsWith('-') ? 'keyword' : line.startsWith('@') ? 'meta' : null;
  return kind ? `<span class="c-${kind}">${escapeHtml(line)}</span>` : escapeHtml(line);
}
