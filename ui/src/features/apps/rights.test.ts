// Ticks of a trust sheet.

import { expect, test } from 'vitest';
import type { PluginRight } from '../../protocol';
import { tickedOf, ticksOf } from './rights';

function right(capability: string, more: Partial<PluginRight> = {}): PluginRight {
  const amber = !['backend', 'chat.own'].includes(capability);
  return { capability, level: amber ? 'amber' : 'grey', requested: true, declared: true, wanted: false, default: amber ? 'ask' : 'on', state: amber ? 'off' : 'on', ...more };
}

test('what is declared and reaches beyond the plugin has a tick that is off until somebody set it', () => {
  const rights = [
    right('backend'),
    right('chat.read'),
    right('chat.write', { state: 'on' }),
    right('admin.read', { declared: false }),
    right('network', { wantedHosts: ['a.example', 'b.example'], hosts: ['b.example'], state: 'on' }),
  ];
  expect(ticksOf(rights).map(({ name }) => name)).toEqual(['chat.read', 'chat.write', 'network:a.example', 'network:b.example']);
  expect(tickedOf(rights)).toEqual(['chat.write', 'network:b.example']);
  expect(ticksOf([right('network')])).toEqual([]);
});
