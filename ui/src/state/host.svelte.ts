// What the host says about itself: status and doctor findings.

import type { Client } from '../api/client';
import type { DoctorReport, HostStatus } from '../protocol';
import { Resource } from './resource.svelte';

export class Host {
  readonly status: Resource<HostStatus>;
  readonly doctor: Resource<DoctorReport>;
  fixing = $state(false);
  #deep = false;
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
    this.status = new Resource(() => client.status());
    this.doctor = new Resource(() => client.doctor(this.#deep));
  }

  check(deep: boolean): Promise<void> {
    this.#deep = deep;
    return this.doctor.load();
  }

  /** Fixes what can be fixed and keeps the new report. Rejects when the host refuses. */
  async fix(): Promise<void> {
    this.fixing = true;
    try {
      this.doctor.put(await this.#client.doctorFix());
    } finally {
      this.fixing = false;
    }
  }

  clear(): void {
    this.status.clear();
    this.doctor.clear();
  }
}
