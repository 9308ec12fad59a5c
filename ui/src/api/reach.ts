// The routes of channels as functions (inbox §5.1).

import type { ChannelList, ChannelPatch, ChannelView, NewChannel } from '../protocol/wire';
import type { Http } from './http';

const BASE = '/api/v1/channels';
const at = (id: string, rest = '') => `${BASE}/${encodeURIComponent(id)}${rest}`;

export class ReachApi {
  constructor(private readonly http: Http) {}

  list(): Promise<ChannelList> {
    return this.http.get(BASE);
  }

  add(channel: NewChannel): Promise<ChannelView> {
    return this.http.post(BASE, channel);
  }

  change(id: string, patch: ChannelPatch): Promise<ChannelView> {
    return this.http.patch(at(id), patch);
  }

  /** Makes a code with which a chat is connected. */
  connect(id: string): Promise<ChannelView> {
    return this.http.post(at(id, '/connect'), {});
  }

  test(id: string): Promise<ChannelView> {
    return this.http.post(at(id, '/test'), {});
  }

  remove(id: string): Promise<void> {
    return this.http.delete(at(id));
  }
}
