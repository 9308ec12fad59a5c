// Build of `diagram.html`, the page of the frame that draws diagrams: one file, because nothing can be loaded from
// within it (decision 0043). Mermaid comes as the classic script it is made to be.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const mermaid = fileURLToPath(new URL('node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js', import.meta.url));
/** What would end the element it stands in. */
const inside = (code: string) => code.replaceAll(/<(?=\/script|!--)/giu, '\\x3c');

function onePage(): Plugin {
  return {
    name: 'one-page',
    generateBundle(_options, bundle) {
      for (const [name, chunk] of Object.entries(bundle)) {
        if (chunk.type !== 'chunk') continue;
        const scripts = [readFileSync(mermaid, 'utf8'), chunk.code].map((code) => `<script>${inside(code)}</script>`);
        const source = `<!doctype html><html><head><meta charset="utf-8"><title></title></head><body>${scripts.join('')}</body></html>\n`;
        this.emitFile({ type: 'asset', fileName: 'diagram.html', source });
        Reflect.deleteProperty(bundle, name);
      }
    },
  };
}

export default defineConfig({
  publicDir: false,
  plugins: [onePage()],
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: false,
    sourcemap: false,
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false }, input: 'src/diagram/draw.ts', output: { format: 'iife' } },
  },
});
