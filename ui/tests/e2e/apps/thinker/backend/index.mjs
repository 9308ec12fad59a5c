export async function createUiAppsBackend() {
  return { methods: { think: (payload, { llm }) => llm.complete(payload) } };
}
