// sdk/host.d.ts, the frame's object and the page's answers describe the same members: none is missing in any.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { CALLS, FIRES } from '../../src/host/methods';
import { TOPICS } from '../../src/host/topics';
import { buildHost } from '../../src/frame/api';
import { Link } from '../../src/frame/link';
import { CAPABILITIES, MEMBERS } from '../../src/frame/members';
import { ERROR_CODES, type Snapshot } from '../../src/frame/wire';

// The bundler reads `new URL('…', import.meta.url)` as an asset; through a name it does not.
const HERE = import.meta.url;
const sdk = (name: string) => fileURLToPath(new URL(`../../../sdk/${name}`, HERE));
const source = ts.createSourceFile('host.d.ts', readFileSync(sdk('host.d.ts'), 'utf8'), ts.ScriptTarget.Latest, true);

function interfaces(): Map<string, ts.InterfaceDeclaration> {
  const found = new Map<string, ts.InterfaceDeclaration>();
  source.forEachChild((node) => {
    if (ts.isInterfaceDeclaration(node)) found.set(node.name.text, node);
  });
  return found;
}

/** `backend.invoke`, `ui.surface`, …: what the types promise, groups opened up. */
function promised(name = 'Host', prefix = ''): string[] {
  const all = interfaces();
  const declared = all.get(name);
  if (!declared) throw new Error(`sdk/host.d.ts declares no interface ${name}`);
  return declared.members.flatMap((member) => {
    const path = `${prefix}${(member.name as ts.Identifier).text}`;
    const type = ts.isPropertySignature(member) ? member.type?.getText() : undefined;
    return type?.startsWith('Host') && all.has(type) ? promised(type, `${path}.`) : [path];
  });
}

const SNAPSHOT: Snapshot = {
  pluginId: 'com.example.a', appId: 'x', theme: 'light', surface: 'full', lang: 'en', storage: 'persistent', confinement: 'full', hostVersion: '0', capabilities: [...CAPABILITIES],
};

function offered(value: object, prefix = ''): string[] {
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'object' && member !== null ? offered(member as object, `${prefix}${name}.`) : [`${prefix}${name}`],
  );
}

const sorted = (names: Iterable<string>) => [...names].sort();
const ofKind = (kind: string) => Object.entries(MEMBERS).filter(([, member]) => member.kind === kind).map(([path]) => path);

describe('the Host API', () => {
  test('types, table and the object in the frame name the same members', () => {
    const { host } = buildHost(new Link(new MessageChannel().port1, { onSnap: () => undefined, onDispose: () => undefined, onListenerError: () => undefined }), SNAPSHOT, () => undefined);
    expect(sorted(promised())).toEqual(sorted(Object.keys(MEMBERS)));
    expect(sorted(offered(host))).toEqual(sorted(Object.keys(MEMBERS)));
  });

  test('the page answers every member that leaves the frame, and no other', () => {
    expect(sorted(CALLS.keys())).toEqual(sorted(ofKind('call')));
    expect(sorted(FIRES.keys())).toEqual(sorted(ofKind('fire')));
    expect(sorted(TOPICS.keys())).toEqual(sorted(ofKind('sub')));
  });

  test('members that answer at once are the ones typed without a promise', () => {
    const all = interfaces();
    const typed = (path: string): string => {
      const names = path.split('.');
      let declared = all.get('Host');
      for (const [index, name] of names.entries()) {
        const member = declared?.members.find((known) => (known.name as ts.Identifier).text === name);
        if (index === names.length - 1) return (member as ts.MethodSignature | undefined)?.type?.getText() ?? '';
        declared = all.get((member as ts.PropertySignature | undefined)?.type?.getText() ?? '');
      }
      return '';
    };
    for (const [path, { kind }] of Object.entries(MEMBERS)) expect([path, typed(path).startsWith('Promise<')]).toEqual([path, kind === 'call']);
  });

  test('every member is called in a real browser', () => {
    const root = fileURLToPath(new URL('../e2e/', HERE));
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(ts|mjs)$/.test(name));
    const text = names.map((name) => readFileSync(join(root, name), 'utf8')).join('\n');
    // Either by its whole path, or taken off its group: `const { get } = host.context`.
    const called = (path: string) => {
      const cut = path.lastIndexOf('.');
      const [group, name] = [path.slice(0, cut), path.slice(cut + 1)];
      return text.includes(`'${path}'`) || text.includes(`host.${path}`) || new RegExp(`\\{[^}]*\\b${name}\\b[^}]*\\} = (?:chatos\\.)?host\\.${group.replaceAll('.', '\\.')};`).test(text);
    };
    expect(Object.keys(MEMBERS).filter((path) => !called(path))).toEqual([]);
  });

  test('error codes and capabilities are the documented ones', () => {
    const text = source.getFullText();
    const codes = /type ErrorCode =([^;]+);/.exec(text)?.[1]?.match(/'(\w+)'/g)?.map((code) => code.slice(1, -1));
    expect(codes).toEqual([...ERROR_CODES]);
    for (const capability of new Set(Object.values(MEMBERS).map((member) => member.capability).filter((name) => name !== null))) {
      expect(text).toContain(`\`${capability}\``);
    }
  });

  test('the shared modules are the ones sdk/ui.d.ts describes', () => {
    const described = [...readFileSync(sdk('ui.d.ts'), 'utf8').matchAll(/declare module '\*\/common\/ui\/([a-z-]+)\.mjs'/g)].map((match) => match[1] ?? '');
    const config = readFileSync(fileURLToPath(new URL('../../vite.frame.config.ts', HERE)), 'utf8');
    const built = /SHARED = \[([^\]]+)\]/.exec(config)?.[1]?.match(/[\w-]+/g) ?? [];
    expect(sorted(described)).toEqual(sorted(built));
  });
});
