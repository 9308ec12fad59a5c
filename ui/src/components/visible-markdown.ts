// Messages of strangers before they are rendered: what would reorder or hide text is shown by its
// number. Joiners stay, because emoji and some scripts need them.

/* eslint-disable-next-line no-control-regex -- these are what is looked for */
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

export function visibleMarkdown(source: string): string {
  return source.replaceAll(HIDDEN, (character) => {
    const point = character.codePointAt(0) ?? 0;
    return `⟦U+${point.toString(16).toUpperCase().padStart(4, '0')}⟧`;
  });
}
