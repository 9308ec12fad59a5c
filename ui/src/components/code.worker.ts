// Colours code apart from the page; see code-colours.svelte.ts for who asks.

import { Grammars } from './code-grammar';
import type { CodeAnswer, CodeQuestion } from './code-colours.svelte';

const grammars = new Grammars();

addEventListener('message', ({ data }: MessageEvent<CodeQuestion>) => {
  const answer = (html: string | null) => postMessage({ id: data.id, html } satisfies CodeAnswer);
  grammars.colour(data.code, data.language).then(answer, () => answer(null));
});
