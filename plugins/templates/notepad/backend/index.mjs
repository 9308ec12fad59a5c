//zh 后端：页面通过 host.backend.invoke 调用的方法，名字和工具相同。
//en The backend: what the page calls with host.backend.invoke; the same names as the tools.

import { NoteStore } from '../lib/store.mjs';

/** @type {import('../types/backend').CreateUiAppsBackend} */
export async function createUiAppsBackend({ dataDir }) {
  const store = new NoteStore(dataDir);
  return {
    methods: {
      'notes.list': async (query) => ({ notes: await store.list(query ?? {}) }),
      'notes.get': ({ id }) => store.get(id),
      'notes.create': (note) => store.create(note),
      'notes.update': (note) => store.update(note),
      'notes.delete': ({ id }) => store.delete(id),
      'notes.search': async ({ query }) => ({ notes: await store.search(query) }),
      'folders.list': async () => ({ folders: await store.folders() }),
      'folders.create': ({ path }) => store.createFolder(path),
      'folders.delete': ({ path }) => store.deleteFolder(path),
    },
  };
}
