// What a model is called on the page: the built-in one in the language of the page, every other as it was named.

import { i18n } from '../i18n/index.svelte';

const DEMO = 'Demo';

export const modelName = (model: { provider?: string; name: string }): string =>
  model.provider === 'demo' && model.name === DEMO ? i18n.t.chat.demoModel : model.name;
