// Starts a job in its backend and polls until it is done.

export async function mount({ container, host }) {
  const { invoke } = host.backend;
  const state = document.createElement('p');
  const start = document.createElement('button');
  start.textContent = 'start';
  let timer;
  start.onclick = async () => {
    const id = `job-${Date.now()}`;
    await invoke('start', { id });
    timer = setInterval(async () => {
      const job = await invoke('status', { id });
      state.textContent = `${id} ${job.state} ${job.text ?? ''}`;
      if (job.state !== 'running') clearInterval(timer);
    }, 100);
  };
  container.append(start, state);
  return () => clearInterval(timer);
}
