// Two complete texts compared, to read only; loaded with the first of them. The editor's styles go into a shadow
// root, where they are constructed sheets: the page's policy refuses the style elements they would be elsewhere.

import { Chunk, getChunks, MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension, Text } from '@codemirror/state';
import { Decoration, EditorView, lineNumbers, MatchDecorator, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import { visibleText } from './visible';

export interface MergeWords {
  /** Names of the two texts for those who listen. */
  before: string;
  after: string;
  /** In place of lines that did not change; `$` is how many. */
  unchanged: string;
  /** Behind a last line that has no line end, when the other text has one. */
  noLineEnd: string;
}

export interface MergeOrder {
  root: ShadowRoot;
  before: string;
  after: string;
  /** Side by side. */
  split: boolean;
  /** Also the lines that did not change. */
  whole: boolean;
  /** Height at which it begins to scroll. */
  maxHeight: string;
  words: MergeWords;
}

export interface Counts {
  added: number;
  removed: number;
}

/** Texts beyond these are compared roughly: more of them counts as replaced. */
const EFFORT = { scanLimit: 500, timeout: 500 };

/** The two texts as they are compared: hidden characters by their numbers, so that no side has any that are not
    seen, and a missing line end said in words. */
export function comparable(before: string, after: string, noLineEnd: string): [Text, Text] {
  const ends = (text: string) => text === '' || text.endsWith('\n');
  const differ = before !== '' && after !== '' && ends(before) !== ends(after);
  const read = (text: string) => {
    const shown = visibleText(text);
    return Text.of((ends(text) ? shown : `${shown}${differ ? noLineEnd : ''}\n`).split('\n'));
  };
  return [read(before), read(after)];
}

export function countChunks(chunks: readonly Chunk[], before: Text, after: Text): Counts {
  const lines = (text: Text, from: number, to: number, end: number) => (from >= to ? 0 : text.lineAt(end).number - text.lineAt(from).number + 1);
  let [added, removed] = [0, 0];
  for (const { fromA, toA, endA, fromB, toB, endB } of chunks) {
    removed += lines(before, fromA, toA, endA);
    added += lines(after, fromB, toB, endB);
  }
  return { added, removed };
}

/** How many lines differ, without drawing anything. */
export function countDifference(before: string, after: string): Counts {
  const [a, b] = comparable(before, after, ' ');
  return countChunks(Chunk.build(a, b, EFFORT), a, b);
}

/** Draws the comparison into the root; what it gives back takes it away again. */
export function showMerge({ root, before, after, split, whole, maxHeight, words }: MergeOrder): { counts: Counts; destroy: () => void } {
  const [a, b] = comparable(before, after, words.noLineEnd);
  const collapse = whole ? {} : { collapseUnchanged: { margin: 3, minSize: 4 } };
  const parent = root.appendChild(document.createElement('div'));
  if (split) {
    const view = new MergeView({
      root,
      parent,
      a: { doc: a, extensions: reading(words, words.before) },
      b: { doc: b, extensions: reading(words, words.after) },
      diffConfig: EFFORT,
      gutter: false,
      ...collapse,
    });
    view.dom.style.maxHeight = maxHeight;
    return { counts: countChunks(view.chunks, a, b), destroy: () => (view.destroy(), parent.remove()) };
  }
  const view = new EditorView({
    root,
    parent,
    doc: b,
    extensions: [
      reading(words, words.after),
      unifiedMergeView({ original: a, mergeControls: false, syntaxHighlightDeletions: false, diffConfig: EFFORT, gutter: false, ...collapse }),
    ],
  });
  view.dom.style.maxHeight = maxHeight;
  return { counts: countChunks(getChunks(view.state)?.chunks ?? [], a, b), destroy: () => (view.destroy(), parent.remove()) };
}

function reading(words: MergeWords, label: string): Extension {
  return [
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    // A box that scrolls is reached by the keyboard.
    EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': label, 'aria-readonly': 'true', dir: 'ltr' }),
    EditorState.tabSize.of(4),
    EditorState.phrases.of({ '$ unchanged lines': words.unchanged }),
    EditorView.lineWrapping,
    lineNumbers(),
    STAND_INS,
    LOOK,
  ];
}

/** Stand-ins of hidden characters are set apart, as they are everywhere. */
const STAND_IN = new MatchDecorator({ regexp: /⟨(?:U\+[0-9A-F]{4,6}|\\r)⟩/g, decoration: Decoration.mark({ class: 'stand-in' }) });
const STAND_INS = ViewPlugin.fromClass(
  class {
    marks;

    constructor(view: EditorView) {
      this.marks = STAND_IN.createDeco(view);
    }

    update(update: ViewUpdate): void {
      this.marks = STAND_IN.updateDeco(update, this.marks);
    }
  },
  { decorations: ({ marks }) => marks },
);

const ADDED = { backgroundColor: 'var(--ds-change-bg-success)' };
const REMOVED = { backgroundColor: 'var(--ds-change-bg-error)' };
const sign = (content: string, color: string) => ({ content: `"${content}"`, position: 'absolute', left: '0.25rem', color, userSelect: 'none' });

/** The page's own colours, so that it follows the theme. Added and removed are told apart by a sign, too. */
const LOOK = EditorView.theme({
  '&': { backgroundColor: 'var(--ds-code-bg)', color: 'var(--ds-code-text)', fontSize: 'var(--ds-size-xs)' },
  '.cm-scroller': { fontFamily: 'var(--ds-mono)', lineHeight: '1.25rem', overflow: 'auto' },
  '.cm-content': { padding: '0' },
  '.cm-content:focus-visible': { outline: '2px solid var(--ds-focus-ring)', outlineOffset: '-2px' },
  '.cm-line, .cm-deletedChunk .cm-deletedLine': { position: 'relative', padding: '0 0.5rem 0 1.25rem', overflowWrap: 'anywhere' },
  '.cm-gutters': { border: '0', backgroundColor: 'var(--ds-code-bg)', color: 'var(--ds-code-line-number)' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '2.5rem', padding: '0 0.5rem' },
  '&.cm-merge-b .cm-changedLine': ADDED,
  '&.cm-merge-b .cm-changedLine::before': sign('+', 'var(--ds-success-text)'),
  '&.cm-merge-a .cm-changedLine': REMOVED,
  '&.cm-merge-a .cm-changedLine::before': sign('−', 'var(--ds-danger-text)'),
  '.cm-deletedChunk': { ...REMOVED, paddingLeft: '0' },
  '.cm-deletedChunk .cm-deletedLine::before': sign('−', 'var(--ds-danger-text)'),
  '&.cm-merge-b .cm-changedText': { background: 'none', borderBottom: '2px solid var(--ds-success-text)' },
  '&.cm-merge-a .cm-changedText, & .cm-deletedChunk .cm-deletedText': { background: 'none', borderBottom: '2px solid var(--ds-danger-text)' },
  '.cm-collapsedLines': {
    padding: '2px 0.75rem',
    background: 'var(--ds-subtle-bg)',
    color: 'var(--ds-text-muted)',
    fontFamily: 'var(--ds-font)',
  },
  '.cm-collapsedLines::before, .cm-collapsedLines::after': { content: 'none' },
  '.cm-mergeView &.cm-merge-b': { borderLeft: '1px solid var(--ds-code-border)' },
  '.cm-mergeSpacer': { backgroundColor: 'var(--ds-subtle-bg)' },
  '.stand-in': { padding: '0 3px', borderRadius: '3px', backgroundColor: 'var(--ds-change-bg-error)', color: 'var(--ds-danger-text)' },
});
