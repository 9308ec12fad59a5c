// The first script in every frame, of apps and of views of servers, before any byte of theirs: takes away what no
// frame may use, and leads links to the host, which asks the person (inbox §8.2, L2 and L4). A help for honest pages
// and for browsers that lack the real boundary, which is the header `Connection-Allowlist`.
//
// A classic script without imports: in a view it stands in the page itself. It keeps to itself by the wrapper of
// the build (vite.frame.config.ts).

import type { Aside } from './wire';

for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'WebTransport', 'PresentationRequest']) {
  Reflect.deleteProperty(globalThis, name);
}

const tell = (aside: Aside) => parent.postMessage(aside, '*');
const leave = (to: string) => tell({ chatos: 'open', v: 1, url: to });

/** The address a link leads out of the page to; null for what stays: places in the page, downloads, other schemes. */
function wayOut(link: Element): string | null {
  if (link.hasAttribute('download')) return null;
  const given = link.getAttribute('href') ?? link.getAttribute('xlink:href');
  const url = given === null ? null : URL.parse(given, document.baseURI);
  if (!url || !['http:', 'https:', 'mailto:'].includes(url.protocol)) return null;
  return url.href.split('#', 1)[0] === location.href.split('#', 1)[0] ? null : url.href;
}

function onClick(event: MouseEvent): void {
  // What the page handles itself is its own affair.
  if (event.defaultPrevented || event.button > 1) return;
  const link = event.composedPath().find((node) => node instanceof Element && /^(a|area)$/i.test(node.localName)) as Element | undefined;
  const to = link ? wayOut(link) : null;
  if (to === null) return;
  event.preventDefault();
  leave(to);
}
addEventListener('click', onClick);
addEventListener('auxclick', onClick);

window.open = (given?: string | URL) => {
  const url = given === undefined || given === '' ? null : URL.parse(String(given), document.baseURI);
  if (url) leave(url.href);
  // As for a window that the browser blocked.
  return null;
};

new MutationObserver((changes) => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) {
      if (!(node instanceof Element)) continue;
      const inner = /^(iframe|frame|object|embed)$/i.test(node.localName) ? node : node.querySelector('iframe, frame, object, embed');
      if (inner) tell({ chatos: 'problem', v: 1, message: `a page inside the page (<${inner.localName}>) reaches nothing outside of it` });
    }
  }
}).observe(document, { childList: true, subtree: true });
