// Asks the person whether to open an address an app or a view named, and opens it apart from this page: the new
// window knows nothing of it (inbox §8.2, L2). One question at a time; more are refused, not stored up.

import { mount, unmount } from 'svelte';
import OpenLink from './OpenLink.svelte';

let asking = false;

export function openLink(url: URL, from: string): Promise<boolean> {
  if (asking) return Promise.resolve(false);
  asking = true;
  return new Promise((resolve) => {
    const answer = (yes: boolean) => {
      if (!asking) return;
      asking = false;
      // In the click itself: later the browser would take it for a window nobody wanted.
      if (yes) window.open(url.href, '_blank', 'noopener,noreferrer');
      void unmount(question);
      resolve(yes);
    };
    const question = mount(OpenLink, { target: document.body, props: { url: url.href, from, answer } });
  });
}
