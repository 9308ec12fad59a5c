// The host's routes as functions. One line each; no logic lives here.

import type { DoctorReport, HostStatus, JsonValue, Operation, PluginListing, Setting } from '../protocol';
import type { Http } from './http';

const V1 = '/api/v1';

export class Client {
  constructor(readonly http: Http) {}

  exchange(code: string): Promise<{ token: string }> {
    return this.http.post(`${V1}/auth/exchange`, { code }, { anonymous: true });
  }

  status(): Promise<HostStatus> {
    return this.http.get(`${V1}/status`);
  }

  ticket(): Promise<{ ticket: string; expiresInMs: number }> {
    return this.http.post(`${V1}/events/ticket`, {}, { timeoutMs: 10_000 });
  }

  doctor(deep: boolean): Promise<DoctorReport> {
    return this.http.get(`${V1}/doctor`, { query: { deep }, timeoutMs: 120_000 });
  }

  doctorFix(): Promise<DoctorReport> {
    return this.http.post(`${V1}/doctor/fix`, {}, { timeoutMs: 120_000 });
  }

  settings(): Promise<{ items: Setting[] }> {
    return this.http.get(`${V1}/settings`);
  }

  putSetting(key: string, value: JsonValue): Promise<Setting> {
    return this.http.put(`${V1}/settings/${encodeURIComponent(key)}`, { value });
  }

  resetSetting(key: string): Promise<Setting> {
    return this.http.delete(`${V1}/settings/${encodeURIComponent(key)}`);
  }

  plugins(): Promise<PluginListing> {
    return this.http.get(`${V1}/plugins`);
  }

  operation<T>(id: string): Promise<Operation<T>> {
    return this.http.get(`${V1}/operations/${encodeURIComponent(id)}`);
  }
}
