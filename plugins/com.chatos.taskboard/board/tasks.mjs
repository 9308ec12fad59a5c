// The tasks a page sees, the board's own data, and the agent that changes tasks for the person.
//
// A page has no right to call the task server. It reads tasks from the host's administration state, and what should
// change is said to an agent that has been given the task server: the person sees it, and can refuse it.

export class BoardData {
  tasks = [];
  views = [];
  pins = [];
  #session = null;

  constructor(host) {
    this.host = host;
  }

  async load() {
    const [state, board] = await Promise.all([this.host.admin.state(), this.host.backend.invoke('board.read')]);
    this.takeState(state);
    this.views = board.views;
    this.pins = board.pins;
  }

  takeState(state) {
    this.tasks = Array.isArray(state?.data?.tasks) ? state.data.tasks : [];
  }

  isPinned(taskId) {
    return this.pins.some((pin) => pin.taskId === taskId);
  }

  async togglePin(task) {
    const method = this.isPinned(task.id) ? 'pins.remove' : 'pins.add';
    this.pins = (await this.host.backend.invoke(method, { taskId: task.id })).pins;
  }

  async saveView(view) {
    const { view: saved } = await this.host.backend.invoke('views.save', view);
    await this.load();
    return saved;
  }

  async deleteView(id) {
    await this.host.backend.invoke('views.delete', { id });
    await this.load();
  }

  /** Says something to this page's agent; returns the session to look at. */
  async say(text) {
    const { chat } = this.host;
    if (this.#session === null) {
      const { agent } = await chat.agents.createForApp();
      this.#session = (await chat.sessions.create({ agentId: agent.id })).session.id;
    }
    await chat.send({ sessionId: this.#session, text });
    return this.#session;
  }
}
