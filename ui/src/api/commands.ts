// A person's own commands, as Settings edits them.

import type { OwnCommands } from '../protocol/wire';
import type { Http } from './http';

const OWN = '/api/v1/commands/own';

export class CommandsApi {
  constructor(private readonly http: Http) {}

  list(): Promise<OwnCommands> {
    return this.http.get(OWN);
  }

  write(name: string, text: string): Promise<OwnCommands> {
    return this.http.put(`${OWN}/${encodeURIComponent(name)}`, { text });
  }

  remove(name: string): Promise<OwnCommands> {
    return this.http.delete(`${OWN}/${encodeURIComponent(name)}`);
  }
}
