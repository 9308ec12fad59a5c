// Messages of ours against the official schema of the Agent Client Protocol, version 1: what it says of each method's
// requests, responses and notifications.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import Ajv from 'ajv/dist/2020.js';

const SCHEMA = JSON.parse(readFileSync(fileURLToPath(import.meta.resolve('@agentclientprotocol/sdk/schema/v1/schema.json')), 'utf8'));
const ajv = new Ajv({ strict: false, validateFormats: false });
ajv.addSchema(SCHEMA, 'acp');

/** The schema's names by what they are and their method. */
const NAMES = new Map();
for (const [name, { 'x-method': method }] of Object.entries(SCHEMA.$defs)) {
  const kind = /(Request|Response|Notification)$/.exec(name)?.[1];
  if (method && kind) NAMES.set(`${kind} ${method}`, name);
}

/** What is wrong with it; nothing where it is as it should be. Methods beyond the protocol begin with a low line. */
function fault(kind, method, value) {
  if (method.startsWith('_')) return undefined;
  const name = NAMES.get(`${kind} ${method}`);
  if (name === undefined) return `no ${kind} of ${method} in the protocol`;
  const check = ajv.getSchema(`acp#/$defs/${name}`);
  return check(value) ? undefined : `${kind} ${method}: ${ajv.errorsText(check.errors)}: ${JSON.stringify(value).slice(0, 400)}`;
}

/** Looks at everything one side writes; `asked` is told what the other side asks it. */
export class Frames {
  faults = [];
  seen = 0;
  #asked = new Map();

  asked(id, method) {
    this.#asked.set(id, method);
  }

  look(message) {
    this.seen += 1;
    const note = (text) => text && this.faults.push(text);
    if (message.jsonrpc !== '2.0') note(`no JSON-RPC: ${JSON.stringify(message).slice(0, 200)}`);
    if (message.method !== undefined) note(fault(message.id === undefined ? 'Notification' : 'Request', message.method, message.params));
    else if ('result' in message && this.#asked.has(message.id)) note(fault('Response', this.#asked.get(message.id), message.result));
    else if (message.error && (!Number.isInteger(message.error.code) || typeof message.error.message !== 'string')) note(`no error: ${JSON.stringify(message)}`);
  }
}
