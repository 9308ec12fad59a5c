// Generates src/protocol/wire.d.ts from the description the server writes. With --check it
// changes nothing and fails when the committed file is out of date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

const input = new URL('../../docs/protocols/openapi.json', import.meta.url);
const output = new URL('../src/protocol/wire.d.ts', import.meta.url);

if (!existsSync(input)) {
  console.error(`error: no API description at ${fileURLToPath(input)}`);
  console.error('hint: `cargo xtask codegen` writes it');
  process.exit(1);
}
const header = '// Generated from docs/protocols/openapi.json by `npm run codegen`. Do not edit.\n\n';
const text = header + astToString(
  await openapiTS(input, { rootTypes: true, rootTypesNoSchemaPrefix: true, rootTypesKeepCasing: true, defaultNonNullable: false }),
);

if (process.argv.includes('--check')) {
  const current = existsSync(output) ? readFileSync(output, 'utf8') : '';
  if (current !== text) {
    console.error('error: src/protocol/wire.d.ts is out of date');
    console.error('hint: run `npm run codegen` in ui/ and commit the result');
    process.exit(1);
  }
} else {
  writeFileSync(output, text);
}
