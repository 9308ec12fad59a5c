// Draws diagrams for the page, in a frame with an origin of its own that reaches nothing (decision 0043). Built into
// `diagram.html` behind Mermaid itself, which is a classic script and leaves its name behind.

import { type Colours, type Drawing, MAX_SOURCE, type Told, type Wish } from './wire';

interface Mermaid {
  initialize: (options: Record<string, unknown>) => void;
  render: (id: string, source: string) => Promise<{ svg: string }>;
}
declare const mermaid: Mermaid;

/** Lines between boxes; a diagram with more keeps its layout busy for long. */
const MAX_EDGES = 400;

// A way out that no policy of today's browsers closes.
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'WebTransport']) Reflect.deleteProperty(globalThis, name);

const tell = (told: Told) => parent.postMessage(told, '*');

function options({ dark, background, surface, border, line, text, note, parts }: Colours): Record<string, unknown> {
  return {
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    maxTextSize: MAX_SOURCE,
    maxEdges: MAX_EDGES,
    // Words as SVG text: HTML inside of a picture is not drawn everywhere.
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    class: { htmlLabels: false },
    fontFamily: 'system-ui, sans-serif',
    theme: 'base',
    themeVariables: {
      darkMode: dark,
      background,
      fontFamily: 'system-ui, sans-serif',
      fontSize: '14px',
      primaryColor: surface,
      primaryTextColor: text,
      primaryBorderColor: border,
      secondaryColor: note,
      tertiaryColor: background,
      lineColor: line,
      textColor: text,
      noteBkgColor: note,
      noteTextColor: text,
      noteBorderColor: border,
      edgeLabelBackground: background,
      pieOpacity: '1',
      pieStrokeColor: background,
      pieOuterStrokeColor: border,
      pieSectionTextColor: background,
      pieTitleTextSize: '16px',
      pieSectionTextSize: '14px',
      pieLegendTextSize: '14px',
      ...Object.fromEntries(parts.map((colour, at) => [`pie${at + 1}`, colour])),
    },
  };
}

/** A picture needs a size of its own; Mermaid means to fill a column. */
function sized(svg: string): string {
  const box = document.createElement('div');
  box.innerHTML = svg;
  const root = box.querySelector('svg');
  const [, , width, height] = (root?.getAttribute('viewBox') ?? '').split(/[\s,]+/u).map(Number);
  if (!root || !width || !height) return svg;
  root.removeAttribute('style');
  root.setAttribute('width', String(Math.ceil(width)));
  root.setAttribute('height', String(Math.ceil(height)));
  return new XMLSerializer().serializeToString(root);
}

async function draw({ id, source, colours }: Wish): Promise<Drawing> {
  try {
    mermaid.initialize(options(colours));
    const { svg } = await mermaid.render(`diagram-${id}`, source);
    return { svg: sized(svg) };
  } catch (thrown) {
    return { problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

addEventListener('message', ({ source, data }: MessageEvent<Wish>) => {
  if (source !== parent) return;
  void draw(data).then((drawing) => tell({ id: data.id, ...drawing }));
});
tell({ ready: true });
