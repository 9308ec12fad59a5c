// Build of what runs inside app frames: the bootstrap, its styles, and the modules shared with apps. Names are
// stable, because they are part of the Host API; the revision in a frame's path makes them fresh (host-api §2.2).
import { defineConfig } from 'vite';

const SHARED = ['dom', 'dialog', 'ds-tree-styles', 'ds-tree-view', 'host', 'markdown', 'toast', 'tree'];

export default defineConfig({
  publicDir: false,
  build: {
    target: 'es2022',
    outDir: 'dist/frame',
    emptyOutDir: true,
    sourcemap: false,
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      input: {
        bootstrap: 'src/frame/bootstrap.ts',
        confine: 'src/frame/confine.ts',
        frame: 'src/frame/frame.css',
        ...Object.fromEntries(SHARED.map((name) => [`ui/${name}`, `src/frame/ui/${name}.ts`])),
      },
      preserveEntrySignatures: 'strict',
      output: {
        format: 'es',
        // A classic script, also within pages of others: nothing of it may be a name of theirs.
        banner: ({ name }) => (name === 'confine' ? '(() => {' : ''),
        footer: ({ name }) => (name === 'confine' ? '})();' : ''),
        entryFileNames: '[name].js',
        chunkFileNames: 'ui/shared-[name].js',
        assetFileNames: '[name][extname]',
      },
    },
  },
});
