// Measures what this browser does with frames (inbox §8.2), and tells the host for its doctor.

import { pageConfinement } from '../../host/confinement';
import { client } from '../../state';

export async function measure(): Promise<void> {
  const confinement = await pageConfinement();
  try {
    await client.http.request('PUT', '/api/v1/apps/confinement', { body: { confinement } });
  } catch {
    // The doctor then says that it does not know; the next page tells it.
  }
}
