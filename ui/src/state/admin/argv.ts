// A pasted command line cut into the tokens that will be run. There is no shell: what a shell would do with
// them (variables, pipes, wildcards) does not happen, so it is named instead of guessed.

export interface SplitCommand {
  argv: string[];
  /** A quote that was opened and never closed. */
  open: boolean;
  /** Signs that only a shell would understand. */
  shell: string[];
}

const SHELL_WORDS = ['|', '||', '&&', ';', '>', '>>', '<', '&'];

/** Words by spaces, with `'…'`, `"…"` and `\` as a POSIX shell reads them. A backslash before a letter is
    kept, because that is a Windows path and not an escape. */
export function splitCommand(text: string): SplitCommand {
  const argv: string[] = [];
  const shell = new Set<string>();
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  let quoted = false;
  const end = () => {
    if (word === null) return;
    if (!quoted && SHELL_WORDS.includes(word)) shell.add(word);
    argv.push(word);
    word = null;
    quoted = false;
  };
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    const next = text[at + 1] ?? '';
    if (quote !== null) {
      if (sign === quote) quote = null;
      else if (quote === '"' && sign === '\\' && (next === '"' || next === '\\')) {
        word = (word ?? '') + next;
        at += 1;
      } else word = (word ?? '') + sign;
    } else if (sign === '"' || sign === "'") {
      quote = sign;
      quoted = true;
      word ??= '';
    } else if (sign === '\\' && next !== '' && !/[\p{L}\p{N}]/u.test(next)) {
      // A backslash at the end of a line continues it.
      if (next !== '\n') word = (word ?? '') + next;
      at += 1;
    } else if (/\s/.test(sign)) {
      end();
    } else {
      if (sign === '$' && /[\w({]/.test(next)) shell.add('$');
      word = (word ?? '') + sign;
    }
  }
  end();
  return { argv, open: quote !== null, shell: [...shell] };
}
