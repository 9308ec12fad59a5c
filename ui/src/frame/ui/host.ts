// `import { host } from '…/common/ui/host.mjs'`: the Host API for code that runs while a module is imported.

import type { Host } from '../../../../sdk/host';

const { chatos } = globalThis;
if (!chatos) throw new Error('host.mjs works inside the frame of an app only');

export const host: Host = chatos.host;
